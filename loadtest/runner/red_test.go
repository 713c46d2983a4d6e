package runner

import (
	"bytes"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// fault is a fault of a server, and what a scenario must report.
type fault struct {
	name  string
	lay   func(*testing.T) middleware
	says  string      // part of a reason of the verdict
	finds []spec.Pair // requirements that are found broken
}

// reds are short scenarios, each with an honest server and the faults that it must
// find.
var reds = []struct {
	scenario string
	change   func(*scenario.Scenario)
	honest   func(*testing.T) []middleware // what lies around every server of the case
	faults   []fault
}{
	{
		scenario: "list-throughput",
		change: func(s *scenario.Scenario) {
			s.Limits, s.Duration, s.Warmup, s.Thresholds = []int{1, 10}, 2*time.Second, 0, []string{"errors<1%", "p99<500ms"}
		},
		faults: []fault{
			{name: "stalls", lay: shapedBy("stall=800ms/1s"), says: "p99<500ms missed"},
			{name: "fails", lay: shapedBy("errors=20%"), says: "errors<1% missed", finds: []spec.Pair{{Requirement: "STATUS-200", Operation: spec.ListLeadLists}}},
			{name: "a row of the wrong shape", lay: defectOf("inbox-placement-tests.list/id-as-a-number"),
				finds: []spec.Pair{{Requirement: "SHAPE-INBOX_PLACEMENT_TEST-ID-TYPE", Operation: spec.ListPlacementTests}}},
			{name: "more rows than were asked for", lay: defectOf("lead-lists.list/serves-10-rows-a-page-for-any-limit"),
				finds: []spec.Pair{{Requirement: "PAGE-LIMIT-HONOURED", Operation: spec.ListLeadLists}}},
			{name: "another workspace's row", lay: transformed(strangersRow),
				finds: []spec.Pair{{Requirement: "ISOLATION-OWNER", Operation: spec.ListPlacementTests}}},
		},
	},
	{
		scenario: "sustained-rate",
		change: func(s *scenario.Scenario) {
			s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup = 100, 400, time.Second, 2*time.Second, 0
			s.Limits, s.Thresholds = []int{1}, []string{"p50<150ms", "sustained>=350/s"}
		},
		faults: []fault{{name: "saturates", lay: shapedBy("capacity=200/1s"), says: "sustained>=350/s missed"}},
	},
	{
		scenario: "page-depth",
		change: func(s *scenario.Scenario) {
			s.Mix, s.Pages, s.Duration, s.Warmup = map[string]int{spec.ListWebhookEvents: 1}, []int{1, 10, 100}, time.Second, 0
			s.Thresholds = []string{"depth<3x"}
		},
		honest: func(t *testing.T) []middleware { return []middleware{shapedBy("100%:30ms")(t)} },
		faults: []fault{{name: "deep pages are slow", lay: laid(slowWhen(100*time.Millisecond, func(r *http.Request, _ int64) bool { return r.URL.Query().Has("starting_after") })),
			says: "depth<3x missed"}},
	},
	{
		scenario: "walk",
		change: func(s *scenario.Scenario) {
			s.Mix, s.Clients, s.Limits = map[string]int{spec.ListLeadLists: 1}, 2, []int{7, 100}
			s.Duration, s.Thresholds = time.Second, nil
		},
		faults: []fault{
			{name: "repeats a row", lay: defectOf("lead-lists.list/starts-each-page-with-the-last-row-of-the-previous-page"), finds: []spec.Pair{{Requirement: "PAGE-WALK-ONCE", Operation: spec.ListLeadLists}}},
			{name: "drops a row", lay: defectOf("lead-lists.list/skips-a-row-between-two-pages"), finds: []spec.Pair{{Requirement: "PAGE-WALK-COMPLETE", Operation: spec.ListLeadLists}}},
			{name: "does not end", lay: defectOf("lead-lists.list/links-the-last-page-to-itself"), finds: []spec.Pair{{Requirement: "PAGE-WALK-ENDS", Operation: spec.ListLeadLists}}},
			{name: "small pages in another order", lay: defectOf("lead-lists.list/shows-small-pages-in-reverse-order"), finds: []spec.Pair{{Requirement: "PAGE-WALK-SEQUENCE", Operation: spec.ListLeadLists}}},
		},
	},
	{
		scenario: "mixed",
		change: func(s *scenario.Scenario) {
			s.Limits, s.Duration, s.Warmup, s.Thresholds = []int{10}, time.Second, 0, []string{"errors<5%"}
		},
		faults: []fault{
			{name: "a deletion fails", lay: defectOf("inbox-placement-tests.delete/refuses-a-key-that-has-the-permission-in-every-third-response"),
				finds: []spec.Pair{{Requirement: "STATUS-200", Operation: spec.DeletePlacementTest}}},
			{name: "another test than was asked for", lay: defectOf("inbox-placement-tests.get/shows-another-id-in-a-get"),
				finds: []spec.Pair{{Requirement: "STATE-GET-LIST", Operation: spec.GetPlacementTest}}},
			{name: "another test than was deleted", lay: defectOf("inbox-placement-tests.delete/answers-a-deletion-with-another-id"),
				finds: []spec.Pair{{Requirement: "STATE-DELETE-ANSWER", Operation: spec.DeletePlacementTest}}},
			{name: "a creation without a field", lay: defectOf("inbox-placement-tests.create/name-not-at-all"),
				finds: []spec.Pair{{Requirement: "SHAPE-INBOX_PLACEMENT_TEST-NAME-PRESENT", Operation: spec.CreatePlacementTest}}},
			{name: "a creation without the id", lay: defectOf("inbox-placement-tests.create/id-not-at-all"),
				finds: []spec.Pair{{Requirement: "SHAPE-INBOX_PLACEMENT_TEST-ID-PRESENT", Operation: spec.CreatePlacementTest}}},
		},
	},
	{
		scenario: "spike",
		change: func(s *scenario.Scenario) {
			s.Rate, s.Burst, s.Duration, s.Warmup, s.Thresholds = 40, 160, 3*time.Second, 0, []string{"errors<5%"}
		},
		honest: func(t *testing.T) []middleware { return []middleware{shapedBy("100%:100ms")(t)} },
		faults: []fault{{name: "stays slow after the burst", lay: laid(slowWhen(300*time.Millisecond, func(_ *http.Request, n int64) bool { return n > 100 })),
			says: "after the burst the median response time did not recover"}},
	},
	{
		scenario: "soak",
		change:   func(s *scenario.Scenario) { s.Rate, s.Duration, s.Warmup, s.Thresholds = 20, time.Minute, 0, nil },
		honest:   func(t *testing.T) []middleware { return []middleware{shapedBy("100%:20ms")(t)} },
		faults:   []fault{{name: "gets slower", lay: shapedBy("drift=20ms/1s"), says: "response p50 rose under steady load"}},
	},
}

// Each scenario passes on an honest server and fails on each of the faults that it
// must find.
func TestScenariosTellFaults_long(t *testing.T) {
	for _, tc := range reds {
		t.Run(tc.scenario, func(t *testing.T) {
			t.Parallel()
			s := builtinScenario(t, tc.scenario, tc.change)
			around := func(t *testing.T) []middleware {
				if tc.honest == nil {
					return nil
				}
				return tc.honest(t)
			}
			t.Run("honest", inFakeTime(func(t *testing.T) {
				o := Run(t.Context(), world(t, around(t)...), s)
				if o.Verdict != reports.Passed || len(o.Reasons) > 0 {
					t.Errorf("%s: %q, %+v", o.Verdict, o.Reasons, o.Violations)
				}
			}))
			for _, f := range tc.faults {
				t.Run(f.name, inFakeTime(func(t *testing.T) {
					expectRed(t, Run(t.Context(), world(t, append([]middleware{f.lay(t)}, around(t)...)...), s), f)
				}))
			}
		})
	}
}

func expectRed(t *testing.T, o verdict.Outcome, f fault) {
	t.Helper()
	if o.Verdict != reports.Failed {
		t.Errorf("%s instead of %s: %q; drift: %+v", o.Verdict, reports.Failed, o.Reasons, o.Drift)
	}
	if reasons := strings.Join(o.Reasons, "\n"); !strings.Contains(reasons, f.says) {
		t.Errorf("no reason says %q:\n%s", f.says, reasons)
	}
	for _, pair := range f.finds {
		if !violated(o, pair) {
			t.Errorf("%v was not found broken: %q, %+v", pair, o.Reasons, o.Violations)
		}
	}
}

// The sustained rate is the capacity of the server.
func TestSustainedRateIsTheCapacity(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]string{"a bound that a queue breaks": "p50<100ms", "a bound that no queue comes near": "p99<20s"} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			s := builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
				s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup = 100, 1000, time.Second, 2*time.Second, 0
				s.Limits, s.Thresholds = []int{1}, []string{bound, "sustained>=800/s"}
			})
			saturates := fault{lay: shapedBy("capacity=300/1s"), says: "sustained>=800/s missed"}
			o := Run(t.Context(), world(t, saturates.lay(t)), s)
			expectRed(t, o, saturates)
			f := o.Sustained
			if f == nil || !f.Confirmed || f.RatePerSecond < 270 || f.RatePerSecond > 315 {
				t.Fatalf("found %+v, the capacity is 300/s", f)
			}
			t.Logf("found %.0f/s, below %.0f/s; the capacity is 300/s", f.RatePerSecond, f.HighPerSecond)
		}))
	}
}

