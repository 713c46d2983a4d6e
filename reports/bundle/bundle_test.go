package bundle_test

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	testresult "github.com/in-toto/attestation/go/predicates/test_result/v0"
	intoto "github.com/in-toto/attestation/go/v1"
	. "github.com/onsi/gomega"
	"google.golang.org/protobuf/encoding/protojson"

	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/schemas"
)

var (
	vendor   = ed25519.NewKeyFromSeed([]byte("a seed of 32 bytes, of a vendor."))
	stranger = ed25519.NewKeyFromSeed([]byte("a seed of 32 bytes, of a forger."))
	started  = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	now      = started.Add(48 * time.Hour)
	options  = bundle.Options{PublicKey: vendor.Public().(ed25519.PublicKey), Nonce: "the recipient's", Now: now}
)

func manifest() bundle.Manifest {
	return bundle.Manifest{
		Certificate: true, Level: "full",
		Implementation: bundle.Implementation{Vendor: "a vendor & sons", Name: "a server", Version: "1.2"},
		Program:        bundle.ProgramOf("v2.0.0", "abc, modified", &debug.BuildInfo{Deps: []*debug.Module{{Path: "a.example/a", Version: "v1.0.0", Sum: "h1:a"}, {Path: "b.example/b", Replace: &debug.Module{Path: "c.example/b", Version: "v1.0.1", Sum: "h1:c"}}}}),
		Catalogue:      strings.Repeat("ab", 32), OpenAPI: strings.Repeat("cd", 32),
		Nonce: "the recipient's", Created: started.Add(time.Hour), Expires: started.Add(time.Minute).AddDate(1, 0, 0),
		Runs: []bundle.Run{
			{ID: "first", Started: started, Seed: 1 << 60, Verdict: "pass", Settings: map[string]any{"visible_within": "5s", "pace": 2.5, "concurrency": 16}, Counts: map[string]int{"pass": 2}},
			{ID: "second", Started: started.Add(time.Minute), Seed: -2, Verdict: "pass"},
		},
		Tests: bundle.Tests{Passed: []string{"SERVED on leads.get", "SERVED on leads.list"}},
	}
}

func content() map[string]bundle.Source {
	files := map[string]bundle.Source{bundle.ProfileFile: bundle.Bytes([]byte("name: a server\n")), bundle.PageFile: bundle.Bytes([]byte("<html>")), bundle.BadgeFile: bundle.Bytes([]byte("<svg/>"))}
	for run := 1; run <= 2; run++ {
		for _, name := range []string{bundle.ResultsFile, bundle.EvidenceFile, bundle.ReportFile} {
			files[bundle.InRun(run, name)] = bundle.Bytes(fmt.Appendf(nil, "%s of run %d", name, run))
		}
	}
	return files
}

