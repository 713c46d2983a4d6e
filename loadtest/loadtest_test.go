package loadtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/refserver/shape"

	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"

	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// The test binary runs itself for what must not share a process with the generator.
const (
	nullServer      = "null-server"      // size of the body
	referenceServer = "reference-server" // limit of the workspace main, shape
)

func TestMain(m *testing.M) {
	testbed.Main(m, testbed.Roles{
		nullServer: func(args []string) error {
			size, err := strconv.Atoi(args[0])
			if err != nil {
				return err
			}
			return generate.NullServer(bytes.Repeat([]byte("x"), size), os.Stdout, os.Stdin)
		},
		referenceServer: func(args []string) error {
			server, err := start(args[0], args[1])
			if err == nil {
				fmt.Println(server.BaseURL, server.TruthURL)
				_, err = io.Copy(io.Discard, os.Stdin) // its end is that of the parent
			}
			return err
		},
	})
}

// calibrated stands in for the measurement of the generator, which takes seconds
// of every core.
func calibrated(context.Context, generate.CalibrationOptions) (measure.Calibration, error) {
	return measure.Calibration{Ceiling: 10_000, Rate: 5000}, nil
}

// start starts a reference server that limits the workspace main.
func start(limit, shaped string) (*target.Target, error) {
	config, err := shape.Parse(shaped)
	if err != nil {
		return nil, err
	}
	around, err := shape.New(config, 1)
	if err != nil {
		return nil, err
	}
	limits, err := limiter.Parse(limit)
	if err != nil {
		return nil, err
	}
	return target.Embedded(context.Background(), dataset.DefaultOptions(), refserver.Options{
		Limiters:   map[string]limiter.Config{dataset.Main: limits},
		Middleware: []func(http.Handler) http.Handler{around.Middleware},
	})
}

// served is a reference server that is known by its address, as one that somebody else runs.
// With -truth it has a process of its own, so that it does not disturb the generator.
func served(t testing.TB, limit, shaped string) *target.Target {
	t.Helper()
	base, truthURL := "", ""
	if *full {
		command := testbed.Again(t, referenceServer, limit, shaped)
		child := exec.Command(command[0], command[1:]...)
		stdin, inErr := child.StdinPipe()
		stdout, outErr := child.StdoutPipe()
		if err := errors.Join(inErr, outErr, child.Start()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(stdin.Close(), child.Wait()); err != nil {
				t.Errorf("the reference server: %v", err)
			}
		})
		if _, err := fmt.Fscanln(stdout, &base, &truthURL); err != nil {
			t.Fatal(err)
		}
	} else {
		server, err := start(limit, shaped)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close(context.Background()) })
		base, truthURL = server.BaseURL, server.TruthURL
	}
	found, err := target.URL(profile.Embedded(), base)
	if err != nil {
		t.Fatal(err)
	}
	found.TruthURL = truthURL
	return found
}