func shapedBy(text string) func(*testing.T) middleware {
	return func(t *testing.T) middleware { return shaped(t, text) }
}

func defectOf(id string) func(*testing.T) middleware {
	return func(t *testing.T) middleware { return defect(t, id) }
}

func transformed(transform faults.Middleware) func(*testing.T) middleware {
	return func(*testing.T) middleware { return with(transform) }
}

func laid(make func() middleware) func(*testing.T) middleware {
	return func(*testing.T) middleware { return make() }
}

// slowWhen adds the delay to the requests that match; n counts them from 1.
func slowWhen(delay time.Duration, match func(r *http.Request, n int64) bool) func() middleware {
	return func() middleware {
		var n atomic.Int64
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if match(r, n.Add(1)) {
					time.Sleep(delay)
				}
				next.ServeHTTP(w, r)
			})
		}
	}
}

// strangersRow shows the rows of a list as those of another workspace.
func strangersRow(next faults.Handler) faults.Handler {
	return func(r faults.Request) (faults.Response, error) {
		answer, err := next(r)
		if r.Operation == spec.ListPlacementTests {
			profile := embedded()
			answer.Body = bytes.ReplaceAll(answer.Body, []byte(profile.Workspaces[dataset.Main].ID), []byte(profile.Workspaces[dataset.Second].ID))
		}
		return answer, err
	}
}
