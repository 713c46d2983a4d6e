package runner

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/refserver/limiter"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
)

var (
	runs = flag.Int("runs", 2, "how many runs TestSteady compares, and one more than TestTwoRunsOnOneServer makes pairs")
	rows = flag.Int("rows", 60, "rows in each list of the embedded target")
)

// embedded starts a reference server that lives as long as the test.
func embedded(t *testing.T) *target.Target {
	t.Helper()
	return living(t, start)
}

// living starts a server that lives as long as the test.
func living(t *testing.T, start func() (*target.Target, error)) *target.Target {
	t.Helper()
	server, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return server
}

func start() (*target.Target, error) { return startWith(*rows) }

// startWith starts a reference server with that many rows in each list.
func startWith(rows int) (*target.Target, error) {
	return withRows(rows, refserver.Options{})
}

// withRows does the same with options. Servers with as many rows share the data, since to
// generate them takes longer than many a test.
func withRows(rows int, options refserver.Options) (*target.Target, error) {
	data := dataset.DefaultOptions()
	data.Rows = rows
	generate, _ := generated.LoadOrStore(rows, sync.OnceValues(func() (*refserver.Loaded, error) { return refserver.Generate(data) }))
	loaded, err := generate.(func() (*refserver.Loaded, error))()
	if err != nil {
		return nil, err
	}
	return target.EmbeddedWith(context.Background(), loaded, options)
}

// generated holds a func() (*refserver.Loaded, error) for each number of rows.
var generated sync.Map

// startSteady starts a reference server that has the same verdicts on a busy machine. The
// period of its rate limit is so long that a busy machine exceeds the limit in time, too.
func startSteady() (*target.Target, error) { return limitedPer(4*time.Second, *rows) }

// limitedPer starts a reference server whose limited key may send its requests once per
// period.
func limitedPer(period time.Duration, rows int) (*target.Target, error) {
	return limitedBy(time.Now, period, rows)
}

// limitedBy does the same with a clock of its own.
func limitedBy(clock func() time.Time, period time.Duration, rows int) (*target.Target, error) {
	layer := limiter.Layer{Kind: limiter.FixedWindow, Limit: refserver.LimitedRequests, Per: period}
	t, err := withRows(rows, refserver.Options{
		Clock:    clock,
		Limiters: map[string]limiter.Config{dataset.Limited: {Layers: []limiter.Layer{layer}}},
	})
	if err == nil {
		t.Profile.RateLimit.Requests, t.Profile.RateLimit.Per = refserver.LimitedRequests, period
	}
	return t, err
}

// rules are compiled once for all tests.
var rules = sync.OnceValues(judge.NewRules)

