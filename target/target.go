// Package target brings up what is judged, or finds it, and says where it is
// and what a run may use there. However a target comes about, the rest of the
// harness sees the same: an address, a profile, and a way to stop.
//
// It is the only home of testcontainers. It judges nothing. Of this module it imports the fixtures and the reference
// server; it must not import the client, the suites or anything that judges.
package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"outreach.example/conformance/fixtures"
)

// Kinds of target, as results name them.
const (
	KindEmbedded = "embedded" // the reference server, in this process
	KindURL      = "url"      // a server that somebody else runs

	KindImage      = "image"      // a container of an image that was there or could be pulled
	KindDockerfile = "dockerfile" // a container of an image that was built for the run
)

// userAgent is the User-Agent header of the few requests that the package sends itself.
const userAgent = "outreach-conformance"

// Target is a server under judgement.
type Target struct {
	// BaseURL is what the specification writes {base_url}: the address in front
	// of /api/v2, without a slash at its end.
	BaseURL string
	// TruthURL is where the server tells what it really did; empty for a
	// server that does not.
	TruthURL string
	Kind     string // KindEmbedded, KindURL, KindImage or KindDockerfile
	// Profile says what a run may use. It is the target's own copy, with BaseURL filled in.
	Profile *fixtures.Profile
	// TLS is what it takes to speak TLS with the server; nil for what this machine trusts.
	TLS *tls.Config

	stop    func(context.Context) error // nil where there is nothing to stop
	once    sync.Once
	stopErr error
}

// Close stops what was started for the target, in the time that the context
// gives. Every call but the first returns the first one's error.
func (t *Target) Close(ctx context.Context) error {
	t.once.Do(func() {
		if t.stop != nil {
			t.stopErr = t.stop(ctx)
		}
	})
	return t.stopErr
}

// URL returns the target at the given address or, if that is empty, at the
// profile's. It reads the files of the profile's tls, and does not contact the
// target: Reachable does.
func URL(profile *fixtures.Profile, base string) (*Target, error) {
	if profile == nil {
		return nil, errors.New("target: no profile: it says which keys and rows a run may use; `target init` writes one")
	}
	if base == "" {
		base = profile.BaseURL
	}
	base, err := checkBase(base)
	if err != nil {
		return nil, err
	}
	config, err := profile.TLS.Config()
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return &Target{BaseURL: base, Kind: KindURL, Profile: at(profile, base), TLS: config}, nil
}

// at returns a copy of the profile for the address.
func at(profile *fixtures.Profile, base string) *fixtures.Profile {
	p := *profile
	p.BaseURL = base
	return &p
}

// checkBase makes sure that paths can be put behind the address.
func checkBase(base string) (string, error) {
	if base == "" {
		return "", errors.New("target: no address: set base_url in the profile, or give the address on the command line")
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		// The parser's text quotes the address, which may hold a password.
		return "", errors.New("target: the address cannot be read; write it like https://host/prefix")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "", fmt.Errorf("target: the address %s has no http:// or https:// and host; write it like https://host/prefix", shown(u))
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "", fmt.Errorf("target: the address %s must not carry a user, query or fragment: keys go under `keys` in the profile", shown(u))
	}
	return strings.TrimRight(base, "/"), nil
}

// shown is the address without what may be secret in it. Where it has no host,
// a user and password in front of an @ have not been recognised as such.
func shown(u *url.URL) string {
	text := (&url.URL{Scheme: u.Scheme, Opaque: u.Opaque, Host: u.Host, Path: u.Path}).String()
	if at := strings.LastIndexByte(text, '@'); at >= 0 && u.Host == "" {
		return "…" + text[at:]
	}
	return text
}