func written(t testing.TB, m bundle.Manifest, key ed25519.PrivateKey) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := bundle.Write(&b, m, content(), key); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, body []byte) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Read(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// of returns the lines of the state.
func of(lines []bundle.Line, state bundle.State) (found []string) {
	for _, l := range lines {
		if l.State == state {
			found = append(found, l.What+": "+l.Why)
		}
	}
	return found
}

func TestRoundTrip(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "bundle.zip")
	g.Expect(os.WriteFile(path, written(t, manifest(), vendor), 0o600)).To(Succeed())
	b, err := bundle.Open(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer b.Close()

	g.Expect(b.Manifest.Program.Commit).To(Equal("abc"))
	g.Expect(b.Manifest.Program.Modified).To(BeTrue())
	g.Expect(b.Manifest.Program.Modules).To(Equal([]string{"a.example/a v1.0.0 h1:a", "b.example/b => c.example/b v1.0.1 h1:c"}))
	for name, open := range content() {
		want, err := open()
		g.Expect(err).NotTo(HaveOccurred())
		wanted, _ := io.ReadAll(want)
		got, err := b.Open(name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(io.ReadAll(got)).To(Equal(wanted))
		digest := sha256.Sum256(wanted)
		g.Expect(b.Manifest.Files[name]).To(Equal(bundle.File{Size: int64(len(wanted)), SHA256: hex.EncodeToString(digest[:])}))
	}
	_, err = b.Open("nothing")
	g.Expect(err).To(MatchError(os.ErrNotExist))

	lines := b.Check(options)
	g.Expect(of(lines, bundle.OK)).To(HaveLen(len(lines)), "%v", lines)
	var checked []string
	for _, l := range lines {
		checked = append(checked, l.What)
	}
	g.Expect(checked).To(Equal([]string{"files", "form", "statement", "signature", "nonce", "dates", "expiry", "seeds"}))
}

// The same files give the same bytes, in any version of Go and of this program: readers compare
// the form.
func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	m := manifest()
	m.Program = bundle.Program{Version: "v2.0.0"}
	digest := sha256.Sum256(written(t, m, vendor))
	NewWithT(t).Expect(hex.EncodeToString(digest[:])).To(Equal("104b371e61687b6e513f9a7df11ab1e3a8d313408305437257332711c9ea2d5f"))
}

// A reader without our code verifies the envelope: the encoding is written out here, from the
// specification of DSSE. The library of in-toto reads the statement, as consumers use it.
func TestAnIndependentReaderVerifiesTheEnvelope(t *testing.T) {
	g := NewWithT(t)
	m := manifest()
	m.Tests.NotAssessed = []string{"ORDER on leads.list"}
	body := written(t, m, vendor)
	var envelope struct {
		PayloadType string
		Payload     []byte
		Signatures  []struct{ Sig []byte }
	}
	g.Expect(json.Unmarshal(unpacked(t, body)[bundle.EnvelopeFile], &envelope)).To(Succeed())
	g.Expect(envelope.PayloadType).To(Equal("application/vnd.in-toto+json"))
	signed := fmt.Sprintf("DSSEv1 %d %s %d %s", len(envelope.PayloadType), envelope.PayloadType, len(envelope.Payload), envelope.Payload)
	g.Expect(ed25519.Verify(vendor.Public().(ed25519.PublicKey), []byte(signed), envelope.Signatures[0].Sig)).To(BeTrue())

	var statement intoto.Statement
	g.Expect(protojson.Unmarshal(envelope.Payload, &statement)).To(Succeed())
	g.Expect(statement.Validate()).To(Succeed())
	predicate, err := statement.Predicate.MarshalJSON()
	g.Expect(err).NotTo(HaveOccurred())
	var result testresult.TestResult
	g.Expect(protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(predicate, &result)).To(Succeed())
	g.Expect(result.PassedTests).To(Equal(m.Tests.Passed))

	digest := sha256.Sum256(unpacked(t, body)[bundle.ManifestFile])
	profile := read(t, body).Manifest.Files[bundle.ProfileFile].SHA256
	g.Expect(envelope.Payload).To(MatchJSON(`{"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
		"subject": [{"name": "manifest.json", "digest": {"sha256": "` + hex.EncodeToString(digest[:]) + `"}}],
		"predicate": {"result": "WARNED", "configuration": [{"name": "catalogue", "digest": {"sha256": "` + m.Catalogue + `"}},
			{"name": "openapi.yaml", "digest": {"sha256": "` + m.OpenAPI + `"}}, {"name": "profile.yaml", "digest": {"sha256": "` + profile + `"}}],
		"passedTests": ["SERVED on leads.get", "SERVED on leads.list"], "warnedTests": [], "failedTests": [],
		"outreachConformance": {"certificate": true, "level": "full", "nonce": "the recipient's", "created": "2026-11-30T11:00:00Z", "expires": "2027-11-30T10:01:00Z",
			"implementation": {"vendor": "a vendor & sons", "name": "a server", "version": "1.2"}, "notAssessedTests": ["ORDER on leads.list"]}}}`))
}

// Nothing but a full pass is a pass for consumers.
func TestResultOfTheStatement(t *testing.T) {
	for _, c := range []struct {
		result string
		change func(*bundle.Manifest)
	}{
		{"PASSED", func(*bundle.Manifest) {}},
		{"WARNED", func(m *bundle.Manifest) { m.Tests.Warned = []string{"a"} }},
		{"FAILED", func(m *bundle.Manifest) { m.Tests.Warned, m.Runs[1].Verdict = []string{"a"}, "inconclusive" }},
		{"FAILED", func(m *bundle.Manifest) { m.Tests = bundle.Tests{Failed: []string{"a"}} }},
	} {
		m := manifest()
		c.change(&m)
		body, err := bundle.Sign(m, vendor)
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		var envelope struct{ Payload []byte }
		g.Expect(json.Unmarshal(body, &envelope)).To(Succeed())
		g.Expect(string(envelope.Payload)).To(ContainSubstring(`"result":"` + c.result + `"`))
	}
}

// Whoever writes the bundle: what the recipient knows decides.
func TestCheckNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*bundle.Manifest)
		options func(*bundle.Options)
		key     ed25519.PrivateKey
		refuted []string
		notes   []string
	}{
		"no signature":            {refuted: []string{"signature: missing"}},
		"no signature nor key":    {options: func(o *bundle.Options) { o.PublicKey = nil }, notes: []string{"signature: not checked: nobody proved who wrote the bundle (give the vendor's public key, from another source)"}},
		"another key":             {key: stranger, refuted: []string{"signature: not by the key " + bundle.KeyID(options.PublicKey)}},
		"another nonce":           {key: vendor, options: func(o *bundle.Options) { o.Nonce = "mine" }, refuted: []string{`nonce: "the recipient's", and the recipient chose "mine"`}},
		"no nonce in the bundle":  {key: vendor, change: func(m *bundle.Manifest) { m.Nonce = "" }, refuted: []string{`nonce: "", and the recipient chose "the recipient's"`}},
		"no nonce":                {key: vendor, change: func(m *bundle.Manifest) { m.Nonce = "" }, options: func(o *bundle.Options) { o.Nonce = "" }, notes: []string{"nonce: none: the vendor chose the seeds"}},
		"nonce that nobody chose": {key: vendor, options: func(o *bundle.Options) { o.Nonce = "" }, notes: []string{`nonce: "the recipient's": not compared (give the nonce that you chose)`}},
		"expired":                 {key: vendor, options: func(o *bundle.Options) { o.Now = now.AddDate(1, 0, 0) }, refuted: []string{"expiry: expired on 2027-11-30"}},
		"created in the future":   {key: vendor, options: func(o *bundle.Options) { o.Now = started.Add(-23*time.Hour - time.Second) }, refuted: []string{"dates: created at 2026-11-30 11:00:00, in the future"}},
		"clocks that differ":      {key: vendor, options: func(o *bundle.Options) { o.Now = started.Add(-22 * time.Hour) }},
		"run after the bundle":    {key: vendor, change: func(m *bundle.Manifest) { m.Runs[1].Started = started.Add(2 * time.Hour) }, refuted: []string{"dates: run 2 started at 2026-11-30 12:00:00, after the bundle was created"}},
		"expires before it began": {key: vendor, change: func(m *bundle.Manifest) { m.Expires = m.Created }, refuted: []string{"dates: created at 2026-11-30 11:00:00, after it expires", "expiry: expired on 2026-11-30"}},
		"same seed":               {key: vendor, change: func(m *bundle.Manifest) { m.Runs[1].Seed = 1 << 60 }, refuted: []string{"seeds: runs 1 and 2 have the same"}},
	} {
		g, m, o := NewWithT(t), manifest(), options
		if c.change != nil {
			c.change(&m)
		}
		if c.options != nil {
			c.options(&o)
		}
		lines := read(t, written(t, m, c.key)).Check(o)
		g.Expect(of(lines, bundle.Refuted)).To(Equal(c.refuted), name)
		g.Expect(of(lines, bundle.Note)).To(Equal(c.notes), name)
	}
}

