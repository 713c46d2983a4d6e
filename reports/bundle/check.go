package bundle

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
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
}

// Options are what the recipient knows apart from the bundle.
type Options struct {
	PublicKey ed25519.PublicKey // of the vendor; nil without
	Nonce     string            // that the recipient chose; empty without
	Now       time.Time
}

// lines collects lines.
type lines []Line

func (l *lines) add(what string, state State, format string, args ...any) {
	*l = append(*l, Line{what, state, fmt.Sprintf(format, args...)})
}

// report adds a line: what holds, or the error.
func (l *lines) report(what string, err error, format string, args ...any) {
	if err != nil {
		l.add(what, Refuted, "%v", err)
		return
	}
	l.add(what, OK, format, args...)
}

// Check compares the manifest with the files, the signature and what the recipient knows. It trusts no
// key that comes with the bundle.
func (b *Bundle) Check(o Options) []Line {
	var l lines
	members := b.checkFiles(&l)
	l.report("form", b.checkForm(members), "the archive is as it was written")
	b.checkSignature(&l, o.PublicKey)
	b.checkNonce(&l, o.Nonce)
	m := b.Manifest
	l.report("dates", m.checkDates(o.Now), "each run started before the bundle was created, at %s", m.Created.Format(time.DateTime))
	if o.Now.Before(m.Expires) {
		l.add("expiry", OK, "valid until %s", m.Expires.Format(time.DateOnly))
	} else {
		l.add("expiry", Refuted, "expired on %s", m.Expires.Format(time.DateOnly))
	}
	if len(m.Runs) > 1 {
		l.report("seeds", m.checkRuns(), "%d runs, each with a seed of its own", len(m.Runs))
	}
	return l
}

// checkFiles adds a line for each difference between the members and the manifest. It returns the
// members that can be read.
func (b *Bundle) checkFiles(l *lines) map[string]member {
	known := append(b.Manifest.required(), optional...)
	names := slices.Concat(b.Manifest.required(), slices.Collect(maps.Keys(b.Manifest.Files)), slices.Collect(maps.Keys(b.members)))
	slices.Sort(names)
	members, before := map[string]member{}, len(*l)
	for _, name := range slices.Compact(names) {
		var found member
		var err error
		if b.members[name] != nil {
			if found, err = measure(b.members[name].Open, limitOf(name)); err == nil {
				members[name] = found
			}
		}
		listed, inManifest := b.Manifest.Files[name]
		switch {
		case err != nil:
			l.add("files", Refuted, "damaged file: %q (%v)", name, err)
		case name == ManifestFile || name == EnvelopeFile:
		case b.members[name] == nil:
			l.add("files", Refuted, "missing file: %q", name)
		case !inManifest:
			l.add("files", Refuted, "extra file: %q is not in the manifest", name)
		case !slices.Contains(known, name):
			l.add("files", Refuted, "extra file: %q is no part of a bundle", name)
		case found.File != listed:
			l.add("files", Refuted, "wrong digest: %q is not the file of the manifest", name)
		}
	}
	if len(*l) == before {
		l.add("files", OK, "%d files have the digests of the manifest", len(b.Manifest.Files))
	}
	return members
}

// checkForm returns an error unless the archive is, byte for byte, what Write makes of its members. So
// nothing hides between them, and no other program sees other files in it.
func (b *Bundle) checkForm(members map[string]member) error {
	if err := checkForm(b.manifest); err != nil {
		return fmt.Errorf("%s: %w", ManifestFile, err)
	}
	if _, err := b.archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	same := &comparer{with: bufio.NewReader(b.archive)}
	if pack(same, members) != nil || same.n != b.archive.Size() {
		return errors.New("the archive is not as it was written (use the original file, not one that was packed again)")
	}
	return nil
}

// comparer fails if it is not written what a reader gives.
type comparer struct {
	with io.Reader
	n    int64
}

func (c *comparer) Write(p []byte) (int, error) {
	other := make([]byte, len(p))
	if _, err := io.ReadFull(c.with, other); err != nil || !bytes.Equal(p, other) {
		return 0, errors.New("differs")
	}
	c.n += int64(len(p))
	return len(p), nil
}

func (b *Bundle) checkSignature(l *lines, key ed25519.PublicKey) {
	if b.members[EnvelopeFile] == nil {
		if key != nil {
			l.add("signature", Refuted, "missing: the bundle has no %s", EnvelopeFile)
		} else {
			l.add("signature", Note, "none: nobody proved who wrote the bundle")
		}
		return
	}
	envelope, payload, err := b.envelope()
	if err == nil {
		err = b.Manifest.agrees(payload)
	}
	l.report("statement", err, "what was signed agrees with the manifest")
	switch {
	case key == nil:
		l.add("signature", Note, "not checked: nobody proved who wrote the bundle (give the vendor's public key, from another source)")
	case signedBy(envelope, payload, key):
		l.add("signature", OK, "by the key %s", KeyID(key))
	default:
		l.add("signature", Refuted, "not by the key %s", KeyID(key))
	}
}

// envelope returns the envelope and its payload.
func (b *Bundle) envelope() (e dsse.Envelope, payload []byte, err error) {
	body, err := b.read(EnvelopeFile)
	if err != nil {
		return e, nil, err
	}
	if json.Unmarshal(body, &e) != nil || e.PayloadType != payloadType {
		return e, nil, errors.New(EnvelopeFile + " is not a DSSE envelope of an in-toto statement")
	}
	payload, err = e.DecodeB64Payload()
	return e, payload, err
}

func (b *Bundle) checkNonce(l *lines, chosen string) {
	switch nonce := b.Manifest.Nonce; {
	case nonce == "" && chosen == "":
		l.add("nonce", Note, "none: the vendor chose the seeds")
	case nonce == "":
		l.add("nonce", Refuted, "none: the vendor chose the seeds, not the recipient")
	case chosen == "":
		l.add("nonce", Note, "%.100q: not compared (give the nonce that you chose)", nonce)
	case nonce == chosen:
		l.add("nonce", OK, "%.100q, as the recipient chose it", nonce)
	default:
		l.add("nonce", Refuted, "%.100q, and the recipient chose %.100q", nonce, chosen)
	}
}

// clockSkew is how far the clocks of two machines may differ.
const clockSkew = 24 * time.Hour

func (m Manifest) checkDates(now time.Time) error {
	for i, r := range m.Runs {
		if r.Started.After(m.Created) {
			return fmt.Errorf("run %d started at %s, after the bundle was created at %s", i+1, r.Started.Format(time.DateTime), m.Created.Format(time.DateTime))
		}
	}
	switch {
	case m.Created.After(now.Add(clockSkew)):
		return fmt.Errorf("created in the future, at %s", m.Created.Format(time.DateTime))
	case !m.Created.Before(m.Expires):
		return fmt.Errorf("created at %s, after it expires at %s", m.Created.Format(time.DateTime), m.Expires.Format(time.DateTime))
	}
	return nil
}

func (m Manifest) checkRuns() error {
	seeds, ids := map[int64]int{}, map[string]int{}
	for i, r := range m.Runs {
		if other := seeds[r.Seed]; other != 0 {
			return fmt.Errorf("runs %d and %d have the same seed", other, i+1)
		}
		if other := ids[r.ID]; other != 0 {
			return fmt.Errorf("runs %d and %d have the same id", other, i+1)
		}
		seeds[r.Seed], ids[r.ID] = i+1, i+1
	}
	return nil
}
