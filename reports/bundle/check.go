package bundle

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// State says how a check ended.
type State string

// The states of a check.
const (
	OK         State = "ok"
	Refuted    State = "refuted"
	CannotTell State = "cannot tell"
	Note       State = "note" // not a check: what the reader should know
)

// Line is one thing that was checked.
type Line struct {
	What  string
	State State
	Why   string
	More  []string // what the line counts
}

// Lines are what was checked.
type Lines []Line

// State returns the worst state of the lines, without notes.
func (l Lines) State() State {
	for _, state := range []State{Refuted, CannotTell} {
		if slices.ContainsFunc(l, func(line Line) bool { return line.State == state }) {
			return state
		}
	}
	return OK
}

// Add adds a line.
func (l *Lines) Add(what string, state State, format string, args ...any) *Line {
	*l = append(*l, Line{What: what, State: state, Why: fmt.Sprintf(format, args...)})
	return &(*l)[len(*l)-1]
}

// Report adds a line: what holds, or the error.
func (l *Lines) Report(what string, err error, format string, args ...any) {
	if err != nil {
		l.Add(what, Refuted, "%v", err)
		return
	}
	l.Add(what, OK, format, args...)
}

// Options are what the recipient knows apart from the bundle.
type Options struct {
	PublicKey ed25519.PublicKey // of the vendor; nil without
	Nonce     string            // that the recipient chose; empty without
	Level     string            // that the bundle must certify; empty without
	Now       time.Time
}

// Check compares the manifest with the files, the signature and what the recipient knows. It trusts no
// key that comes with the bundle.
func (b *Bundle) Check(o Options) Lines {
	var l Lines
	l.Report("form", b.checkForm(b.checkFiles(&l)), "the archive is as it was written")
	b.checkSignature(&l, o.PublicKey)
	b.checkNonce(&l, o.Nonce)
	m := b.Manifest
	l.Report("dates", m.checkDates(o.Now), "no run started after the bundle was created, at %s", m.Created.Format(time.DateTime))
	if o.Now.Before(m.Expires) {
		l.Add("expiry", OK, "valid until %s", m.Expires.Format(time.DateOnly))
	} else {
		l.Add("expiry", Refuted, "expired on %s", m.Expires.Format(time.DateOnly))
	}
	l.Report("seeds", m.checkSeeds(), "each of the %d runs has a seed of its own", len(m.Runs))
	return l
}

// checkFiles adds a line for each difference between the members and the manifest. It returns the
// members that can be read.
func (b *Bundle) checkFiles(l *Lines) members {
	known := b.Manifest.names()
	names := slices.Concat(known, slices.Collect(maps.Keys(b.Manifest.Files)), slices.Collect(maps.Keys(b.members)))
	slices.Sort(names)
	all, before := members{}, len(*l)
	for _, name := range slices.Compact(names) {
		var damage error
		if f := b.members[name]; f != nil {
			damage = all.add(name, f.Open)
		}
		listed, inManifest := b.Manifest.Files[name]
		switch {
		case damage != nil:
			l.Add("files", Refuted, "damaged file: %v", damage)
		case name == ManifestFile || name == EnvelopeFile:
		case b.members[name] == nil:
			l.Add("files", Refuted, "missing file: %q", name)
		case !inManifest || !slices.Contains(known, name):
			l.Add("files", Refuted, "extra file: %q", name)
		case all[name].File != listed:
			l.Add("files", Refuted, "wrong digest: %q is not the file of the manifest", name)
		}
	}
	if len(*l) == before {
		l.Add("files", OK, "%d files have the digests of the manifest", len(b.Manifest.Files))
	}
	return all
}

// checkForm returns an error unless the archive is, byte for byte, what Write makes of its members. So
// nothing hides between them, and no other program sees other files in it.
func (b *Bundle) checkForm(all members) error {
	if err := checkForm(b.manifest); err != nil {
		return err
	}
	found, want := sha256.New(), sha256.New()
	_, err := io.Copy(found, b.archive)
	if err = errors.Join(err, all.pack(want)); err != nil || !bytes.Equal(found.Sum(nil), want.Sum(nil)) {
		return errors.New("the archive is not as it was written (use the original file, not one that was packed again)")
	}
	return nil
}

func (b *Bundle) checkSignature(l *Lines, key ed25519.PublicKey) {
	envelope, payload, err := b.envelope()
	signed := b.members[EnvelopeFile] != nil
	if signed {
		if err == nil {
			err = b.Manifest.agrees(payload)
		}
		l.Report("statement", err, "what was signed agrees with the manifest")
	}
	switch {
	case key == nil:
		l.Add("signature", Note, "not checked: nobody proved who wrote the bundle (give the vendor's public key, from another source)")
	case !signed:
		l.Add("signature", Refuted, "missing")
	case signedBy(envelope, payload, key):
		l.Add("signature", OK, "by the key %s", KeyID(key))
	default:
		l.Add("signature", Refuted, "not by the key %s", KeyID(key))
	}
}

func (b *Bundle) envelope() (e dsse.Envelope, payload []byte, err error) {
	body, err := b.Content(EnvelopeFile)
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err == nil {
		payload, err = e.DecodeB64Payload()
	}
	if err != nil || e.PayloadType != payloadType || len(e.Signatures) > maxSignatures {
		return dsse.Envelope{}, nil, errors.New(EnvelopeFile + " is not a DSSE envelope of an in-toto statement")
	}
	return e, payload, nil
}

func (b *Bundle) checkNonce(l *Lines, chosen string) {
	switch nonce := b.Manifest.Nonce; {
	case chosen == "" && nonce == "":
		l.Add("nonce", Note, "none: the vendor chose the seeds")
	case chosen == "":
		l.Add("nonce", Note, "%.100q: not compared (give the nonce that you chose)", nonce)
	case chosen != nonce:
		l.Add("nonce", Refuted, "%.100q, and the recipient chose %.100q", nonce, chosen)
	default:
		l.Add("nonce", OK, "%.100q, as the recipient chose it", nonce)
	}
}

func (m Manifest) checkDates(now time.Time) error {
	if m.Created.After(now.AddDate(0, 0, 1)) { // clocks may differ by some hours
		return fmt.Errorf("created at %s, in the future", m.Created.Format(time.DateTime))
	}
	for i, r := range m.Runs {
		if r.Started.After(m.Created) {
			return fmt.Errorf("run %d started at %s, after the bundle was created", i+1, r.Started.Format(time.DateTime))
		}
	}
	if !m.Created.Before(m.Expires) {
		return fmt.Errorf("created at %s, after it expires", m.Created.Format(time.DateTime))
	}
	return nil
}

func (m Manifest) checkSeeds() error {
	seen := map[int64]int{}
	for i, r := range m.Runs {
		if other := seen[r.Seed]; other != 0 {
			return fmt.Errorf("runs %d and %d have the same", other, i+1)
		}
		seen[r.Seed] = i + 1
	}
	return nil
}