// unpacked returns the members of a bundle.
func unpacked(t testing.TB, body []byte) map[string][]byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(from); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func packed(t testing.TB, files map[string][]byte) []byte {
	t.Helper()
	sources := map[string]bundle.Source{}
	for name, body := range files {
		sources[name] = bundle.Bytes(body)
	}
	var b bytes.Buffer
	if err := bundle.Pack(&b, sources); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEachChangeOfAFileIsNamed(t *testing.T) {
	edit := func(name, from, to string) func(map[string][]byte) {
		return func(f map[string][]byte) { f[name] = bytes.Replace(f[name], []byte(from), []byte(to), 1) }
	}
	envelope := func(change func(map[string]any)) func(map[string][]byte) {
		return func(f map[string][]byte) {
			var e map[string]any
			_ = json.Unmarshal(f[bundle.EnvelopeFile], &e)
			change(e)
			f[bundle.EnvelopeFile], _ = json.Marshal(e)
		}
	}
	const results = "runs/1/results.json"
	otherManifest := "statement: the statement is about another manifest"
	for name, c := range map[string]struct {
		change  func(map[string][]byte)
		refuted []string
	}{
		"changed file":         {edit(results, "run", "rum"), []string{`files: wrong digest: "runs/1/results.json" is not the file of the manifest`}},
		"missing file":         {func(f map[string][]byte) { delete(f, results) }, []string{`files: missing file: "runs/1/results.json"`}},
		"extra file":           {func(f map[string][]byte) { f["extra.txt"] = nil }, []string{`files: extra file: "extra.txt"`}},
		"other vendor":         {edit(bundle.ManifestFile, "a vendor", "b vendor"), []string{otherManifest}},
		"reformatted manifest": {edit(bundle.ManifestFile, "\n", "\n\n"), []string{"form: manifest.json is not in the form that this program writes"}},
		"two levels":           {edit(bundle.ManifestFile, `"level"`, `"level": "shape", "level"`), []string{"form: manifest.json is not in the form that this program writes"}},
		"envelope of nothing":  {func(f map[string][]byte) { f[bundle.EnvelopeFile] = []byte("{}") }, []string{"statement: certificate.dsse.json is not a DSSE envelope of an in-toto statement", "signature: not by the key " + bundle.KeyID(options.PublicKey)}},
		"unsigned":             {func(f map[string][]byte) { delete(f, bundle.EnvelopeFile) }, []string{"signature: missing"}},
		"changed payload": {envelope(func(e map[string]any) {
			payload, _ := base64.StdEncoding.DecodeString(e["payload"].(string))
			e["payload"] = bytes.Replace(payload, []byte(`"full"`), []byte(`"read"`), 1)
		}), []string{"statement: the statement contradicts the manifest", "signature: not by the key " + bundle.KeyID(options.PublicKey)}},
		"many signatures": {envelope(func(e map[string]any) { e["signatures"] = slices.Repeat(e["signatures"].([]any), 9) }), []string{"statement: certificate.dsse.json is not a DSSE envelope of an in-toto statement", "signature: not by the key " + bundle.KeyID(options.PublicKey)}},
		"no statement": {func(f map[string][]byte) {
			f[bundle.EnvelopeFile] = []byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":"AAAA"}]}`)
		}, []string{"statement: the payload is not an in-toto statement", "signature: not by the key " + bundle.KeyID(options.PublicKey)}},
	} {
		files := unpacked(t, written(t, manifest(), vendor))
		c.change(files)
		NewWithT(t).Expect(of(read(t, packed(t, files)).Check(options), bundle.Refuted)).To(Equal(c.refuted), name)
	}

	// A forger who can write the manifest still cannot bring in files that no bundle has.
	files := unpacked(t, written(t, manifest(), nil))
	m := read(t, written(t, manifest(), nil)).Manifest
	empty := sha256.Sum256(nil)
	files["setup.exe"], m.Files["setup.exe"] = nil, bundle.File{SHA256: hex.EncodeToString(empty[:])}
	files[bundle.ManifestFile], _ = m.Encode()
	o := options
	o.PublicKey = nil
	NewWithT(t).Expect(of(read(t, packed(t, files)).Check(o), bundle.Refuted)).To(Equal([]string{`files: extra file: "setup.exe"`}))
}

type file struct {
	name string
	body []byte
}

func sorted(files map[string][]byte) (all []file) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, file{name, files[name]})
	}
	return all
}