// within is the server for a run that waits so long for a response; 0 is as long as usual.
func within(t testing.TB, timeout time.Duration, server *target.Target) *target.Target {
	t.Helper()
	if timeout == 0 {
		return server
	}
	impatient := *server.Profile
	impatient.Pace.Timeout = timeout
	found, err := target.URL(&impatient, server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	found.TruthURL = server.TruthURL
	return found
}

// truthOf asks the server what it did.
func truthOf(t testing.TB, server *target.Target) refserver.TruthReport {
	t.Helper()
	return testbed.Record(t, server.TruthURL)
}

// forget empties the server's record once all that was sent is in it.
func forget(t testing.TB, server *target.Target) {
	t.Helper()
	testbed.Record(t, server.TruthURL)
	answer, err := http.Post(server.TruthURL+"/truth/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}

// reading is a scenario that asks for small pages.
func reading(rate float64, lasts time.Duration) scenario.Scenario {
	return scenario.Scenario{Name: "reading", About: "Small pages.", Kind: scenario.Steady,
		Mix: map[string]int{spec.ListLeadLists: 1}, Limits: []int{1}, Rate: rate, Duration: lasts}
}

// writing is a scenario that creates, deletes and moves.
func writing(rate float64, lasts time.Duration) scenario.Scenario {
	return scenario.Scenario{Name: "writing", About: "Changes of all kinds that can be put back.", Kind: scenario.Steady,
		Mix:  map[string]int{spec.ListLeadLists: 3, spec.CreatePlacementTest: 1, spec.DeletePlacementTest: 1, spec.MoveAccounts: 1, spec.GetPlacementTest: 1},
		Rate: rate, Duration: lasts}
}

func TestConsent(t *testing.T) {
	for _, tc := range []struct {
		base     string
		consents []string
		ok       bool
	}{
		{"http://127.0.0.1:8025", nil, true},
		{"http://[::1]:80/prefix", nil, true},
		{"http://localhost:8025", nil, true},
		{"http://localhost.:8025", nil, true},
		{"https://api.example.com", nil, false},
		{"https://api.example.com", []string{"api.example.com"}, true},
		{"https://api.example.com", []string{"example.com"}, false},
		{"http://localhost.example.com", nil, false},
		{"http://127.0.0.1.example.com", nil, false},
		{"http://0.0.0.0:8025", nil, false},
	} {
		err := loadtest.Consented(tc.base, tc.consents...)
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, loadtest.ErrConsent) {
			t.Errorf("%s with %q: %v", tc.base, tc.consents, err)
		}
		if err != nil && !strings.Contains(err.Error(), "--consent") {
			t.Errorf("%v does not say what to do", err)
		}
	}
	if err := loadtest.Consented("no address"); err == nil || errors.Is(err, loadtest.ErrConsent) {
		t.Errorf("an address without a host: %v", err)
	}
}

// elsewhere is the server at an address that is not known to be this machine.
func elsewhere(t *testing.T, server *target.Target) *target.Target {
	t.Helper()
	u, err := url.Parse(server.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	found, err := target.URL(profile.Embedded(), "http://0.0.0.0:"+u.Port())
	if err != nil {
		t.Fatal(err)
	}
	found.TruthURL = server.TruthURL
	return found
}

// Without consent nothing is sent, not even for calibration or preparation.
func TestNothingIsSentWithoutConsent(t *testing.T) {
	t.Parallel()
	here := served(t, "", "")
	away := elsewhere(t, here)
	config := loadtest.Config{Target: away, Scenarios: []scenario.Scenario{writing(20, time.Second)}, ByName: true, JournalDir: t.TempDir()}
	if _, err := loadtest.Run(t.Context(), config); !errors.Is(err, loadtest.ErrConsent) {
		t.Errorf("a run: %v", err)
	}
	config.Target = here
	if _, err := loadtest.Compare(t.Context(), config, away, verdict.LeastPairsOf(1)); !errors.Is(err, loadtest.ErrConsent) {
		t.Errorf("a comparison: %v", err)
	}
	if record := truthOf(t, here); record.Total > 0 {
		t.Errorf("%d requests were sent: %+v", record.Total, record.Requests)
	}
	if pending, err := sandbox.FindPending(config.JournalDir); err != nil || len(pending) > 0 {
		t.Errorf("journals: %+v, %v", pending, err)
	}
	config.Target, config.Consent, config.Scenarios = away, []string{"0.0.0.0"}, []scenario.Scenario{reading(20, 200*time.Millisecond)}
	if _, err := loadtest.Run(t.Context(), config); err != nil || truthOf(t, here).Total == 0 {
		t.Errorf("with consent: %v", err)
	}
}

// stateOf is what a run may change on the reference server.
func stateOf(t *testing.T, server *target.Target) (state refserver.State, tests map[string]bool) {
	t.Helper()
	testbed.Get(t, server.TruthURL+"/state", "", &state)
	key, _ := server.Profile.FullKey(dataset.Main)
	tests = map[string]bool{}
	for _, id := range testbed.Listed(t, server.BaseURL+"/api/v2/inbox-placement-tests", key.Token) {
		tests[id] = true
	}
	return state, tests
}

// After a run and the clean-up, what the run has created and moved is as before.
func TestCleanupPutsEverythingBack(t *testing.T) {
	t.Parallel()
	server := served(t, "", "")
	before, testsBefore := stateOf(t, server)
	dir := t.TempDir()
	o, err := loadtest.Run(t.Context(), loadtest.Config{Target: server, Calibrate: calibrated, Scenarios: []scenario.Scenario{writing(70, time.Second)}, ByName: true,
		Seed: 1, Terms: verdict.Terms{LagLimit: time.Hour}, JournalDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if o.Results.Verdict != reports.Passed {
		t.Errorf("%s: %q", o.Results.Verdict, o.Results.Reasons)
	}
	changed, testsChanged := stateOf(t, server)
	if reflect.DeepEqual(before.Accounts, changed.Accounts) || len(testsChanged) <= len(testsBefore) {
		t.Fatal("the run has changed nothing that would have to be put back")
	}
	done, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, dir, nil)
	if err != nil || len(done) == 0 {
		t.Errorf("%q, %v", done, err)
	}
	after, testsAfter := stateOf(t, server)
	if !reflect.DeepEqual(before.Accounts, after.Accounts) {
		t.Errorf("accounts were %v, and are %v", before.Accounts, after.Accounts)
	}
	if !maps.Equal(testsBefore, testsAfter) {
		t.Errorf("there were %d tests, and there are %d", len(testsBefore), len(testsAfter))
	}
	if pending, err := sandbox.FindPending(dir); err != nil || len(pending) > 0 {
		t.Errorf("journals are left: %+v, %v", pending, err)
	}
}

// Shards have the budget together, and so do two targets.
func TestTheBudgetIsOfTheWholeRun(t *testing.T) {
	t.Parallel()
	server := served(t, "", "")
	config := loadtest.Config{Target: server, Calibrate: calibrated, Scenarios: []scenario.Scenario{reading(100, time.Second)}, ByName: true, JournalDir: t.TempDir(), Seed: 1, Terms: verdict.Terms{LagLimit: time.Hour}}
	for budget, want := range map[int]reports.Verdict{102: reports.Inconclusive, 104: reports.Passed} { // of which 50, the calibration and the question whether the key will do are this shard's
		server.Profile.Load = &profile.LoadUse{Budget: budget}
		config.Shard = measure.Shard{Index: 1, Of: 2}
		if o, err := loadtest.Run(t.Context(), config); err != nil || o.Results.Verdict != want {
			t.Errorf("a shard within %d requests: %s %q, %v", budget, o.Results.Verdict, o.Results.Reasons, err)
		}
	}
	config.Shard, config.Scenarios[0].Duration = measure.Shard{}, 100*time.Millisecond
	server.Profile.Load = &profile.LoadUse{Budget: 35}
	forget(t, server)
	o, err := loadtest.Compare(t.Context(), config, server, 2)
	if err != nil || o.Results.Verdict != reports.Inconclusive || truthOf(t, server).Total > 35 {
		t.Errorf("a comparison: %s %q after %d requests, %v", o.Results.Verdict, o.Results.Reasons, truthOf(t, server).Total, err)
	}
}

// Parts that are not one complete run say nothing of the target. What does not fit is named
// by its shard and by where it was read.
func TestPartsThatDoNotFit(t *testing.T) {
	read := func(source string, p loadtest.Part) loadtest.Part {
		parts, err := loadtest.ReadParts(source, bytes.NewReader(line(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		return parts[0]
	}
	one, two := read("one.json", part(t, 0, 2)), read("two.json", part(t, 1, 2))
	changed := func(change func(p *loadtest.Part)) []loadtest.Part {
		p := read("two.json", part(t, 1, 2))
		change(&p)
		return []loadtest.Part{p, one}
	}
	for name, tc := range map[string]struct {
		parts []loadtest.Part
		says  string
	}{
		"missing":           {[]loadtest.Part{two}, "shard 1 of 2 is missing"},
		"doubled":           {[]loadtest.Part{one, two, two}, "shard 2 of 2 is present twice"},
		"another seed":      {changed(func(p *loadtest.Part) { p.Results.Run.Seed++ }), "shard 2 (two.json:1) has different scenarios, settings or seed"},
		"another rate":      {changed(func(p *loadtest.Part) { p.Scenarios[0].Rate++ }), "different scenarios, settings"},
		"another threshold": {changed(func(p *loadtest.Part) { p.Thresholds = []string{"max<2s"} }), "different scenarios, settings"},
		"another target":    {changed(func(p *loadtest.Part) { p.Results.Target.BaseURL = "http://elsewhere" }), "loaded http://elsewhere"},
		"another number":    {changed(func(p *loadtest.Part) { p.Results.Run.Shard.Of = 5 }), "is of 2 shards, shard 2 (two.json:1) of 5"},
		"no such shard":     {changed(func(p *loadtest.Part) { p.Results.Run.Shard.Index = 9 }), "there is no shard 9 of 2"},
		"broken off":        {changed(func(p *loadtest.Part) { p.Outcomes = nil }), "stopped after"},
		"interrupted":       {changed(func(p *loadtest.Part) { p.Results.Run.Interrupted = true }), "interrupted"},
		"another start": {changed(func(p *loadtest.Part) { p.Outcomes[0].Recordings[0].Start = time.Unix(1, 0) }),
			"phase steady of reading began at 2001-09-09T01:46:40Z in shard 1 (one.json:1), at 1970-01-01T00:00:01Z in shard 2 (two.json:1) (give all shards the same --start-at)"},
		"a phase less": {changed(func(p *loadtest.Part) { p.Outcomes[0].Recordings = nil }), "phases"},
	} {
		o := loadtest.Merge(tc.parts, nil, nil)
		if reasons := strings.Join(o.Results.Reasons, "\n"); o.Results.Verdict != reports.Inconclusive || !strings.Contains(reasons, tc.says) {
			t.Errorf("%s: %s: %s; want %q", name, o.Results.Verdict, reasons, tc.says)
		}
	}
	if o := loadtest.Merge([]loadtest.Part{two, one}, nil, nil); o.Results.Verdict != reports.Passed || o.Results.Scenarios[0].Phases[0].Sent != 10 {
		t.Errorf("what fits: %s %q", o.Results.Verdict, o.Results.Reasons)
	}
}

// A merge judges by the thresholds of the shards, unless one of its own bounds the figure.
func TestAMergeKeepsTheThresholdsOfTheShards(t *testing.T) {
	var parts []loadtest.Part
	for i := range 2 { // every response takes 1 ms
		p := part(t, i, 2)
		p.Thresholds = []string{"max<1us"}
		read, err := loadtest.ReadParts("parts", bytes.NewReader(line(t, p)))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, read...)
	}
	for given, want := range map[string]reports.Verdict{"": reports.Failed, "errors<50%": reports.Failed, "max<2s": reports.Passed} {
		thresholds, err := measure.ParseThresholds(slices.DeleteFunc([]string{given}, func(text string) bool { return text == "" }))
		if err != nil {
			t.Fatal(err)
		}
		if o := loadtest.Merge(parts, thresholds, nil); o.Results.Verdict != want {
			t.Errorf("with %q: %s %q, want %s", given, o.Results.Verdict, o.Results.Reasons, want)
		}
	}
}

// part is a small share of a run, made up.
func part(t testing.TB, index, of int) loadtest.Part {
	t.Helper()
	s := reading(10, time.Second)
	recorder := measure.NewRecorder("steady", time.Unix(1e9, 0), measure.Constant(10, time.Second))
	for n := range 10 / of {
		due := time.Duration(n*of+index) * 100 * time.Millisecond
		recorder.Add(measure.Sample{Seq: uint64(n*of + index), Label: "list", Due: due, Sent: due, Done: due + time.Millisecond, Status: 200})
	}
	o := verdict.Outcome{Recordings: []measure.Recording{recorder.Recording()}, Traffic: load.Traffic{Statuses: map[string]int64{"200": int64(10 / of)}}}
	o.Name = s.Name
	results := load.Results{Version: load.ModelVersion, Run: load.Run{Seed: 1, Shard: &load.Shard{Index: index + 1, Of: of}}, Scenarios: []load.Scenario{o.Scenario}}
	return loadtest.Part{Version: loadtest.PartVersion, Scenarios: []scenario.Scenario{s}, Results: results, Outcomes: []verdict.Outcome{o}}
}

// termsOf returns what the shard that wrote the part was judged by.
func termsOf(t testing.TB, p loadtest.Part) verdict.Terms {
	t.Helper()
	thresholds, err := measure.ParseThresholds(p.Thresholds)
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Terms{LagLimit: p.LagLimit, Thresholds: thresholds}
}

func line(t testing.TB, p loadtest.Part) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := loadtest.WritePart(&b, loadtest.Outcome{Results: p.Results, Parts: p.Outcomes}, p.Scenarios, termsOf(t, p)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDamagedPartsAreErrors(t *testing.T) {
	good := string(line(t, part(t, 0, 2)))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("there is no %s in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	whole := part(t, 0, 2)
	whole.Results.Run.Shard = nil
	other := part(t, 0, 2)
	other.Results.Scenarios[0].Name = "another"
	for name, tc := range map[string]struct{ text, says string }{
		"nothing":                   {"\n\n", "parts: contains no part"},
		"broken off":                {good + good[:len(good)/2], "parts:2: "},
		"an unknown key":            {replace(`{"version"`, `{"extra":1,"version"`), `unknown field "extra"`},
		"another version":           {replace(`"version":"4"`, `"version":"99"`), `its version is "99"`},
		"something behind":          {strings.TrimSpace(good) + " {}\n", "trailing data"},
		"a whole run":               {string(line(t, whole)), "a whole run, not a shard"},
		"another's outcome":         {string(line(t, other)), `found the outcome of "another", want that of "reading"`},
		"a threshold that is wrong": {replace(`"scenarios"`, `"thresholds":["p99"],"scenarios"`), "threshold"},
		"a scenario that is wrong":  {replace(`"Rate":10`, `"Rate":-10`), "rate"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := loadtest.ReadParts("parts", strings.NewReader(tc.text)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
	if parts, err := loadtest.ReadParts("parts", strings.NewReader("\n"+good+"\n"+good)); err != nil || len(parts) != 2 {
		t.Errorf("%d parts, %v", len(parts), err)
	}
}

// Whatever the bytes are: what is accepted can be merged, judged and written again.
func FuzzReadParts(f *testing.F) {
	for i := range 2 {
		f.Add(line(f, part(f, i, 2)))
	}
	f.Add(slices.Concat(line(f, part(f, 1, 2)), line(f, part(f, 0, 2))))
	f.Add(line(f, part(f, 0, 1)))
	f.Add([]byte(`{"version":"4"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, err := loadtest.ReadParts("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		o := loadtest.Merge(parts, nil, nil)
		if o.Results.Verdict == "" {
			t.Error("no verdict")
		}
		var sent int64
		for _, s := range o.Results.Scenarios {
			for _, p := range s.Phases {
				sent += p.Sent
			}
		}
		if sent < 0 || math.IsNaN(o.Results.Run.Seconds) {
			t.Errorf("sent %d", sent)
		}
		var again bytes.Buffer
		for _, p := range parts {
			if err := loadtest.WritePart(&again, loadtest.Outcome{Results: p.Results, Parts: p.Outcomes}, p.Scenarios, termsOf(t, p)); err != nil {
				t.Fatal(err)
			}
		}
		if read, err := loadtest.ReadParts("again", &again); err != nil || len(read) != len(parts) {
			t.Errorf("what was read cannot be read again: %d parts, %v", len(read), err)
		}
	})
}
