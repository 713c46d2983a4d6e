package load

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"outreach.example/conformance/reports/internal/strict"
)

func (ph Phase) validate(p *strict.Problems, at string) {
	p.Unless(ph.Name != "", at+"/name", "empty")
	p.Unless(ph.Planned == ph.Sent+ph.Dropped, at+"/planned", "%d planned, but %d sent and %d dropped", ph.Planned, ph.Sent, ph.Dropped)
	p.Unless(ph.Late <= ph.Sent, at+"/late", "%d late of %d sent", ph.Late, ph.Sent)
	validateCounts(p, ph.Statuses, at+"/statuses", statusPattern)
	p.Unless(sum(ph.Statuses) == ph.Sent, at+"/statuses", "%d in all, but %d were sent", sum(ph.Statuses), ph.Sent)
	ph.Response.validate(p, ph.Sent, at+"/response")
	ph.Service.validate(p, ph.Sent, at+"/service")
	ph.Lag.validate(p, at+"/lag")
	for i, l := range ph.Labels {
		at := fmt.Sprintf("%s/labels/%d", at, i)
		p.Unless(l.Name != "", at+"/name", "empty")
		l.Response.validate(p, at+"/response")
	}
	ascending(p, ph.Series, at+"/series", func(s Interval) float64 { return float64(s.T) })
	p.Unless((ph.IntervalSeconds > 0) == (len(ph.Series) > 0), at+"/interval_seconds", "%d, with a series of %d", ph.IntervalSeconds, len(ph.Series))
	for i, s := range ph.Series {
		at := fmt.Sprintf("%s/series/%d", at, i)
		p.Unless(s.Done == s.Accepted+s.Limited+s.Failed, at+"/done", "%d, but %d accepted, %d limited, %d failed", s.Done, s.Accepted, s.Limited, s.Failed)
		s.Response.validate(p, at+"/response")
		s.Service.validate(p, at+"/service")
	}
	for _, name := range slices.Sorted(maps.Keys(ph.Histograms)) {
		_, err := base64.StdEncoding.DecodeString(ph.Histograms[name])
		p.Unless(name != "" && err == nil && ph.Histograms[name] != "", strict.Below(at+"/histograms", name), "not the base64 form of a histogram")
	}
	for name := range ph.Failures {
		p.Unless(name != "", at+"/failures", "empty key")
	}
}

func (l Latency) validate(p *strict.Problems, sent int64, at string) {
	var all int64
	for _, class := range []struct {
		d  *Distribution
		at string
	}{{l.Accepted, "/accepted"}, {l.Limited, "/limited"}, {l.Failed, "/failed"}} {
		class.d.validate(p, at+class.at)
		if class.d != nil {
			all += class.d.Count
		}
	}
	p.Unless(all <= sent, at, "%d responses to %d requests", all, sent)
}

func (d *Distribution) validate(p *strict.Problems, at string) {
	if d == nil {
		return
	}
	p.Unless(d.Count >= 1, at+"/count", "%d, want at least 1", d.Count)
	p.Unless(d.MinMS <= d.MaxMS, at+"/min_ms", "%v is above the maximum, %v", d.MinMS, d.MaxMS)
	ascending(p, d.Quantiles, at+"/quantiles", func(q Quantile) float64 { return q.P })
	for i, q := range d.Quantiles {
		at := fmt.Sprintf("%s/quantiles/%d", at, i)
		p.Unless(q.LowMS <= q.ValueMS && q.ValueMS <= q.HighMS, at+"/value_ms", "%v is not within %v and %v", q.ValueMS, q.LowMS, q.HighMS)
		p.Unless(q.Flagged == (q.Why != ""), at+"/why", "a flagged quantile needs a reason, and no other has one")
	}
	ascending(p, d.Curve, at+"/curve", func(c CurvePoint) float64 { return c.P })
	ascending(p, d.Curve, at+"/curve", func(c CurvePoint) float64 { return c.ValueMS })
}

func (b *Brief) validate(p *strict.Problems, at string) {
	if b != nil {
		p.Unless(b.P50MS <= b.P90MS && b.P90MS <= b.P99MS, at, "p50, p90 and p99 are not in ascending order")
	}
}