// archived returns an archive like one of Write behind other data, with changed headers.
func archived(front string, change func(*zip.FileHeader), files ...file) []byte {
	b := bytes.NewBufferString(front)
	w := zip.NewWriter(b)
	w.SetOffset(int64(len(front)))
	for _, f := range files {
		size := uint64(len(f.body))
		h := &zip.FileHeader{Name: f.name, CRC32: crc32.ChecksumIEEE(f.body), CompressedSize64: size, UncompressedSize64: size}
		change(h)
		to, err := w.CreateRaw(h)
		if err == nil {
			_, err = to.Write(f.body)
		}
		if err != nil {
			panic(err)
		}
	}
	_ = w.Close()
	return b.Bytes()
}

func unchanged(*zip.FileHeader) {}

// An archive with the same members in another form may show other files to another program.
func TestAnotherFormIsRefuted(t *testing.T) {
	g, own := NewWithT(t), written(t, manifest(), vendor)
	files := sorted(unpacked(t, own))
	g.Expect(archived("", unchanged, files...)).To(Equal(own))
	local := bytes.Clone(own)
	copy(local[30:], "c") // the first name, in its local header
	for name, body := range map[string][]byte{
		"extended":      archived("", func(h *zip.FileHeader) { h.Extra = []byte{1, 2, 0, 0} }, files...),
		"executable":    archived("", func(h *zip.FileHeader) { h.SetMode(0o755) }, files...),
		"commented":     archived("", func(h *zip.FileHeader) { h.Comment = "a comment" }, files...),
		"data in front": archived("#!/bin/sh\n", unchanged, files...),
		"turned":        archived("", unchanged, append(files[1:], files[0])...),
		"local header":  local,
	} {
		g.Expect(of(read(t, body).Check(options), bundle.Refuted)).To(ConsistOf("form: the archive is not as it was written (use the original file, not one that was packed again)"), name)
	}
	// A header that says less than the member holds does not get past the bound.
	short := func(h *zip.FileHeader) {
		if h.Name == bundle.BadgeFile {
			h.UncompressedSize64 = 3
		}
	}
	g.Expect(of(read(t, archived("", short, files...)).Check(options), bundle.Refuted)).To(ContainElement(ContainSubstring(`damaged file: bundle: "badge.svg"`)))
}

