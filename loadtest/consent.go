package loadtest

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// ErrConsent: the target is not on this machine, and nobody has said that it may
// be loaded.
var ErrConsent = errors.New("load needs consent")

// Consented reports whether the target at the address may be loaded: it is on
// this machine, or a consent repeats its host's name. A name other than
// localhost may lead anywhere, so it needs consent whatever it resolves to.
func Consented(base string, consents ...string) error {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return fmt.Errorf("loadtest: the address of the target has no host; write it like https://host/prefix")
	}
	host := u.Hostname()
	switch {
	case loopback(host):
		return nil
	case len(consents) == 0:
		return fmt.Errorf("%w: %s is not this machine, and load may hurt whoever uses it: repeat its name if you may load it: --consent %s", ErrConsent, host, host)
	case !slices.Contains(consents, host):
		return fmt.Errorf("%w: --consent names %q, the target is %q", ErrConsent, strings.Join(consents, ", "), host)
	}
	return nil
}

func loopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") { // a dot at the end of a name says that it is whole
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
