package verdict

import (
	"outreach.example/conformance/loadtest/schedule"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// waiting returns a phase of 1,000 requests in 10 s. Most are accepted after 10 ms. So many
// of each 100 get no response within a second.
func waiting(of int) measure.Recording {
	r := measure.NewRecorder("steady", time.Unix(1e9, 0), schedule.Constant(100, 10*time.Second))
	for n := range 1000 {
		due := time.Duration(n) * 10 * time.Millisecond
		s := measure.Sample{Seq: uint64(n), Label: spec.ListLeadLists, Due: due, Sent: due, Done: due + 10*time.Millisecond, Status: 200}
		if n%100 < of {
			s.Done, s.Status, s.Failure = due+time.Second, 0, measure.FailureTimeout
		}
		r.Add(s)
	}
	return r.Recording()
}

// A threshold covers the requests that were never answered, unless the phase was cut short:
// then the end of the run may be the reason.
func TestThresholdsCoverRequestsWithoutAResponse(t *testing.T) {
	bounds := []string{"p99<250ms"}
	if o := judgedOf(t, bounds, shareOf(waiting(0))); o.Verdict != reports.Passed {
		t.Errorf("all answered: %s %q", o.Verdict, o.Reasons)
	}
	o := judgedOf(t, bounds, shareOf(waiting(5)))
	if o.Verdict != reports.Failed || !strings.Contains(o.Reasons[0], "p99 is at least 1,00") {
		t.Errorf("5 %% not answered: %s %q", o.Verdict, o.Reasons)
	}
	accepted, at := o.Phases[0].Response.Accepted, o.Phases[0].Series[3].Response
	if accepted.Count != 950 || !accepted.Open || !accepted.MeanOpen || accepted.MaxMS < 1000 || accepted.MaxMS > 1001 || !accepted.Quantiles[3].Open || !at.Open || at.P99MS < 990 || !o.Thresholds[0].Measured.Open {
		t.Errorf("in the results: %+v, %+v, %+v", accepted, at, o.Thresholds[0].Measured)
	}
	cut := shareOf(waiting(5))
	cut.Cut = "the target died"
	o = judgedOf(t, bounds, cut)
	if said := strings.Join(o.Reasons, "\n"); o.Verdict != reports.Inconclusive || !strings.Contains(said, "the phase was cut short") {
		t.Errorf("cut short: %s %s", o.Verdict, said)
	}
}

// A target is not better because its requests fail. Lower bounds do not show that there is
// no difference.
func TestAComparisonOfTargetsThatFail(t *testing.T) {
	const ms = time.Millisecond
	failing := func(every int, took time.Duration, sides ...int) func(side, i, n int) (time.Duration, int) {
		return func(side, _, n int) (time.Duration, int) {
			for _, s := range sides {
				if side == s && n%every == 0 {
					return took, 503
				}
			}
			return 100 * ms, 200
		}
	}
	quick := func(side, _, n int) (time.Duration, int) { // B fails late, but sooner than A responds
		switch {
		case side == 0:
			return 100 * ms, 200
		case n%5 < 3:
			return 50 * ms, 503
		default:
			return 10 * ms, 200
		}
	}
	for name, tc := range map[string]struct {
		answer func(side, i, n int) (time.Duration, int)
		p99    load.Effect
		bound  load.Outcome // of worse<5% for p99
		open   string       // the figures that are lower bounds
	}{
		"B fails late":    {failing(10, 300*ms, 1), load.Worse, load.Missed, "B"},
		"A fails late":    {failing(10, 300*ms, 0), load.Better, load.Met, "A"},
		"both fail late":  {failing(10, 300*ms, 0, 1), load.EffectNotKnown, load.Inconclusive, "AB"},
		"both fail early": {failing(10, ms, 0, 1), load.NoDifference, load.Met, ""},
		"B fails sooner":  {quick, load.EffectNotKnown, load.Inconclusive, "B"},
	} {
		r := inTurnOf(t, "worse<5%", tc.answer)
		if f := r.Comparison.Figures[2]; f.Name != "response p99" || f.Verdict != tc.p99 || (tc.p99 == load.EffectNotKnown) != (f.Why != "") {
			t.Errorf("%s: %+v, want %s", name, f, tc.p99)
		} else if f.AOpen != strings.Contains(tc.open, "A") || f.BOpen != strings.Contains(tc.open, "B") || (f.Difference == nil) != (tc.open == "AB") {
			t.Errorf("%s: %+v, want lower bounds %s", name, f, tc.open)
		}
		if held := r.Scenarios[1].Thresholds[2]; held.Outcome != tc.bound {
			t.Errorf("%s: %+v, want %s", name, held, tc.bound)
		}
	}
}

// Trends cover failed requests: of a soak, of a spike and of deep pages.
func TestTrendsCoverFailedRequests(t *testing.T) {
	late := func(share int) func(n, second int) (time.Duration, int) {
		return func(n, second int) (time.Duration, int) {
			if n%20 < share {
				return time.Duration(100+10*second) * time.Millisecond, 503
			}
			return 20 * time.Millisecond, 200
		}
	}
	d := &Draft{}
	d.Drift(recorded(30, late(2)), nil)
	if said := strings.Join(inWords(d.fails), "\n"); !strings.Contains(said, "response p99 rose") {
		t.Errorf("a soak: %q", said)
	}
	d = &Draft{}
	d.Recovery(recorded(9, func(n, second int) (time.Duration, int) {
		if second < 3 {
			return 20 * time.Millisecond, 200
		}
		return late(12)(n, second)
	}), 3*time.Second)
	if len(d.fails) == 0 {
		t.Errorf("a spike: %q", d.Result.Notes)
	}
	r := measure.NewRecorder("pages", time.Time{}, schedule.Constant(100, time.Minute))
	for n := range 200 {
		due := time.Duration(n) * 10 * time.Millisecond
		s := measure.Sample{Label: scenario.PageLabel(spec.ListLeadLists, 1), Due: due, Sent: due, Done: due + 20*time.Millisecond, Status: 200}
		if n%2 == 1 {
			s.Label, s.Done, s.Status, s.Failure = scenario.PageLabel(spec.ListLeadLists, 100), due+time.Second, 0, measure.FailureTimeout
		}
		r.Add(s)
	}
	d = &Draft{figures: map[threshold.Metric]threshold.Figure{}}
	d.Depths([]Page{{Operation: spec.ListLeadLists, Page: 1}, {Operation: spec.ListLeadLists, Page: 100, Rows: 99}}, r.Recording())
	depth := d.Result.Depth[0]
	if f := d.figures[threshold.Depth]; f.Value < 49 || !f.Open || !depth.Open || depth.Points[0].Open || !depth.Points[1].MedianOpen {
		t.Errorf("a deep page: %+v, %+v", f, depth)
	}
	d = &Draft{figures: map[threshold.Metric]threshold.Figure{}}
	d.Depths([]Page{{Operation: spec.ListLeadLists, Page: 100, Rows: 99}, {Operation: spec.ListLeadLists, Page: 1}}, r.Recording()) // the first one failed
	if f, known := d.figures[threshold.Depth]; known || d.Result.Depth[0].Ratio != 0 {
		t.Errorf("beside a first page whose median is a lower bound: %+v", f)
	}
}