// Whatever the archive holds, it is refused as a bundle before much of it is read.
func TestHostileArchivesAreNotBundles(t *testing.T) {
	honest := written(t, manifest(), vendor)
	own := unpacked(t, honest)[bundle.ManifestFile]
	archive := func(change func(*zip.FileHeader), names ...string) []byte {
		files := []file{{bundle.ManifestFile, own}}
		for _, name := range names {
			files = append(files, file{name, nil})
		}
		return archived("", func(h *zip.FileHeader) {
			if h.CRC32 == 0 { // not of the manifest
				change(h)
			}
		}, files...)
	}
	sized := func(size uint64) func(*zip.FileHeader) {
		return func(h *zip.FileHeader) { h.UncompressedSize64 = size }
	}
	text := func(manifest string) []byte {
		return archived("", unchanged, file{bundle.ManifestFile, []byte(manifest)})
	}
	swap := func(old, new string) []byte { return text(strings.Replace(string(own), old, new, 1)) }
	numbered := func(n int, format string) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return all
	}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"empty":               {nil, "not a zip archive"},
		"cut off":             {honest[:len(honest)-1], "not a zip archive, or cut off"},
		"data at the end":     {append(bytes.Clone(honest), "<html>"...), "followed by other data"},
		"data in front":       {append([]byte("#!/bin/sh\n"), honest...), "not where it should be"},
		"very many members":   {archive(unchanged, numbered(2000, "file%d")...), "too large"},
		"large when unpacked": {archive(sized(64<<20), numbered(17, "runs/%d/report.html")...), "more than 1073741824 bytes"},
		"bomb":                {archive(sized(64<<20+1), "badge.svg"), "more than 67108864 bytes"},
		"two of one name":     {archive(unchanged, "a", "a"), "two files of the name"},
		"absolute name":       {archive(unchanged, "/etc/passwd"), "no name of a file"},
		"parent":              {archive(unchanged, "../manifest.json"), "no name of a file"},
		"hidden parent":       {archive(unchanged, "runs/1/../../x"), "no name of a file"},
		"escape":              {archive(unchanged, "a\x1b[2Jb"), "no name of a file"},
		"directory":           {archive(unchanged, "runs/1/"), "no name of a file"},
		"symbolic link":       {archive(func(h *zip.FileHeader) { h.SetMode(os.ModeSymlink | 0o777) }, "badge.svg"), "not a regular file"},
		"encrypted":           {archive(func(h *zip.FileHeader) { h.Flags |= 1 }, "secret"), "encrypted"},
		"no manifest":         {packed(t, map[string][]byte{"a": nil}), "manifest.json: file does not exist"},
		"another version":     {text(`{"version":"2"}`), `version "2", this build reads "1"`},
		"unknown member":      {swap(`"level"`, `"color": 1, "level"`), `unknown field "color"`},
		"wrong type":          {swap(`"full"`, `7`), "cannot unmarshal number into"},
		"wrong date":          {swap(`"2026-11-30T11:00:00Z"`, `"yesterday"`), "cannot parse"},
		"no runs":             {text(`{"version":"1"}`), "0 runs"},
		"many runs":           {text(`{"version":"1","runs":[{}` + strings.Repeat(",{}", 16) + `]}`), "17 runs"},
		"many files":          {text(`{"version":"1","runs":[{}],"files":{` + strings.Join(numbered(65, `"file%d":{}`), ",") + `}}`), "65 files"},
	} {
		_, err := bundle.Read(bytes.NewReader(c.body), int64(len(c.body)))
		NewWithT(t).Expect(err).To(And(MatchError(bundle.ErrNotBundle), MatchError(ContainSubstring(c.want))), name)
	}
}

