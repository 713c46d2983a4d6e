package certify

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
)

var tampered = flag.Int("tampered", 4, "how many changed bundles TestTampering checks")

var vendor = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

// record records the runs of a nonce on the reference server, and returns their directories.
func record(t *testing.T, nonce string, operations ...string) (dirs []string) {
	t.Helper()
	data := dataset.DefaultOptions()
	data.Rows = 25
	server, err := target.Embedded(t.Context(), data, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.Background()) })
	for _, c := range Challenges(nonce) {
		dir, _ := recorded(t, runner.Config{Target: server, Challenge: &c, Selection: runner.Selection{Operations: operations}})
		dirs = append(dirs, dir)
	}
	return dirs
}

// recorded records a run, and returns its directory.
func recorded(t *testing.T, config runner.Config) (dir string, results reports.Results) {
	t.Helper()
	dir = t.TempDir()
	file, err := os.Create(filepath.Join(dir, bundle.EvidenceFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	config.Version, config.Commit = "test", "abc"
	config.Evidence = evidence.NewRecorder(file, reports.ToolName, "test", profile.Shape)
	if results, err = runner.Run(t.Context(), config); err == nil {
		err = jsonfile.Run.Write(filepath.Join(dir, bundle.ResultsFile), results)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, results
}

func options(nonce string) Options {
	return Options{Level: "full", Nonce: nonce, Program: bundle.ProgramOf("test", "abc", nil), Created: time.Now(), Key: vendor}
}

func pack(t *testing.T, dirs []string, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := Write(&out, dirs, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func verified(t *testing.T, archive []byte, o bundle.Options, reference ...reports.Observation) bundle.Lines {
	t.Helper()
	o.Now = time.Now()
	b, err := bundle.Read(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return bundle.Lines{{What: "bundle", State: bundle.Refuted, Why: err.Error()}}
	}
	l, _ := Verify(t.Context(), b, o, "test", reference)
	return l
}

// Who verifies observes the reference server anew, and sees nearly the same. The page then follows
// from the evidence, unless it shows another resemblance.
func TestThePageAllowsForObservationsAnew(t *testing.T) {
	g := NewWithT(t)
	dir := record(t, "chosen", spec.ListPlacementTests)[0]
	text, err := os.ReadFile(filepath.Join(dir, bundle.ResultsFile))
	g.Expect(err).NotTo(HaveOccurred())
	results, err := jsonfile.Run.Parse(text)
	g.Expect(err).NotTo(HaveOccurred())
	o, seen := options(""), results.Observations
	o.Reference = seen
	archive := pack(t, []string{dir}, o)
	for share, want := range map[float64]string{0: "ok", 0.03: "ok", 0.1: "refuted"} {
		again := seen[int(share*float64(len(seen))):]
		l := verified(t, archive, bundle.Options{}, again...)
		at := slices.IndexFunc(l, func(line bundle.Line) bool { return line.What == bundle.PageFile })
		g.Expect(fmt.Sprint(l[at].State)).To(Equal(want), "%v: %s", share, told(l))
	}
}

func refutedByKey(archive []byte, public ed25519.PublicKey) bool {
	b, err := bundle.Read(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return true
	}
	for _, line := range b.Check(bundle.Options{PublicKey: public, Now: time.Now()}) {
		if line.State == bundle.Refuted {
			return true
		}
	}
	return false
}

func told(l bundle.Lines) string {
	var b strings.Builder
	for _, line := range l {
		fmt.Fprintf(&b, "%s: %s: %s %v\n", line.State, line.What, line.Why, line.More[:min(3, len(line.More))])
	}
	return b.String()
}

// onlySigned are the kinds of changes that only the signature shows: nothing else in a bundle depends
// on what they change.
var onlySigned = []string{"missing signature", "signature by a stranger", "altered exchange"}

// A bundle that somebody has changed is refuted: always with the vendor's key, and without it unless only
// the signature shows the change.
func TestTampering(t *testing.T) {
	g := NewWithT(t)
	honest := pack(t, record(t, "chosen", spec.ListLeadLabels), options("chosen"))
	public := vendor.Public().(ed25519.PublicKey)
	honestly := verified(t, honest, bundle.Options{PublicKey: public, Nonce: "chosen"})
	g.Expect(honestly.State()).To(Equal(bundle.OK), "%s", told(honestly))
	g.Expect(verified(t, honest, bundle.Options{PublicKey: public, Nonce: "another"}).State()).To(Equal(bundle.Refuted))

	for _, claims := range []bool{false, true} { // to be a certificate of the level full
		bundled, err := Apply(honest, Kind{Change: func(t *Tamper) { t.Manifest.Certificate = claims }}, rand.New(rand.NewPCG(1, 1)), true)
		g.Expect(err).NotTo(HaveOccurred())
		for _, level := range []string{"", "full", "read"} {
			refuted := slices.ContainsFunc(verified(t, bundled, bundle.Options{Level: level}), func(l bundle.Line) bool { return l.What == "level" })
			g.Expect(refuted).To(Equal(level != "" && !claims), level)
		}
	}

	for i, kind := range Kinds {
		changed, err := Apply(honest, kind, rand.New(rand.NewPCG(uint64(i), 1)), i%2 == 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(refutedByKey(changed, public)).To(BeTrue(), "%s: the vendor's key does not show it", kind.Name)
	}

	unseen, seen, undecided := map[string]int{}, 0, 0
	order := rand.New(rand.NewPCG(1, 0)).Perm(len(Kinds))
	for i := range *tampered {
		kind, recompute := Kinds[order[i%len(Kinds)]], (i+i/len(Kinds))%2 == 1
		changed, err := Apply(honest, kind, rand.New(rand.NewPCG(uint64(i), 0)), recompute)
		g.Expect(err).NotTo(HaveOccurred())
		if !refutedByKey(changed, public) {
			t.Errorf("%s (%d): the vendor's key does not show it", kind.Name, i)
		}
		switch l := verified(t, changed, bundle.Options{}); l.State() {
		case bundle.Refuted:
			seen++
		case bundle.CannotTell:
			g.Expect(kind.Name).To(Equal("page of another version"), "only the program that made a page can make it again")
			undecided++
		default:
			if !recompute && !kind.Plain {
				t.Errorf("%s (%d): without new digests, it is not seen:\n%s", kind.Name, i, told(l))
			}
			unseen[kind.Name]++
		}
	}
	t.Logf("%d changed bundles: all are refuted with the vendor's key, %d without it, and %d undecided; the rest: %v", *tampered, seen, undecided, unseen)
	for name := range unseen {
		g.Expect(onlySigned).To(ContainElement(name), "a change that only a signature shows")
	}
}

// A recording that fits is judged once. One that does not is judged again, as specs of a
// replay may have met by chance, and is then refused.
func TestRecordingsThatDoNotFitAreJudgedAgain_long(t *testing.T) {
	dirs := record(t, "chosen", spec.ListLeadLabels)
	claimed, err := jsonfile.Run.Read(filepath.Join(dirs[0], bundle.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile(filepath.Join(dirs[0], bundle.EvidenceFile))
	if err != nil {
		t.Fatal(err)
	}
	changed := rezipped(t, recording, "/api/v2/lead-labels?limit=100", "/api/v2/lead-labels?limit=99")
	others := rezipped(t, recording, "/api/v2/lead-labels?limit=1\"", "/api/v2/lead-labels?limit=98\"")
	for name, tc := range map[string]struct {
		bodies [][]byte // of the replays; the last one stands for the rest
		want   bundle.State
		opens  int
	}{
		"fits":                  {[][]byte{recording}, bundle.OK, 1},
		"never fits":            {[][]byte{changed}, bundle.Refuted, maxReplays},
		"fits in another way":   {[][]byte{changed, recording}, bundle.OK, 2},
		"differs in its pauses": {[][]byte{changed, others}, bundle.CannotTell, maxReplays},
	} {
		opened := 0
		_, lines, err := VerifyRun(t.Context(), claimed, func() (io.ReadCloser, error) {
			body := tc.bodies[min(opened, len(tc.bodies)-1)]
			opened++
			return io.NopCloser(bytes.NewReader(body)), nil
		}, "test")
		if err != nil || opened != tc.opens || lines.State() != tc.want {
			t.Errorf("%s: %s after %d replays: %v\n%s", name, lines.State(), opened, err, told(lines))
		}
	}
}

// A budget that no run reaches does not hide what somebody has changed.
func TestABudgetHidesNoChange(t *testing.T) {
	server, err := target.Embedded(t.Context(), dataset.Options{Seed: 1, Rows: 25}, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.Background()) })
	server.Profile.Budget = 1_000_000
	dir, honest := recorded(t, runner.Config{Target: server, Seed: 1, Selection: runner.Selection{Operations: []string{spec.ListLeadLabels}}})
	invented, unlevelled := honest, honest
	invented.Observations, unlevelled.Levels = []reports.Observation{{OpenPoint: spec.OpenPointMessages, Operation: spec.MoveLead, Value: "x", Count: 1}}, nil
	for name, tc := range map[string]struct {
		claimed reports.Results
		want    bundle.State
	}{"honest": {honest, bundle.OK}, "invented observations": {invented, bundle.CannotTell}, "other levels": {unlevelled, bundle.CannotTell}} {
		_, l, err := VerifyRun(t.Context(), tc.claimed, bundle.Path(filepath.Join(dir, bundle.EvidenceFile)), "test")
		if err != nil || l.State() != tc.want {
			t.Errorf("%s: %s instead of %s: %v\n%s", name, l.State(), tc.want, err, told(l))
		}
	}
}

// A recording that nobody can judge again certifies nothing, and refutes nothing.
func TestARecordingMayBeTooLarge_long(t *testing.T) {
	g := NewWithT(t)
	dirs := record(t, "chosen", spec.ListLeadLabels)
	path := filepath.Join(dirs[1], bundle.EvidenceFile)
	recording, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	zip, err := gzip.NewReader(bytes.NewReader(recording))
	g.Expect(err).NotTo(HaveOccurred())
	text, err := io.ReadAll(zip)
	g.Expect(err).NotTo(HaveOccurred())
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	entry, _, _ := bytes.Cut(rest, []byte("\n"))
	body := regexp.MustCompile(`"text":"[^"\\]*(\\.[^"\\]*)*"`)
	file, err := os.Create(path)
	g.Expect(err).NotTo(HaveOccurred())
	out, _ := gzip.NewWriterLevel(file, gzip.BestSpeed)
	_, _ = out.Write(append(head, '\n'))
	for i := range 9 {
		_, _ = out.Write(append(body.ReplaceAll(entry, fmt.Appendf(nil, `"text":"%d%s"`, i, strings.Repeat("a", 32<<20))), '\n'))
	}
	_, _ = out.Write(rest)
	g.Expect(errors.Join(out.Close(), file.Close())).To(Succeed())

	var archive bytes.Buffer
	d, err := Write(&archive, dirs, options("chosen"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Missing).To(ContainElement(ContainSubstring("a recording that can be judged again: entry 8: different bodies have more than 256 MiB")))
	l := verified(t, archive.Bytes(), bundle.Options{})
	g.Expect(l.State()).To(Equal(bundle.CannotTell), "%s", told(l))
}

// rezipped replaces the first such text in a compressed recording.
func rezipped(t *testing.T, recording []byte, text, by string) []byte {
	t.Helper()
	from, err := gzip.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(from)
	if err != nil || !bytes.Contains(plain, []byte(text)) {
		t.Fatalf("no %s in the recording: %v", text, err)
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, _ = zip.Write(bytes.Replace(plain, []byte(text), []byte(by), 1))
	_ = zip.Close()
	return out.Bytes()
}

var honestServers = flag.Int("honest", 1, "on how many servers TestHonestBundles_long records a run")

// No honest bundle is refused, whatever legal surprises the server has, and whether it conforms or not.
func TestHonestBundles_long(t *testing.T) {
	groups := faults.Groups(1, faults.Quirks(), 4)
	defects := faults.Defects()
	for i := range *honestServers {
		apply, name := faults.Combine(groups[i%len(groups)]...).Apply, "quirks"
		if i%4 == 3 {
			d := defects[i*len(defects)/(*honestServers)]
			apply, name = d.Apply, d.ID
		}
		data, err := dataset.New(dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		server, err := refserver.New(data, refserver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := profile.FromDataset(data)
		handler := apply(&faults.Target{Profile: p, Seed: 1})(faults.Serving(server.Handler()))
		dir, results := recorded(t, runner.Config{Target: &target.Target{BaseURL: "http://subject.invalid", Kind: target.KindURL, Profile: p},
			Seed: uint64(i + 1), Transport: faults.RoundTripper(handler, "")})
		l := verified(t, pack(t, []string{dir}, options("")), bundle.Options{PublicKey: vendor.Public().(ed25519.PublicKey), Now: time.Now()})
		t.Logf("server %d (%s): %s, %s %v", i+1, name, results.Verdict, l.State(), results.Troubles)
		if l.State() != bundle.OK {
			t.Errorf("refused:\n%s", told(l))
		}
	}
}
