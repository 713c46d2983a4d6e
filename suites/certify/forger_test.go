package certify

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"outreach.example/conformance/reports/bundle"
)

// Tamper is a bundle that is being changed.
type Tamper struct {
	*rand.Rand
	Manifest bundle.Manifest
	Files    map[string][]byte // all but the manifest
	Run      int               // the run to change, from 1
	key      ed25519.PrivateKey
	archive  func([]byte) []byte // changes the finished archive
	err      error
}

// Apply returns the bundle after a change of the kind. A forger who recomputes gives the manifest the
// digests of the changed files, and signs a signed bundle again with a key of his own, or keeps the
// signature, or leaves it out.
func Apply(archive []byte, k Kind, random *rand.Rand, recompute bool) ([]byte, error) {
	b, err := bundle.Read(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	t := &Tamper{Rand: random, Manifest: b.Manifest, Files: map[string][]byte{}, archive: func(a []byte) []byte { return a }}
	t.Run = 1 + t.IntN(len(b.Manifest.Runs))
	for _, name := range append(slices.Collect(maps.Keys(b.Manifest.Files)), bundle.EnvelopeFile) {
		from, err := b.Open(name)
		if err == nil {
			t.Files[name], err = io.ReadAll(from)
		}
		if err != nil && name != bundle.EnvelopeFile {
			return nil, err
		}
	}
	if k.Change(t); t.err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, t.err)
	}
	if recompute && !k.Plain {
		t.recompute()
	}
	return t.pack()
}

func (t *Tamper) recompute() {
	t.Manifest.Files = map[string]bundle.File{}
	for name, body := range t.Files {
		if name != bundle.EnvelopeFile {
			digest := sha256.Sum256(body)
			t.Manifest.Files[name] = bundle.File{Size: int64(len(body)), SHA256: hex.EncodeToString(digest[:])}
		}
	}
	if t.Files[bundle.EnvelopeFile] != nil {
		switch t.IntN(3) {
		case 0:
			t.key = strangersKey(t.Rand)
		case 1:
			delete(t.Files, bundle.EnvelopeFile)
		}
	}
}

func strangersKey(random *rand.Rand) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(random.Uint32())
	}
	return ed25519.NewKeyFromSeed(seed)
}

func (t *Tamper) pack() ([]byte, error) {
	files := map[string]bundle.Source{}
	if t.key != nil {
		envelope, err := bundle.Sign(t.Manifest, t.key)
		if err != nil {
			return nil, err
		}
		t.Files[bundle.EnvelopeFile] = envelope
	}
	for name, body := range t.Files {
		files[name] = bundle.Bytes(body)
	}
	manifest, err := t.Manifest.Encode()
	if err != nil {
		return nil, err
	}
	files[bundle.ManifestFile] = bundle.Bytes(manifest)
	var out bytes.Buffer
	err = bundle.Pack(&out, files)
	return t.archive(out.Bytes()), err
}

// run returns the entry of the manifest of the run to change.
func (t *Tamper) run() *bundle.Run { return &t.Manifest.Runs[t.Run-1] }

// results changes results.json of the run.
func (t *Tamper) results(change func(results map[string]any)) {
	name := bundle.InRun(t.Run, bundle.ResultsFile)
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(t.Files[name]))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.fail(err)
		return
	}
	change(doc)
	body, err := json.MarshalIndent(doc, "", "  ")
	t.fail(err)
	t.Files[name] = append(body, '\n')
}

// evidence changes the recorded exchanges of the run, each in JSON.
func (t *Tamper) evidence(change func(entries []string) []string) {
	name := bundle.InRun(t.Run, bundle.EvidenceFile)
	zip, err := gzip.NewReader(bytes.NewReader(t.Files[name]))
	if err != nil {
		t.fail(err)
		return
	}
	body, err := io.ReadAll(zip)
	t.fail(err)
	head, rest, begins := strings.Cut(string(body), `"entries":[`+"\n")
	entries, tail, ends := strings.Cut(rest, "\n]")
	if !begins || !ends {
		t.fail(errors.New("the evidence does not have an exchange on each line"))
		return
	}
	entries = strings.Join(change(strings.Split(entries, ",\n")), ",\n")
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	_, err = io.WriteString(packed, head+`"entries":[`+"\n"+entries+"\n]"+tail)
	t.fail(errors.Join(err, packed.Close()))
	t.Files[name] = out.Bytes()
}

func (t *Tamper) fail(err error) { t.err = errors.Join(t.err, err) }

// file returns the name of a file of the bundle, at random.
func (t *Tamper) file() string {
	names := slices.Sorted(maps.Keys(t.Manifest.Files))
	return names[t.IntN(len(names))]
}

// flip changes one bit.
func (t *Tamper) flip(body []byte) []byte {
	body = bytes.Clone(body)
	body[t.IntN(len(body))] ^= 1 << t.IntN(8)
	return body
}
