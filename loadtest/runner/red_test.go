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
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// reds are short scenarios, each with an honest server and the faults that it must find.
var reds = []struct {
	scenario string
	change   func(*scenario.Scenario)
	honest   string // the shape of the honest server
	faults   map[string]fault
}{
	{
		scenario: "list-throughput",
		change: func(s *scenario.Scenario) {
			s.Limits, s.Duration, s.Warmup, s.Thresholds = []int{1, 10}, 2*time.Second, 0, []string{"errors<1%", "p99<500ms"}
		},
		faults: map[string]fault{
			"stalls":                         {shapedBy("stall=800ms/1s"), "p99<500ms missed"},
			"fails":                          {shapedBy("errors=20%"), "errors<1% missed"},
			"a row of the wrong shape":       {defectOf("inbox-placement-tests.list/id-as-a-number"), "SHAPE-INBOX_PLACEMENT_TEST-ID-TYPE on inbox-placement-tests.list"},
			"more rows than were asked for":  {defectOf("lead-lists.list/serves-10-rows-a-page-for-any-limit"), "PAGE-LIMIT-HONOURED on lead-lists.list"},
			"another workspace's row":        {func(*testing.T) middleware { return with(strangersRow) }, "ISOLATION-OWNER on inbox-placement-tests.list"},
			"serves less than was asked for": {shapedBy("capacity=20/1s"), "p99<500ms missed"},
		},
	},
	{
		scenario: "page-depth",
		change: func(s *scenario.Scenario) {
			s.Mix, s.Pages, s.Duration, s.Warmup = map[string]int{spec.ListWebhookEvents: 1}, []int{1, 10, 100}, time.Second, 0
			s.Thresholds = []string{"depth<3x"}
		},
		honest: "100%:30ms",
		faults: map[string]fault{"deep pages are slow": {slowWhen(100*time.Millisecond, func(r *http.Request, _ int64) bool { return r.URL.Query().Has("starting_after") }),
			"depth<3x missed"}},
	},
	{
		scenario: "walk",
		change: func(s *scenario.Scenario) {
			s.Mix, s.Clients, s.Limits = map[string]int{spec.ListLeadLists: 1}, 2, []int{7, 100}
			s.Duration, s.Thresholds = time.Second, nil
		},
		faults: map[string]fault{
			"repeats a row":                {defectOf("lead-lists.list/starts-each-page-with-the-last-row-of-the-previous-page"), "PAGE-WALK-ONCE on lead-lists.list"},
			"drops a row":                  {defectOf("lead-lists.list/skips-a-row-between-two-pages"), "PAGE-WALK-COMPLETE on lead-lists.list"},
			"does not end":                 {defectOf("lead-lists.list/links-the-last-page-to-itself"), "PAGE-WALK-ENDS on lead-lists.list"},
			"small pages in another order": {defectOf("lead-lists.list/shows-small-pages-in-reverse-order"), "PAGE-WALK-SEQUENCE on lead-lists.list"},
		},
	},
	{
		scenario: "mixed",
		change: func(s *scenario.Scenario) {
			s.Limits, s.Duration, s.Warmup, s.Thresholds = []int{10}, time.Second, 0, []string{"errors<5%"}
		},
		faults: map[string]fault{
			"a deletion fails":                {defectOf("inbox-placement-tests.delete/refuses-a-key-that-has-the-permission-in-every-third-response"), "STATUS-200 on inbox-placement-tests.delete"},
			"another test than was asked for": {defectOf("inbox-placement-tests.get/shows-another-id-in-a-get"), "STATE-GET-LIST on inbox-placement-tests.get"},
			"a creation without a field":      {defectOf("inbox-placement-tests.create/name-not-at-all"), "SHAPE-INBOX_PLACEMENT_TEST-NAME-PRESENT on inbox-placement-tests.create"},
		},
	},
	{
		scenario: "spike",
		change: func(s *scenario.Scenario) {
			s.Rate, s.Burst, s.Duration, s.Warmup, s.Thresholds = 40, 160, 3*time.Second, 0, []string{"errors<5%"}
		},
		honest: "100%:100ms",
		faults: map[string]fault{"stays slow after the burst": {slowWhen(300*time.Millisecond, func(_ *http.Request, n int64) bool { return n > 100 }),
			"after the burst the median response time did not recover"}},
	},
	{
		scenario: "soak",
		change:   func(s *scenario.Scenario) { s.Rate, s.Duration, s.Warmup, s.Thresholds = 20, time.Minute, 0, nil },
		honest:   "100%:20ms",
		faults:   map[string]fault{"gets slower": {shapedBy("drift=20ms/1s"), "response p50 rose under steady load"}},
	},
}

// fault is a fault of a server, and a part of what a scenario must say of it.
type fault struct {
	lay  func(*testing.T) middleware
	says string
}

// Each scenario passes on an honest server and fails on each of the faults that it must find.
func TestScenariosTellFaults(t *testing.T) {
	for _, tc := range reds {
		t.Run(tc.scenario, func(t *testing.T) {
			t.Parallel()
			s := builtinScenario(t, tc.scenario, tc.change)
			usual := func(t *testing.T) []middleware {
				if tc.honest == "" {
					return nil
				}
				return []middleware{shapedBy(tc.honest)(t)}
			}
			t.Run("honest", inFakeTime(func(t *testing.T) {
				o := Run(t.Context(), world(t, usual(t)...), s)
				if o.Verdict != reports.Passed || len(o.Reasons) > 0 {
					t.Errorf("%s: %q, %+v", o.Verdict, o.Reasons, o.Violations)
				}
			}))
			for name, f := range tc.faults {
				t.Run(name, inFakeTime(func(t *testing.T) {
					o := Run(t.Context(), world(t, append([]middleware{f.lay(t)}, usual(t)...)...), s)
					said := strings.Join(o.Reasons, "\n")
					for _, v := range o.Violations {
						said += "\n" + v.Requirement + " on " + v.Operation
					}
					if o.Verdict != reports.Failed || !strings.Contains(said, f.says) {
						t.Errorf("%s: %s; want that %s", o.Verdict, said, f.says)
					}
				}))
			}
		})
	}
}

func shapedBy(text string) func(*testing.T) middleware {
	return func(t *testing.T) middleware { return shaped(t, text) }
}

func defectOf(id string) func(*testing.T) middleware {
	return func(t *testing.T) middleware { return defect(t, id) }
}

// slowWhen adds the delay to the requests that match; n counts them from 1.
func slowWhen(delay time.Duration, match func(r *http.Request, n int64) bool) func(*testing.T) middleware {
	return func(*testing.T) middleware {
		var n atomic.Int64
		return instead(func(r *http.Request) bool {
			if match(r, n.Add(1)) {
				time.Sleep(delay)
			}
			return false
		}, nil)
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
