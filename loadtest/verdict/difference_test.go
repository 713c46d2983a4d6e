package verdict_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
)

// ran returns a run of one scenario whose p50 and p99 have these values and intervals
// of a tenth, in milliseconds.
func ran(rate, p50, p99 float64) load.Results {
	q := func(p, v float64) load.Quantile {
		return load.Quantile{P: p, ValueMS: v, LowMS: 0.95 * v, HighMS: 1.05 * v}
	}
	phase := load.Phase{Name: "steady", Seconds: 10, RatePerSecond: rate, Planned: int64(10 * rate), Sent: int64(10 * rate),
		Response: load.Latency{Accepted: &load.Distribution{Count: int64(10 * rate), Quantiles: []load.Quantile{q(0.5, p50), q(0.99, p99)}}}}
	return load.Results{Verdict: reports.Passed, Scenarios: []load.Scenario{{Name: "mixed", Verdict: reports.Passed, Phases: []load.Phase{phase}}}}
}

func searched(rate float64) load.Results {
	r := ran(rate, 10, 20)
	r.Scenarios[0].Sustained = &load.Sustained{RatePerSecond: rate, LowPerSecond: rate, HighPerSecond: 1.04 * rate, Confirmed: true}
	return r
}

func worse(t *testing.T, texts ...string) []threshold.Threshold {
	t.Helper()
	all, err := threshold.ParseAll(texts)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(verdict.CheckDifference(all)).To(Succeed())
	return all
}

func TestDifferenceOfLatencies(t *testing.T) {
	g := NewWithT(t)
	figures, held := verdict.Difference("old", ran(100, 10, 50), ran(100, 10, 80), worse(t, "worse<20%"))
	g.Expect(figures).To(HaveLen(2))
	g.Expect(figures[0].Verdict).To(Equal(load.NoDifference))
	g.Expect(figures[1]).To(And(HaveField("Name", "response p99"), HaveField("Unit", "ms"), HaveField("Verdict", load.Worse)))
	g.Expect(figures[1].Old.Value).To(BeNumerically("~", 50, 1e-6))
	g.Expect(figures[1].Worse.Value).To(BeNumerically("~", 60, 1e-6))
	g.Expect(figures[1].Worse.Low).To(BeNumerically("~", 100*(80*0.95/(50*1.05)-1), 1e-6))
	g.Expect(held).To(HaveLen(2))
	g.Expect(held[0].Outcome).To(Equal(load.Met))
	g.Expect(held[1]).To(And(HaveField("Outcome", load.Missed), HaveField("Why", ContainSubstring("60 %"))))

	figures, held = verdict.Difference("old", ran(100, 10, 80), ran(100, 10, 50), nil)
	g.Expect(figures[1].Verdict).To(Equal(load.Better))
	g.Expect(held).To(BeEmpty())
	_, held = verdict.Difference("old", ran(100, 10, 50), ran(100, 10, 50), worse(t, "worse<5%"))
	g.Expect(held[0].Outcome).To(Equal(load.Inconclusive), "the intervals are wider than 5 %")
}

// Percentiles without an upper bound show no equality. Closed ones beside them may.
func TestDifferenceOfLowerBounds(t *testing.T) {
	g := NewWithT(t)
	open := func(from int) load.Results {
		r := ran(100, 10, 50)
		for i := range r.Scenarios[0].Phases[0].Response.Accepted.Quantiles[from:] {
			r.Scenarios[0].Phases[0].Response.Accepted.Quantiles[from+i].Open = true
		}
		return r
	}
	for _, tc := range []struct {
		before, now load.Results
		p50, p99    load.Effect
		outcome     diff.Outcome
	}{
		{open(2), open(2), load.NoDifference, load.NoDifference, diff.Same},
		{open(1), open(2), load.NoDifference, load.EffectNotKnown, diff.Same},
		{open(1), open(1), load.NoDifference, load.EffectNotKnown, diff.Same},
		{open(0), open(0), load.EffectNotKnown, load.EffectNotKnown, diff.Inconclusive},
	} {
		figures, _ := verdict.Difference("old", tc.before, tc.now, nil)
		g.Expect(figures[0].Verdict).To(Equal(tc.p50))
		g.Expect(figures[1].Verdict).To(Equal(tc.p99))
		g.Expect(figures[1].Why != "").To(Equal(tc.p99 == load.EffectNotKnown))
		g.Expect(diff.Loads("old", tc.before, "new", tc.now, figures, nil).Outcome).To(Equal(tc.outcome))
	}
	figures, _ := verdict.Difference("old", ran(100, 10, 50), open(1), nil)
	g.Expect(figures[1].Verdict).To(Equal(load.EffectNotKnown), "it may be any amount worse")
}

// What cannot be compared is inconclusive, and says why.
func TestDifferenceOfOtherLoads(t *testing.T) {
	inconclusive := ran(100, 10, 50)
	inconclusive.Scenarios[0].Verdict, inconclusive.Scenarios[0].Reasons = reports.Inconclusive, []string{"sent late"}
	other := ran(100, 10, 50)
	other.Scenarios[0].Name = "spike"
	for why, pair := range map[string][2]load.Results{
		"50/s then, 100/s now":                     {ran(50, 10, 50), ran(100, 10, 50)},
		"mixed is inconclusive (sent late)":        {inconclusive, ran(100, 10, 50)},
		"the new run cannot be":                    {ran(100, 10, 50), inconclusive},
		"no comparable results for scenario spike": {ran(100, 10, 50), other},
	} {
		g := NewWithT(t)
		figures, held := verdict.Difference("old", pair[0], pair[1], worse(t, "worse<5%"))
		g.Expect(figures).To(HaveLen(1))
		g.Expect(figures[0]).To(And(HaveField("Verdict", load.EffectNotKnown), HaveField("Why", ContainSubstring(why))))
		g.Expect(held).To(ConsistOf(HaveField("Outcome", load.Inconclusive)))
	}
	g := NewWithT(t)
	_, held := verdict.Difference("old", ran(100, 10, 50), ran(100, 10, 50), worse(t, "soak: worse<5%"))
	g.Expect(held).To(ConsistOf(diff.Threshold{Scenario: "soak", Text: "soak: worse<5%", Outcome: load.Inconclusive, Why: "the new run has no figure to compare"}))
}

func TestDifferenceOfRates(t *testing.T) {
	g := NewWithT(t)
	figures, held := verdict.Difference("old", searched(1000), searched(500), worse(t, "mixed: worse<10%"))
	g.Expect(figures).To(HaveLen(1))
	g.Expect(figures[0]).To(And(HaveField("Name", "sustained rate"), HaveField("Unit", "/s"), HaveField("Verdict", load.Worse)))
	g.Expect(held[0].Outcome).To(Equal(load.Missed))
	void := searched(500)
	void.Scenarios[0].Sustained.Confirmed = false
	figures, _ = verdict.Difference("old", searched(1000), void, nil)
	g.Expect(figures[0].Verdict).To(Equal(load.EffectNotKnown))
}