func TestWriteRefusesWhatReadWould(t *testing.T) {
	for want, change := range map[string]func(*bundle.Manifest, map[string]bundle.Source){
		`runs/2/report.html" "runs/2/results.json"], want`: func(_ *bundle.Manifest, f map[string]bundle.Source) { delete(f, "runs/2/evidence.har.gz") },
		`"notes.txt"`: func(_ *bundle.Manifest, f map[string]bundle.Source) { f["notes.txt"] = bundle.Bytes(nil) },
		`"profile.yaml": more than 67108864 bytes`: func(_ *bundle.Manifest, f map[string]bundle.Source) {
			f["profile.yaml"] = bundle.Bytes(make([]byte, 64<<20+1))
		},
		"no such file": func(_ *bundle.Manifest, f map[string]bundle.Source) { f["profile.yaml"] = bundle.Path("nowhere") },
		"0 runs": func(m *bundle.Manifest, f map[string]bundle.Source) {
			m.Runs = nil
			maps.DeleteFunc(f, func(name string, _ bundle.Source) bool { return strings.HasPrefix(name, "runs/") })
		},
		"not in the form that this program writes": func(m *bundle.Manifest, _ map[string]bundle.Source) { m.Runs[0].Settings["big"] = int64(1<<53 + 1) },
		`"profile.yaml" changed while it was read`: func(_ *bundle.Manifest, f map[string]bundle.Source) {
			reads := 0
			f["profile.yaml"] = func() (io.ReadCloser, error) {
				reads++
				return bundle.Bytes(fmt.Append(nil, reads))()
			}
		},
	} {
		m, files := manifest(), content()
		change(&m, files)
		if err := bundle.Write(io.Discard, m, files, vendor); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// Keys are those of openssl. An error leaves out the text, which may be a key.
func TestKeys(t *testing.T) {
	g := NewWithT(t)
	block := func(kind, body string) string {
		return "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n"
	}
	const body = "MC4CAQAwBQYDK2VwBCIEIMoEYvORWawwR1Miz69BI72tRQgUYZhD0BtYpgZMj3yz"
	const other = "c2VjcmV0"
	private, public := block("PRIVATE KEY", body), block("PUBLIC KEY", "MCowBQYDK2VwAyEAaCWD5Q6lvXFE5JULc9hsTBCvSiBDbSDLhrtA+QPcIas=")
	key, err := bundle.PrivateKey([]byte(private))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bundle.PublicKey([]byte(public))).To(Equal(key.Public()))

	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range []struct{ text, private, public string }{
		{body, "not in PEM (openssl genpkey", "not in PEM (openssl pkey"},
		{public, `of type "PUBLIC KEY" (openssl genpkey`, ""},
		{private, "", `of type "PRIVATE KEY" (openssl pkey -in key.pem -pubout`},
		{block("ENCRYPTED PRIVATE KEY", other), "encrypted (openssl pkey", "encrypted"},
		{block("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n"+other), "encrypted", "encrypted"},
		{block("OPENSSH PRIVATE KEY", other), `of type "OPENSSH PRIVATE KEY" (openssl genpkey`, "OPENSSH"},
		{block("PRIVATE KEY", other), `of type "PRIVATE KEY"`, `of type "PRIVATE KEY"`},
		{block("PRIVATE KEY", base64.StdEncoding.EncodeToString(der)), "of another algorithm than ed25519", `of type "PRIVATE KEY"`},
	} {
		_, private := bundle.PrivateKey([]byte(c.text))
		_, public := bundle.PublicKey([]byte(c.text))
		for want, err := range map[string]error{c.private: private, c.public: public} {
			if want == "" {
				g.Expect(err).NotTo(HaveOccurred(), c.text)
			} else {
				g.Expect(err).To(MatchError(And(ContainSubstring(want), Not(Or(ContainSubstring(body), ContainSubstring(other))))), c.text)
			}
		}
	}
}

// The schema is for other programs: it says what this one writes, and nothing else.
func TestTheSchemaSaysWhatIsWritten(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("manifest.schema.json")
	g.Expect(err).NotTo(HaveOccurred())
	schema, err := schemas.Compile(text)
	g.Expect(err).NotTo(HaveOccurred())
	m := manifest()
	m.Tests = bundle.Tests{Passed: []string{"a"}, Warned: []string{"b"}, Failed: []string{"c"}, NotAssessed: []string{"d"}}
	g.Expect(schema.Findings(unpacked(t, written(t, m, nil))[bundle.ManifestFile])).To(BeEmpty())
	g.Expect(schema.Findings([]byte(`{"version":"1","color":1}`))).NotTo(BeEmpty())
}

// Whatever the bytes are, opening and checking them ends, and nothing is signed by the vendor that
// the vendor did not sign.
func FuzzReadAndCheck(f *testing.F) {
	f.Add(written(f, manifest(), nil), []byte(nil))
	f.Add(written(f, manifest(), vendor), []byte("x"))
	f.Add(archived("x", unchanged, sorted(unpacked(f, written(f, manifest(), stranger)))...), []byte(`{"version":"1","runs":[{}]}`))
	f.Fuzz(func(t *testing.T, body, member []byte) {
		for _, archive := range [][]byte{body, packed(t, map[string][]byte{bundle.ManifestFile: member[:min(len(member), 1<<20)], bundle.EnvelopeFile: body[:min(len(body), 1<<20)]})} {
			b, err := bundle.Read(bytes.NewReader(archive), int64(len(archive)))
			if err != nil {
				if !errors.Is(err, bundle.ErrNotBundle) {
					t.Errorf("untyped error: %v", err)
				}
				continue
			}
			if refuted := of(b.Check(options), bundle.Refuted); len(refuted) == 0 && !bytes.Equal(archive, written(t, manifest(), vendor)) {
				t.Error("a bundle that nobody wrote was not refuted")
			}
		}
	})
}
