package bundle_test

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
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
	"outreach.example/conformance/schemas/files"
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
	g := NewWithT(t)
	m := manifest()
	m.Program = bundle.Program{Version: "v2.0.0"}
	first := written(t, m, vendor)
	g.Expect(written(t, m, vendor)).To(Equal(first))
	digest := sha256.Sum256(first)
	g.Expect(hex.EncodeToString(digest[:])).To(Equal("104b371e61687b6e513f9a7df11ab1e3a8d313408305437257332711c9ea2d5f"))
}

func TestOtherProgramsReadTheArchive(t *testing.T) {
	unzip, err := exec.LookPath("unzip")
	if err != nil {
		t.Skip("no unzip")
	}
	path := filepath.Join(t.TempDir(), "bundle.zip")
	if err := os.WriteFile(path, written(t, manifest(), vendor), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(unzip, "-t", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A reader without our code verifies the envelope: the encoding is written out here, from the
// specification of DSSE.
func TestAnIndependentReaderVerifiesTheEnvelope(t *testing.T) {
	g := NewWithT(t)
	m := manifest()
	m.Tests.NotAssessed = []string{"ORDER on leads.list"}
	b := read(t, written(t, m, vendor))
	member := func(name string) []byte {
		from, err := b.Open(name)
		g.Expect(err).NotTo(HaveOccurred())
		body, err := io.ReadAll(from)
		g.Expect(err).NotTo(HaveOccurred())
		return body
	}
	var envelope struct {
		PayloadType, Payload string
		Signatures           []struct{ KeyID, Sig string }
	}
	g.Expect(json.Unmarshal(member(bundle.EnvelopeFile), &envelope)).To(Succeed())
	g.Expect(envelope.PayloadType).To(Equal("application/vnd.in-toto+json"))
	g.Expect(envelope.Signatures).To(HaveLen(1))
	payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
	g.Expect(err).NotTo(HaveOccurred())
	signature, err := base64.StdEncoding.DecodeString(envelope.Signatures[0].Sig)
	g.Expect(err).NotTo(HaveOccurred())
	signed := fmt.Sprintf("DSSEv1 %d %s %d %s", len(envelope.PayloadType), envelope.PayloadType, len(payload), payload)
	g.Expect(ed25519.Verify(vendor.Public().(ed25519.PublicKey), []byte(signed), signature)).To(BeTrue())

	// The library of in-toto reads it, as consumers use it.
	var read intoto.Statement
	g.Expect(protojson.Unmarshal(payload, &read)).To(Succeed())
	g.Expect(read.Validate()).To(Succeed())
	predicate, err := read.Predicate.MarshalJSON()
	g.Expect(err).NotTo(HaveOccurred())
	var result testresult.TestResult
	g.Expect(protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(predicate, &result)).To(Succeed())
	g.Expect(result.PassedTests).To(Equal(m.Tests.Passed))

	var statement map[string]any
	g.Expect(json.Unmarshal(payload, &statement)).To(Succeed())
	digest := sha256.Sum256(member(bundle.ManifestFile))
	profile := b.Manifest.Files[bundle.ProfileFile].SHA256
	descriptor := func(name, digest string) any {
		return map[string]any{"name": name, "digest": map[string]any{"sha256": digest}}
	}
	g.Expect(statement).To(Equal(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
		"subject": []any{descriptor("manifest.json", hex.EncodeToString(digest[:]))},
		"predicate": map[string]any{
			"result":        "WARNED",
			"configuration": []any{descriptor("catalogue", m.Catalogue), descriptor("openapi.yaml", m.OpenAPI), descriptor("profile.yaml", profile)},
			"passedTests":   []any{"SERVED on leads.get", "SERVED on leads.list"}, "warnedTests": []any{}, "failedTests": []any{},
			"outreachConformance": map[string]any{
				"certificate": true, "level": "full", "nonce": m.Nonce, "created": "2026-11-30T11:00:00Z", "expires": "2027-11-30T10:01:00Z",
				"implementation":   map[string]any{"vendor": "a vendor & sons", "name": "a server", "version": "1.2"},
				"notAssessedTests": []any{"ORDER on leads.list"},
			},
		},
	}))
}

// Nothing but a full pass is a pass for consumers.
func TestResultOfTheStatement(t *testing.T) {
	for want, change := range map[string]func(*bundle.Manifest){
		`"PASSED"`:                  func(*bundle.Manifest) {},
		`"WARNED"`:                  func(m *bundle.Manifest) { m.Tests.Warned = []string{"a"} },
		`"FAILED","warnedTests"`:    func(m *bundle.Manifest) { m.Tests.Warned, m.Runs[1].Verdict = []string{"a"}, "inconclusive" },
		`"FAILED","passedTests":[]`: func(m *bundle.Manifest) { m.Tests = bundle.Tests{Failed: []string{"a"}} },
	} {
		m := manifest()
		change(&m)
		body, err := bundle.Sign(m, vendor)
		if err != nil {
			t.Fatal(err)
		}
		var envelope struct{ Payload []byte }
		_ = json.Unmarshal(body, &envelope)
		result, _, _ := strings.Cut(want, ",")
		if !bytes.Contains(envelope.Payload, []byte(`"result":`+result)) {
			t.Errorf("want %s: %s", result, envelope.Payload)
		}
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
		"no key":                  {key: vendor, options: func(o *bundle.Options) { o.PublicKey = nil }, notes: []string{"signature: not checked: nobody proved who wrote the bundle (give the vendor's public key, from another source)"}},
		"another key":             {key: stranger, refuted: []string{"signature: not by the key " + bundle.KeyID(options.PublicKey)}},
		"another nonce":           {key: vendor, options: func(o *bundle.Options) { o.Nonce = "mine" }, refuted: []string{`nonce: "the recipient's", and the recipient chose "mine"`}},
		"no nonce in the bundle":  {key: vendor, change: func(m *bundle.Manifest) { m.Nonce = "" }, refuted: []string{`nonce: "", and the recipient chose "the recipient's"`}},
		"no nonce":                {key: vendor, change: func(m *bundle.Manifest) { m.Nonce = "" }, options: func(o *bundle.Options) { o.Nonce = "" }, notes: []string{"nonce: none: the vendor chose the seeds"}},
		"nonce that nobody chose": {key: vendor, options: func(o *bundle.Options) { o.Nonce = "" }, notes: []string{`nonce: "the recipient's": not compared (give the nonce that you chose)`}},
		"expired":                 {key: vendor, options: func(o *bundle.Options) { o.Now = now.AddDate(1, 0, 0) }, refuted: []string{"expiry: expired on 2027-11-30"}},
		"run after the bundle":    {key: vendor, change: func(m *bundle.Manifest) { m.Runs[1].Started = started.Add(2 * time.Hour) }, refuted: []string{"dates: run 2 started at 2026-11-30 12:00:00, after the bundle was created"}},
		"expires before it began": {key: vendor, change: func(m *bundle.Manifest) { m.Expires = m.Created }, refuted: []string{"dates: created at 2026-11-30 11:00:00, after it expires", "expiry: expired on 2026-11-30"}},
		"same seed":               {key: vendor, change: func(m *bundle.Manifest) { m.Runs[1].Seed = 1 << 60 }, refuted: []string{"seeds: runs 1 and 2 have the same"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m, o := manifest(), options
			if c.change != nil {
				c.change(&m)
			}
			if c.options != nil {
				c.options(&o)
			}
			lines := read(t, written(t, m, c.key)).Check(o)
			g.Expect(of(lines, bundle.Refuted)).To(Equal(c.refuted))
			g.Expect(of(lines, bundle.Note)).To(Equal(c.notes))
		})
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
	const results = "runs/1/results.json"
	otherManifest := "statement: the statement is about another manifest"
	for name, c := range map[string]struct {
		change  func(map[string][]byte)
		refuted []string
	}{
		"changed file": {edit(results, "run", "rum"), []string{`files: wrong digest: "runs/1/results.json" is not the file of the manifest`}},
		"missing file": {func(f map[string][]byte) { delete(f, results) }, []string{`files: missing file: "runs/1/results.json"`}},
		"other case":   {func(f map[string][]byte) { f["Manifest.json"] = nil }, []string{`files: extra file: "Manifest.json"`}},
		"extra file":   {func(f map[string][]byte) { f["extra.txt"] = nil }, []string{`files: extra file: "extra.txt"`}},
		"extra run":    {func(f map[string][]byte) { f["runs/3/results.json"] = nil }, []string{`files: extra file: "runs/3/results.json"`}},
		"swapped files": {func(f map[string][]byte) { f[results], f["runs/2/results.json"] = f["runs/2/results.json"], f[results] },
			[]string{`files: wrong digest: "runs/1/results.json" is not the file of the manifest`, `files: wrong digest: "runs/2/results.json" is not the file of the manifest`}},
		"other vendor":         {edit(bundle.ManifestFile, "a vendor", "b vendor"), []string{otherManifest}},
		"other digest":         {edit(bundle.ManifestFile, "abab", "baba"), []string{otherManifest}},
		"reformatted manifest": {edit(bundle.ManifestFile, "\n", "\n\n"), []string{"form: manifest.json is not in the form that this program writes"}},
		"two levels":           {edit(bundle.ManifestFile, `"level"`, `"level": "shape", "level"`), []string{"form: manifest.json is not in the form that this program writes"}},
		"envelope of nothing":  {func(f map[string][]byte) { f[bundle.EnvelopeFile] = []byte("{}") }, []string{"statement: certificate.dsse.json is not a DSSE envelope of an in-toto statement", "signature: not by the key " + bundle.KeyID(options.PublicKey)}},
		"unsigned":             {func(f map[string][]byte) { delete(f, bundle.EnvelopeFile) }, []string{"signature: missing"}},
		"changed payload": {func(f map[string][]byte) {
			var e map[string]any
			_ = json.Unmarshal(f[bundle.EnvelopeFile], &e)
			payload, _ := base64.StdEncoding.DecodeString(e["payload"].(string))
			e["payload"] = base64.StdEncoding.EncodeToString(bytes.Replace(payload, []byte(`"full"`), []byte(`"read"`), 1))
			f[bundle.EnvelopeFile], _ = json.Marshal(e)
		}, []string{"statement: the statement contradicts the manifest", "signature: not by the key " + bundle.KeyID(options.PublicKey)}},
		"many signatures": {func(f map[string][]byte) {
			var e map[string]any
			_ = json.Unmarshal(f[bundle.EnvelopeFile], &e)
			e["signatures"] = slices.Repeat(e["signatures"].([]any), 9)
			f[bundle.EnvelopeFile], _ = json.Marshal(e)
		}, []string{"statement: certificate.dsse.json is not a DSSE envelope of an in-toto statement", "signature: not by the key " + bundle.KeyID(options.PublicKey)}},
		"no statement": {func(f map[string][]byte) {
			f[bundle.EnvelopeFile] = []byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":"AAAA"}]}`)
		}, []string{"statement: the payload is not an in-toto statement", "signature: not by the key " + bundle.KeyID(options.PublicKey)}},
	} {
		t.Run(name, func(t *testing.T) {
			files := unpacked(t, written(t, manifest(), vendor))
			c.change(files)
			NewWithT(t).Expect(of(read(t, packed(t, files)).Check(options), bundle.Refuted)).To(Equal(c.refuted))
		})
	}
}

// A forger who can write the manifest still cannot bring in files that no bundle has.
func TestAListedFileMustBePartOfABundle(t *testing.T) {
	files := unpacked(t, written(t, manifest(), nil))
	m := read(t, written(t, manifest(), nil)).Manifest
	empty := sha256.Sum256(nil)
	files["setup.exe"], m.Files["setup.exe"] = nil, bundle.File{SHA256: hex.EncodeToString(empty[:])}
	files[bundle.ManifestFile], _ = m.Encode()
	o := options
	o.PublicKey = nil
	NewWithT(t).Expect(of(read(t, packed(t, files)).Check(o), bundle.Refuted)).To(Equal([]string{`files: extra file: "setup.exe"`}))
}

// An archive with the same members in another form may show other files to another program.
func TestAnotherFormIsRefuted(t *testing.T) {
	g := NewWithT(t)
	files := unpacked(t, written(t, manifest(), vendor))
	again := func(change func(*zip.FileHeader)) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			h := &zip.FileHeader{Name: name, Method: zip.Store}
			change(h)
			to, err := w.CreateHeader(h)
			g.Expect(err).NotTo(HaveOccurred())
			_, _ = to.Write(files[name])
		}
		g.Expect(w.Close()).To(Succeed())
		return b.Bytes()
	}
	local := bytes.Clone(written(t, manifest(), vendor))
	copy(local[30:], "c") // the first name, in its local header
	for name, body := range map[string][]byte{
		"compressed":    again(func(h *zip.FileHeader) { h.Method = zip.Deflate }),
		"stored":        again(func(*zip.FileHeader) {}),
		"dated":         again(func(h *zip.FileHeader) { h.Modified = now }),
		"executable":    again(func(h *zip.FileHeader) { h.SetMode(0o755) }),
		"commented":     again(func(h *zip.FileHeader) { h.Comment = "a comment" }),
		"local header":  local,
		"data in front": behind("#!/bin/sh\n", written(t, manifest(), vendor)),
	} {
		g.Expect(of(read(t, body).Check(options), bundle.Refuted)).To(ConsistOf("form: the archive is not as it was written (use the original file, not one that was packed again)"), name)
	}
}

// behind returns the archive behind other data, with offsets that are right.
func behind(data string, archive []byte) []byte {
	body := append([]byte(data), archive...)
	shift := func(at int) {
		binary.LittleEndian.PutUint32(body[at:], binary.LittleEndian.Uint32(body[at:])+uint32(len(data)))
	}
	for at := len(data); ; at++ {
		next := bytes.Index(body[at:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		at += next
		shift(at + 42)
	}
	shift(len(body) - 6)
	return body
}

// Whatever the archive holds, it is refused as a bundle before much of it is read.
func TestHostileArchivesAreNotBundles(t *testing.T) {
	honest := written(t, manifest(), vendor)
	type entry struct {
		zip.FileHeader
		body string
	}
	own := string(unpacked(t, honest)[bundle.ManifestFile])
	archive := func(entries ...entry) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, e := range append(entries, entry{zip.FileHeader{Name: bundle.ManifestFile}, own}) {
			to, err := w.CreateHeader(&e.FileHeader)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(to, e.body)
		}
		_ = w.Close()
		return b.Bytes()
	}
	named := func(name string) []byte { return archive(entry{FileHeader: zip.FileHeader{Name: name}}) }
	text := func(manifest string) []byte {
		return packed(t, map[string][]byte{bundle.ManifestFile: []byte(manifest)})
	}
	link := zip.FileHeader{Name: "runs/1/results.json"}
	link.SetMode(os.ModeSymlink | 0o777)
	secret := archive(entry{FileHeader: zip.FileHeader{Name: "secret"}})
	for i := 0; ; i++ { // each header of the member
		next := bytes.Index(secret[i:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		i += next
		secret[i+8] |= 1
	}
	// declared returns an archive whose headers say that each of the members has the size.
	declared := func(size uint32, names ...string) []byte {
		var entries []entry
		for _, name := range names {
			entries = append(entries, entry{FileHeader: zip.FileHeader{Name: name}})
		}
		body := archive(entries...)
		for at, rest := 0, names; len(rest) > 0; rest = rest[1:] {
			at += bytes.Index(body[at:], []byte("PK\x01\x02"))
			binary.LittleEndian.PutUint32(body[at+24:], size)
			at++
		}
		return body
	}
	many := func(n int) []byte {
		files := map[string][]byte{bundle.ManifestFile: []byte(own)}
		for i := range n {
			files[fmt.Sprint("file", i)] = nil
		}
		return packed(t, files)
	}
	var listed, reports []string
	for i := range 65 {
		listed = append(listed, fmt.Sprintf(`"file%d":{}`, i))
	}
	for i := range 17 {
		reports = append(reports, bundle.InRun(i+1, bundle.ReportFile))
	}

	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"empty":               {nil, "not a zip archive"},
		"text":                {[]byte(strings.Repeat("no bundle ", 10)), "not a zip archive"},
		"cut off":             {honest[:len(honest)-1], "not a zip archive, or cut off"},
		"data at the end":     {append(bytes.Clone(honest), "<html>"...), "followed by other data"},
		"data in front":       {append([]byte("#!/bin/sh\n"), honest...), "not where it should be"},
		"many members":        {many(100), "101 files"},
		"very many members":   {many(2000), "too large"},
		"comment":             {append(append(bytes.Clone(honest[:len(honest)-2]), 1, 0), 'c'), "followed by other data"},
		"large when unpacked": {declared(64<<20, reports...), "more than 1073741824 bytes"},
		"two of one name":     {archive(entry{FileHeader: zip.FileHeader{Name: bundle.ManifestFile}, body: "{}"}), "two files of the name"},
		"absolute name":       {named("/etc/passwd"), "no name of a file"},
		"parent":              {named("../manifest.json"), "no name of a file"},
		"hidden parent":       {named("runs/1/../../x"), "no name of a file"},
		"backslash":           {named(`runs\1\results.json`), "no name of a file"},
		"drive":               {named("C:x"), "no name of a file"},
		"escape":              {named("a\x1b[2Jb"), "no name of a file"},
		"directory":           {named("runs/1/"), "no name of a file"},
		"long name":           {named(strings.Repeat("n", 101)), "no name of a file"},
		"symbolic link":       {archive(entry{link, "/etc/passwd"}), "not a regular file"},
		"encrypted":           {secret, "encrypted"},
		"bomb":                {declared(64<<20+1, reports[0]), "more than 67108864 bytes"},
		"no manifest":         {packed(t, map[string][]byte{"a": nil}), "manifest.json: file does not exist"},
		"no JSON":             {text("{"), "unexpected EOF"},
		"another version":     {text(`{"version":"2"}`), `version "2", this build reads "1"`},
		"unknown member":      {text(strings.Replace(own, `"level"`, `"color": 1, "level"`, 1)), `unknown field "color"`},
		"wrong type":          {text(strings.Replace(own, `"full"`, `7`, 1)), "cannot unmarshal number into"},
		"wrong date":          {text(strings.Replace(own, `"2026-11-30T11:00:00Z"`, `"yesterday"`, 1)), "cannot parse"},
		"no version":          {text(`{"runs":[{}]}`), `version "", this build reads "1"`},
		"no runs":             {text(`{"version":"1"}`), "0 runs"},
		"many files":          {text(`{"version":"1","runs":[{}],"files":{` + strings.Join(listed, ",") + `}}`), "65 files"},
		"many runs":           {text(`{"version":"1","runs":[{}` + strings.Repeat(",{}", 16) + `]}`), "17 runs"},
	} {
		_, err := bundle.Read(bytes.NewReader(c.body), int64(len(c.body)))
		if !errors.Is(err, bundle.ErrNotBundle) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q: %v", name, c.want, err)
		}
	}
}

// A header that says less than the member holds does not get past the bound.
func TestAMemberIsNoLongerThanItsHeaderSays(t *testing.T) {
	g := NewWithT(t)
	files := unpacked(t, written(t, manifest(), nil))
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, body := range files {
		to, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		g.Expect(err).NotTo(HaveOccurred())
		if name == "badge.svg" {
			body = bytes.Repeat([]byte("0"), 1<<20)
		}
		_, _ = to.Write(body)
	}
	g.Expect(w.Close()).To(Succeed())
	body := b.Bytes()
	at := bytes.LastIndex(body, []byte("badge.svg")) - 46
	binary.LittleEndian.PutUint32(body[at+24:], 6)
	g.Expect(of(read(t, body).Check(bundle.Options{Now: now}), bundle.Refuted)).To(ContainElement(ContainSubstring(`damaged file: bundle: "badge.svg"`)))
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

func TestKeys(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("no openssl")
	}
	g := NewWithT(t)
	directory := t.TempDir()
	made := func(name string, arguments ...string) []byte {
		command := exec.Command(openssl, arguments...)
		command.Dir = directory
		body, err := command.Output()
		g.Expect(err).NotTo(HaveOccurred())
		if name != "" {
			g.Expect(os.WriteFile(filepath.Join(directory, name), body, 0o600)).To(Succeed())
		}
		return body
	}
	pem := made("key.pem", "genpkey", "-algorithm", "ed25519")
	public := made("public.pem", "pkey", "-in", "key.pem", "-pubout")
	key, err := bundle.PrivateKey(pem)
	g.Expect(err).NotTo(HaveOccurred())
	opposite, err := bundle.PublicKey(public)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(key.Public()).To(Equal(opposite))

	rsa := made("rsa.pem", "genrsa", "2048")
	for name, c := range map[string]struct {
		body            []byte
		private, public string
	}{
		"no PEM":          {[]byte("c2VjcmV0"), "not in PEM (openssl genpkey", "not in PEM (openssl pkey"},
		"public":          {public, `of type "PUBLIC KEY" (openssl genpkey`, ""},
		"private":         {pem, "", `of type "PRIVATE KEY" (openssl pkey -in key.pem -pubout`},
		"encrypted":       {made("", "genpkey", "-algorithm", "ed25519", "-aes256", "-pass", "pass:x"), "encrypted (openssl pkey", "encrypted"},
		"RSA":             {rsa, "of another algorithm than ed25519", `of type "PRIVATE KEY"`},
		"RSA, old form":   {made("", "rsa", "-in", "rsa.pem", "-traditional"), `of type "RSA PRIVATE KEY" (openssl genpkey`, `of type "RSA PRIVATE KEY"`},
		"encrypted, old":  {made("", "rsa", "-in", "rsa.pem", "-traditional", "-aes256", "-passout", "pass:x"), "encrypted", "encrypted"},
		"RSA, public":     {made("", "rsa", "-in", "rsa.pem", "-pubout"), `of type "PUBLIC KEY"`, "of another algorithm than ed25519"},
		"ECDSA":           {made("", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"), "of another algorithm", `of type "PRIVATE KEY"`},
		"OpenSSH":         {[]byte("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n"), `of type "OPENSSH PRIVATE KEY" (openssl genpkey`, "OPENSSH"},
		"broken, private": {[]byte("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"), `of type "PRIVATE KEY"`, `of type "PRIVATE KEY"`},
		"broken, public":  {[]byte("-----BEGIN PUBLIC KEY-----\nc2VjcmV0\n-----END PUBLIC KEY-----\n"), `of type "PUBLIC KEY"`, `of type "PUBLIC KEY"`},
	} {
		_, private := bundle.PrivateKey(c.body)
		_, public := bundle.PublicKey(c.body)
		for _, of := range []struct {
			want string
			err  error
		}{{c.private, private}, {c.public, public}} {
			switch {
			case of.want == "":
				g.Expect(of.err).NotTo(HaveOccurred(), name)
			default:
				g.Expect(of.err).To(MatchError(ContainSubstring(of.want)), name)
				g.Expect(of.err).NotTo(MatchError(Or(ContainSubstring("secret"), ContainSubstring("c2VjcmV0"))), name)
			}
		}
	}
}

// The schema is for other programs: it says what this one writes, and nothing else.
func TestTheSchemaSaysWhatIsWritten(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("manifest.schema.json")
	g.Expect(err).NotTo(HaveOccurred())
	schema, err := files.Compile(text)
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
	f.Add(behind("x", written(f, manifest(), stranger)), []byte(`{"version":"1","runs":[{}]}`))
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
