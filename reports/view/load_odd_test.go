package view_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

// Render makes a page of any results, and no chart contains NaN.
func TestOddFiguresArePlotted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := sample.PassedLoad()
		s := &r.Scenarios[0]
		p := &s.Phases[0]
		figure := func(label string) float64 {
			return rapid.SampledFrom([]float64{0, 1e-9, 0.001, 1, 1, 2.5, 999, 1e6, 1e15}).Draw(t, label)
		}
		p.Series, p.IntervalSeconds = nil, 1
		for second := range rapid.SampledFrom([]int{0, 1, 2, 3, 700}).Draw(t, "seconds") {
			here := load.Interval{T: int64(second), Asked: int64(figure("asked")), Accepted: int64(second % 3), Limited: int64(second % 2)}
			here.Done = here.Accepted + here.Limited
			if rapid.IntRange(0, 3).Draw(t, "none") > 0 {
				at := figure("latency")
				here.Response = &load.Brief{P50MS: at, P90MS: at, P99MS: 2 * at, MaxMS: 2 * at}
			}
			p.Series = append(p.Series, here)
			if second > 20 { // one draw for the rest of a long series
				for later := second + 1; later < 700; later++ {
					here.T = int64(later)
					p.Series = append(p.Series, here)
				}
				break
			}
		}
		p.Response.Accepted = &load.Distribution{Count: 1, MaxMS: figure("most"), Curve: []load.CurvePoint{{P: 0, ValueMS: figure("at 0")}, {P: 1, ValueMS: figure("at 1")}}}
		s.Sustained = &load.Sustained{Knee: []load.KneePoint{{AskedPerSecond: figure("rate"), AchievedPerSecond: figure("achieved"), P50MS: figure("p50"), P99MS: figure("p99"), OK: true}}}
		s.Depth = []load.Depth{{Operation: "a.list", Points: []load.DepthPoint{{Page: 1, P50MS: figure("p50"), P99MS: figure("p99")}}}, {Operation: "b.list"}}
		s.Memory = []load.Memory{{Of: "a", Points: []load.MemoryPoint{{}, {HeapBytes: int64(figure("heap"))}}}, {Of: "b"}}
		s.Limiter = &load.Limiter{Summary: "none", Probes: []load.Probe{{Seconds: figure("probe"), Verdict: rapid.SampledFrom([]string{"accepted", "limited", "failed"}).Draw(t, "verdict"), Phase: "x"}}}
		body, err := rendered(view.Formats["html"].Load, r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), "NaN") || strings.Contains(string(body), "Inf") {
			t.Fatal("a figure that is none")
		}
	})
}
