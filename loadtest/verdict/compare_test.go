package verdict

import (
	"outreach.example/conformance/loadtest/schedule"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// inTurn returns the results of a comparison in twelve pairs of blocks. The target A
// answers each request in 100 ms, and B in block i in so many times that.
func inTurn(t *testing.T, bound string, slower func(i int) float64) load.Results {
	return inTurnOf(t, bound, func(side, i, _ int) (time.Duration, int) {
		if side == 1 {
			return time.Duration(slower(i) * float64(100*time.Millisecond)), 200
		}
		return 100 * time.Millisecond, 200
	})
}

// inTurnOf returns the results of a comparison whose target answers request n of block i so.
func inTurnOf(t *testing.T, bound string, answer func(side, i, n int) (took time.Duration, status int)) load.Results {
	t.Helper()
	const pairs = 12
	terms := Terms{LagLimit: time.Hour}
	if bound != "" {
		terms.Thresholds = append(terms.Thresholds, parsed(t, bound))
	}
	var drafts [2]*Draft
	for side := range drafts {
		s := scenario.Scenario{Name: []string{"a", "b"}[side], About: "It is made up.", Kind: scenario.Steady, Mix: map[string]int{spec.ListLeadLists: 1}, Rate: 50, Duration: time.Second}
		d := NewDraft(s, terms)
		d.InBlocks = true
		for i := range pairs {
			r := measure.NewRecorder("block", time.Unix(1e9, 0), schedule.Constant(50, time.Second))
			for n := range 50 {
				due := time.Duration(n) * 20 * time.Millisecond
				took, status := answer(side, i, n)
				r.Add(measure.Sample{Seq: uint64(n), Label: spec.ListLeadLists, Due: due, Sent: due, Done: due + took, Status: status})
			}
			d.Keep(r.Recording(), nil)
		}
		drafts[side] = d
	}
	compared := Compare(drafts[0], drafts[1])
	r := load.Results{Comparison: &load.Comparison{Pairs: pairs, Figures: compared}}
	for _, d := range drafts {
		r.Scenarios = append(r.Scenarios, d.Conclude(inspect.Result{}).Scenario)
	}
	ConcludeRun(&r, true)
	RequireEvaluated(&r, terms.Thresholds)
	ConcludeComparison(&r)
	return r
}

func parsed(t *testing.T, text string) threshold.Threshold {
	t.Helper()
	bound, err := threshold.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// A threshold says how much worse the second target may be. Without one, any difference
// that shows fails. An interval on both sides of the bound names the requests that would
// decide it.
func TestToleranceOfAComparison(t *testing.T) {
	by := func(factor float64) func(int) float64 { return func(int) float64 { return factor } }
	unsteady := func(i int) float64 { return 1.04 + 0.06*float64(i%3-1) } // 0.98, 1.04 and 1.10
	for name, tc := range map[string]struct {
		bound  string
		slower func(int) float64
		want   reports.Verdict
		says   string
	}{
		"a little slower":                  {"", by(1.02), reports.Failed, "response p50 is worse at B"},
		"a little slower, tolerated":       {"worse<5%", by(1.02), reports.Passed, ""},
		"slower than tolerated":            {"worse<5%", by(1.2), reports.Failed, "worse<5% missed: 120.1 ms, A has 100 ms; the change is 20.05 %"},
		"faster":                           {"worse<5%", by(0.5), reports.Passed, ""},
		"neither":                          {"worse<5%", unsteady, reports.Inconclusive, "needed for each target (--pairs "},
		"unsteady, but far from the bound": {"worse<50%", unsteady, reports.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := inTurn(t, tc.bound, tc.slower)
			if said := strings.Join(r.Reasons, "\n"); r.Verdict != tc.want || !strings.Contains(said, tc.says) {
				t.Errorf("%s: %s\nwant %s: %s", r.Verdict, said, tc.want, tc.says)
			}
			if tc.bound == "" {
				return
			}
			if a, b := r.Scenarios[0].Thresholds, r.Scenarios[1].Thresholds; len(a) != 0 || len(b) != 3 {
				t.Errorf("thresholds of A %v, and of B %v; want three percentiles of B", a, b)
			}
		})
	}
}
