package view_test

import (
	"strings"
	"testing"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
)

// of returns the part of the page about its only scenario, as text.
func of(t *testing.T, s load.Scenario) string {
	t.Helper()
	r := sample.PassedLoad()
	r.Scenarios = []load.Scenario{s}
	said := words(t, render(t, "finding", r))
	_, said, _ = strings.Cut(said, s.Name+" ") // the table of scenarios
	return said
}

// A percentile for which too few requests are planned is no figure.
func TestAPercentileNeedsRequests(t *testing.T) {
	s := sample.PassedLoad().Scenarios[0]
	p := s.Phases[0]
	p.Labels = nil
	p.Response.Accepted = &load.Distribution{Count: 800, MaxMS: 9, Quantiles: []load.Quantile{
		{P: 0.5, ValueMS: 2, LowMS: 1, HighMS: 3}, {P: 0.95, ValueMS: 4, LowMS: 3, HighMS: 5},
		{P: 0.99, ValueMS: 6, LowMS: 5, HighMS: 7}, {P: 0.999, ValueMS: 8, LowMS: 7, HighMS: 9}}}
	for planned, want := range map[int64]string{
		10_000: "p50 2 (1 to 3) p95 4 (3 to 5) p99 6 (5 to 7) p99.9 8 (7 to 9) max 9",
		800:    "p50 2 (1 to 3) p95 4 (3 to 5) p99 6 (5 to 7) p99.9 – max 9",
		80:     "p50 2 (1 to 3) p95 4 (3 to 5) p99 – p99.9 – max 9",
	} {
		p.Planned = planned
		s.Phases = []load.Phase{p}
		if said := of(t, s); !strings.Contains(said, want) {
			t.Errorf("of %d planned requests the page does not say %q:\n%s", planned, want, said)
		}
	}
}

// The headline names the figure that became worse by most.
func TestTheHeadlineComparesWithTheBaseline(t *testing.T) {
	s := sample.PassedLoad().Scenarios[0]
	measured := func(phase string, e load.Estimate) load.Threshold {
		return load.Threshold{Text: "worse<10%", Outcome: load.Met, Phase: phase, Measured: &e, Unit: "%"}
	}
	for want, all := range map[string][]load.Threshold{
		"500/s p99 is 4 % (1 to 7) worse than the baseline":  {measured("500/s p50", load.Estimate{Value: -2, Low: -3, High: -1}), measured("500/s p99", load.Estimate{Value: 4, Low: 1, High: 7})},
		"500/s p50 is 2 % (1 to 3) better than the baseline": {measured("500/s p50", load.Estimate{Value: -2, Low: -3, High: -1})},
		"the difference from the baseline is inconclusive":   {{Text: "worse<10% vs last.json", Outcome: load.Inconclusive, Why: "another rate"}},
		"/s served Response": nil,
	} {
		s.Thresholds = all
		said := of(t, s)
		if !strings.Contains(strings.ReplaceAll(said, " Latency by second", " Response"), want) {
			t.Errorf("the page does not say %q:\n%.600s", want, said)
		}
		if strings.Contains(said, "baseline") != (all != nil) {
			t.Errorf("the page names a baseline of %v", all)
		}
	}
}

// A spike is shown in three parts; one rate, two bursts or an unfinished one are not.
func TestASpikeHasThreeParts(t *testing.T) {
	s := sample.PassedLoad().Scenarios[0]
	second := func(asked int64, p99 float64) load.Interval {
		return load.Interval{Asked: asked, Sent: asked, Done: asked, Accepted: asked, Response: &load.Brief{P50MS: 2, P90MS: 3, P99MS: p99, MaxMS: p99}}
	}
	phase := func(seconds float64, series ...load.Interval) load.Phase {
		p := sample.PassedLoad().Scenarios[0].Phases[0]
		p.Name, p.RatePerSecond, p.IntervalSeconds, p.Seconds = "spike", 0, 1, seconds
		for i := range series {
			series[i].T = int64(i)
		}
		p.Series = series
		return p
	}
	spike := phase(6.5, second(10, 5), second(10, 6), second(100, 400), second(100, 900), second(10, 300), second(10, 7), second(5, 7))
	s.Phases = []load.Phase{spike}
	said := of(t, s)
	from := 0
	for _, part := range []string{
		"p99 before 6 ms, burst 900 ms, after 300 ms", "Response time before, during and after the burst: p99 before 6 ms",
		"before seconds 0 to 2 asked /s 10 served /s 10 p50, ms 2 p99, ms 6",
		"burst seconds 2 to 4 asked /s 100 served /s 100 p50, ms 2 p99, ms 900",
		"after seconds 4 to 6.5 asked /s 10 served /s 10 p50, ms 2 p99, ms 300",
	} {
		at := strings.Index(said[from:], part)
		if at < 0 {
			t.Fatalf("after %q the page does not say %q", said[max(0, from-80):from], part)
		}
		from += at
	}
	for name, other := range map[string]load.Phase{
		"one rate":   phase(3, second(10, 5), second(10, 5), second(10, 5)),
		"two bursts": phase(5, second(10, 5), second(100, 5), second(10, 5), second(100, 5), second(10, 5)),
		"unfinished": phase(2, second(10, 5), second(100, 5)),
	} {
		s.Phases = []load.Phase{other}
		if said := of(t, s); strings.Contains(said, "burst") {
			t.Errorf("%s is shown as a spike", name)
		}
	}
}

// Phases of several page sizes share one chart.
func TestPageSizesShareAChart(t *testing.T) {
	s := sample.PassedLoad().Scenarios[0]
	p := s.Phases[0]
	s.Phases = nil
	for i, name := range []string{"limit=1", "limit=25", "limit=100"} {
		of := p
		of.Name, of.Planned = name, 10_000
		of.Response.Accepted = &load.Distribution{Count: 10_000, MaxMS: 50, Quantiles: []load.Quantile{{P: 0.5, ValueMS: float64(2 + i)}, {P: 0.99, ValueMS: float64(10 + i)}}}
		s.Phases = append(s.Phases, of)
	}
	if said, want := of(t, s), "/s served in each of 3 phases"; !strings.Contains(said, want) {
		t.Errorf("the page does not say %q:\n%.600s", want, said)
	}
	blocks := s
	blocks.Phases = append([]load.Phase(nil), s.Phases...)
	for i := range blocks.Phases {
		blocks.Phases[i].Name = "A" + string(rune('1'+i))
	}
	blocks.Phases[0].AchievedPerSecond = 1
	if said := of(t, blocks); !strings.Contains(said, "1 to ") || !strings.Contains(said, "/s served in 3 phases") || !strings.Contains(said, "Response time by phase") {
		t.Errorf("the page does not compare the phases:\n%.600s", said)
	}
	if said, want := of(t, s), "Response time by page size: p50 is 2 ms at limit=1, 4 ms at limit=100"; !strings.Contains(said, want) {
		t.Errorf("the page does not say %q:\n%.600s", want, said)
	}
}