// judged runs the config, whose results must not contradict themselves.
func judged(t *testing.T, ctx context.Context, config Config) reports.Results {
	t.Helper()
	var err error
	if config.Rules, err = rules(); err != nil {
		t.Fatal(err)
	}
	config.Version = "test"
	if described := *config.Target.Profile; described.VisibleWithin == 0 { // nothing shows late here
		described.VisibleWithin = time.Millisecond
		asked := config.Target
		config.Target = &target.Target{BaseURL: asked.BaseURL, Kind: asked.Kind, TLS: asked.TLS, Profile: &described}
	}
	if config.Seed == 0 {
		config.Seed = 1
	}
	results, err := Run(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	if err := readable(results); err != nil {
		t.Fatal(err)
	}
	if n := results.Traffic.Unjudged; n != 0 && !results.Run.Interrupted {
		t.Errorf("%d responses without a verdict", n)
	}
	return results
}

// firstRun is the full run of seed 1 that the others are held against.
var firstRun = sync.OnceValues(func() (reports.Results, error) {
	server, err := startSteady()
	if err != nil {
		return reports.Results{}, err
	}
	defer func() { _ = server.Close(context.Background()) }()
	return Run(context.Background(), Config{Target: server, Seed: 1, Version: "test"})
})

func first(t *testing.T) reports.Results {
	t.Helper()
	results, err := firstRun()
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// roundTripper is a function that stands in for the network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// CloseIdleConnections lets the server stop at once: it waits for connections
// that carried no request.
func (f roundTripper) CloseIdleConnections() {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// of returns the checks with the outcome, as "requirement on operation".
func of(results reports.Results, outcome reports.Outcome) []string {
	names := []string{}
	for _, c := range results.Checks {
		if c.Outcome == outcome {
			names = append(names, c.Requirement+" on "+c.Operation)
		}
	}
	return names
}

// unproven says of each check that did not pass what it lacked or found.
func unproven(results reports.Results) []string {
	var lines []string
	all := found(results)
	for _, c := range results.Checks {
		if name := c.Requirement + " on " + c.Operation; c.Outcome != reports.Pass {
			lines = append(lines, name+": "+all[name])
		}
	}
	return lines
}

// differences says how two runs differ in what they found, a line each.
func differences(one, other reports.Results) []string {
	var lines []string
	compare := func(one, other map[string]string) {
		all := maps.Clone(one)
		maps.Copy(all, other)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if one[name] != other[name] {
				lines = append(lines, fmt.Sprintf("%s: %q and %q", name, one[name], other[name]))
			}
		}
	}
	compare(found(one), found(other))
	compare(observed(one), observed(other))
	return lines
}

// found are the outcomes with all that explains them.
func found(results reports.Results) map[string]string {
	all := map[string]string{"verdict": fmt.Sprint(results.Verdict, results.Reasons), "troubles": fmt.Sprint(results.Troubles)}
	for _, c := range results.Checks {
		text := fmt.Sprint(c.Outcome, c.Missing)
		for _, v := range c.Violations {
			text += fmt.Sprintf("\n  %s: expected %s, got %s (%s)\n  %s", v.Pointer, v.Expected, v.Actual, v.Spec, v.Curl)
		}
		all[c.Requirement+" on "+c.Operation] = text
	}
	return all
}

// observed are the observations without their counts: how often something
// shows depends on how many requests it took to meet a rate limit. The seconds of
// Retry-After depend on how much is left of the limit's period.
func observed(results reports.Results) map[string]string {
	all := map[string]string{}
	for _, o := range results.Observations {
		if o.OpenPoint == spec.OpenPointRetryAfter {
			o.Value = ""
		}
		all[o.OpenPoint+" on "+o.Operation+" "+o.Value] = "observed"
	}
	return all
}

// The same target is judged alike whatever the order of the specs, what they
// meet each other doing, and what is generated.
func TestSteady(t *testing.T) {
	if testbed.RaceDetector {
		t.Skip("make nightly runs it; TestTwoRunsOnOneServer is for the race detector")
	}
	t.Parallel()
	base := first(t)
	if base.Verdict != reports.Passed || len(of(base, reports.Pass)) != len(spec.Pairs()) {
		t.Fatalf("the reference server: %s %v; troubles: %v\n%s",
			base.Verdict, base.Reasons, base.Troubles, strings.Join(unproven(base), "\n"))
	}
	if len(base.Observations) == 0 {
		t.Fatal("nothing was observed")
	}
	for seed := 2; seed <= *runs; seed++ {
		results := judged(t, t.Context(), Config{Target: living(t, startSteady), Seed: uint64(seed)})
		if different := differences(base, results); len(different) > 0 {
			t.Errorf("seeds 1 and %d:\n%s", seed, strings.Join(different, "\n"))
		}
	}
}

func TestDifferencesAreSeen(t *testing.T) {
	base := reports.Results{
		Checks:       []reports.Check{{Requirement: "STATUS-200", Operation: "x", Outcome: reports.Pass}},
		Observations: []reports.Observation{{OpenPoint: spec.OpenPointDirection, Operation: "x", Value: "asc", Count: 1}},
	}
	g := NewWithT(t)
	again := base
	again.Observations = []reports.Observation{{OpenPoint: spec.OpenPointDirection, Operation: "x", Value: "asc", Count: 7}}
	g.Expect(differences(base, again)).To(BeEmpty())
	for name, change := range map[string]func(*reports.Results){
		"verdict": func(r *reports.Results) { r.Verdict = reports.Inconclusive },
		"trouble": func(r *reports.Results) { r.Troubles = []reports.Trouble{{Where: "x", What: "y"}} },
		"outcome": func(r *reports.Results) {
			r.Checks = []reports.Check{{Requirement: "STATUS-200", Operation: "x", Outcome: reports.Fail}}
		},
		"check":       func(r *reports.Results) { r.Checks = nil },
		"observation": func(r *reports.Results) { r.Observations = nil },
	} {
		changed := base
		change(&changed)
		g.Expect(differences(base, changed)).NotTo(BeEmpty(), name)
	}
}

// A server that is already there is judged like the one in this process.
func TestEmbeddedAndURLAgree_long(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	there, err := target.URL(server.Profile, server.BaseURL)
	g.Expect(err).NotTo(HaveOccurred())
	results := judged(t, t.Context(), Config{Target: there})
	g.Expect(results.Target.Kind).To(Equal(target.KindURL))
	g.Expect(differences(first(t), results)).To(BeEmpty())
}

func TestResultsTellWhatWasAskedFor(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	var counted atomic.Int64
	results := judged(t, t.Context(), Config{Target: server, Seed: 7,
		Selection: Selection{Profiles: []spec.Profile{spec.ProfileShape}, Operations: []string{spec.ListPhoneNumbers}},
		Observe:   func(client.Exchange) { counted.Add(1) }})
	g.Expect(results.Tool.Name).To(Equal(reports.ToolName))
	g.Expect(results.Tool.Version).To(Equal("test"))
	g.Expect(results.Target).To(Equal(reports.Target{Name: server.Profile.Name, Version: server.Profile.Version,
		Vendor: server.Profile.Vendor, BaseURL: server.BaseURL, Kind: target.KindEmbedded}))
	g.Expect(results.Run.Profile).To(Equal("shape"))
	g.Expect(results.Run.Selection).To(Equal("--operation phone-numbers.list"))
	g.Expect(results.Run.Seed).To(BeEquivalentTo(7))
	g.Expect(results.Run.Specs).To(BeNumerically(">", 0))
	g.Expect(results.Traffic.Requests).To(And(BeNumerically(">", 0), BeEquivalentTo(counted.Load())))
	for _, c := range results.Checks {
		g.Expect(c.Operation).To(Equal(spec.ListPhoneNumbers))
		r, _ := spec.FindRequirement(c.Requirement)
		g.Expect(r.Profile).To(Equal(spec.ProfileShape))
	}
	g.Expect(results.Verdict).To(Equal(reports.Passed))
}

// Mistakes of the caller are errors; nothing is sent.
func TestRunRefuses(t *testing.T) {
	unsent := roundTripper(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, http.ErrServerClosed
	})
	server := embedded(t)
	_, err := Run(t.Context(), Config{Target: server, Transport: unsent, Selection: Selection{Operations: []string{"no-such"}}})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("no-such")))

	elsewhere := *server.Profile
	there, err := target.URL(&elsewhere, server.BaseURL)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	there.BaseURL = "nonsense"
	_, err = Run(t.Context(), Config{Target: there, Transport: unsent})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("nonsense")))
}

// readable returns an error if the JSON form of the results breaks their schema.
func readable(r reports.Results) error {
	body, err := jsonfile.Run.Encode(r)
	if err == nil {
		_, err = jsonfile.Run.Parse(body)
	}
	return err
}
