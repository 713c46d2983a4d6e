package load

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/strict"
)

func (s Scenario) validate(p *strict.Problems, at string) {
	p.Unless(namePattern.MatchString(s.Name), at+"/name", "%q is not a scenario name", s.Name)
	p.Unless(s.About != "", at+"/about", "empty")
	validateReasons(p, s.Verdict, s.Reasons, at)
	p.Unless(s.Verdict != reports.Passed || len(s.Violations) == 0, at+"/verdict", "%s with violations", reports.Passed)
	for i, phase := range s.Phases {
		phase.validate(p, fmt.Sprintf("%s/phases/%d", at, i))
	}
	for i, t := range s.Thresholds {
		t.validate(p, fmt.Sprintf("%s/thresholds/%d", at, i))
		p.Unless(s.Verdict != reports.Passed || t.Outcome == Met, at+"/verdict", "%s, but threshold %d is not met", reports.Passed, i)
	}
	for i, v := range s.Violations {
		v.validate(p, fmt.Sprintf("%s/violations/%d", at, i))
	}
	if n := s.Requests; n != nil {
		parts := n.Counted + n.WarmUp + n.Searched + n.Beside
		p.Unless(n.Total == parts, at+"/requests/total", "%d, but the parts add up to %d", n.Total, parts)
	}
	if c := s.Coverage; c != nil {
		p.Unless(c.Checked+c.Memo+c.Dropped+c.LeftOut <= c.Answers, at+"/coverage/answers", "%d, but the parts add up to more", c.Answers)
	}
	if s.Sustained != nil {
		s.Sustained.validate(p, at+"/sustained")
	}
	for i, d := range s.Depth {
		d.validate(p, fmt.Sprintf("%s/depth/%d", at, i))
	}
	for i, d := range s.Drift {
		at := fmt.Sprintf("%s/drift/%d", at, i)
		p.Unless(d.Name != "", at+"/name", "empty")
		oneOf(p, d.Verdict, at+"/verdict", Steady, Drifts, TrendNotKnown)
		p.Unless(d.Verdict != TrendNotKnown || d.Why != "", at+"/why", "empty: want the reason")
		validateEstimate(p, &d.PerMinute, at+"/per_minute")
	}
	for i, m := range s.Memory {
		at := fmt.Sprintf("%s/memory/%d", at, i)
		p.Unless(m.Of != "", at+"/of", "empty")
		ascending(p, m.Points, at+"/points", func(m MemoryPoint) float64 { return m.Seconds })
	}
	if s.Limiter != nil {
		s.Limiter.validate(p, at+"/limiter")
	}
}

func (t Threshold) validate(p *strict.Problems, at string) {
	p.Unless(t.Text != "", at+"/text", "empty")
	oneOf(p, t.Outcome, at+"/outcome", Met, Missed, Inconclusive)
	if t.Outcome == Inconclusive {
		p.Unless(t.Why != "", at+"/why", "empty: want the reason")
	} else {
		p.Unless(t.Measured != nil, at+"/measured", "%s without a measurement", t.Outcome)
	}
	validateEstimate(p, t.Measured, at+"/measured")
}

func (v Violation) validate(p *strict.Problems, at string) {
	p.Unless(idPattern.MatchString(v.Requirement), at+"/requirement", "%q is not an id", v.Requirement)
	p.Unless(operationPattern.MatchString(v.Operation), at+"/operation", "%q is not an operation id", v.Operation)
	p.Unless(len(v.Examples) > 0, at+"/examples", "want an example")
	p.Unless(v.Count >= int64(max(1, len(v.Examples))), at+"/count", "%d, but %d are listed", v.Count, len(v.Examples))
	for i, e := range v.Examples {
		at := fmt.Sprintf("%s/examples/%d", at, i)
		p.Unless(e.Statement != "", at+"/statement", "empty")
		p.Unless(e.Section != "", at+"/section", "empty")
		p.Unless(pointerPattern.MatchString(e.Pointer), at+"/pointer", `%q is neither a JSON pointer nor "status" nor "header:<name>"`, e.Pointer)
		p.Unless(e.Expected != "", at+"/expected", "empty")
		length := utf8.RuneCountInString(e.Body)
		p.Unless(length <= reports.MaxBody, at+"/body", "%d characters, want at most %d", length, reports.MaxBody)
	}
}

func (s Sustained) validate(p *strict.Problems, at string) {
	p.Unless(s.LowPerSecond <= s.RatePerSecond && s.RatePerSecond <= s.HighPerSecond, at+"/rate_per_second", "%v is not within %v and %v", s.RatePerSecond, s.LowPerSecond, s.HighPerSecond)
	ascending(p, s.Knee, at+"/knee", func(k KneePoint) float64 { return k.AskedPerSecond })
	for i, k := range s.Knee {
		p.Unless(k.OK || k.Why != "", fmt.Sprintf("%s/knee/%d/why", at, i), "empty: want the reason")
	}
}

func (d Depth) validate(p *strict.Problems, at string) {
	p.Unless(operationPattern.MatchString(d.Operation), at+"/operation", "%q is not an operation id", d.Operation)
	ascending(p, d.Points, at+"/points", func(d DepthPoint) float64 { return float64(d.Page) })
	for i, point := range d.Points {
		p.Unless(point.Page >= 1, fmt.Sprintf("%s/points/%d/page", at, i), "%d: pages count from 1", point.Page)
	}
}

func (l Limiter) validate(p *strict.Problems, at string) {
	p.Unless(l.Summary != "", at+"/summary", "empty")
	p.Unless(l.Verdict.Value != "" || l.Verdict.Why != "", at+"/verdict/why", "empty: want the reason")
	for i, layer := range l.Layers {
		at := fmt.Sprintf("%s/layers/%d", at, i)
		layer.Limit.validate(p, at+"/limit")
		layer.Window.validate(p, at+"/window")
		layer.Rate.validate(p, at+"/rate")
	}
	if l.Concurrency != nil {
		l.Concurrency.validate(p, at+"/concurrency")
	}
	for i, s := range l.Sharing {
		at := fmt.Sprintf("%s/sharing/%d", at, i)
		p.Unless(s.Subject != "", at+"/subject", "empty")
		p.Unless(s.Refused <= s.Sandwiches, at+"/refused", "%d of %d", s.Refused, s.Sandwiches)
	}
	p.Unless(l.RetryAfter.With <= l.RetryAfter.Refused, at+"/retry_after/with", "%d of %d", l.RetryAfter.With, l.RetryAfter.Refused)
	p.Unless(l.RetryAfter.Unreadable <= l.RetryAfter.With, at+"/retry_after/unreadable", "%d of %d", l.RetryAfter.Unreadable, l.RetryAfter.With)
	l.RetryAfter.Honest.validate(p, at+"/retry_after/honest")
	l.RetryAfter.Shortest.validate(p, at+"/retry_after/shortest")
	l.RetryAfter.Promised.validate(p, at+"/retry_after/promised")
	l.Recovery.validate(p, at+"/recovery")
	l.RoundTrip.validate(p, at+"/round_trip")
	ascending(p, l.Probes, at+"/probes", func(probe Probe) float64 { return probe.Seconds })
	for i, probe := range l.Probes {
		at := fmt.Sprintf("%s/probes/%d", at, i)
		oneOf(p, probe.Verdict, at+"/verdict", "accepted", "limited", "failed")
		p.Unless(probe.Phase != "", at+"/phase", "empty")
	}
}

func (f Finding) validate(p *strict.Problems, at string) {
	if f.Known {
		p.Unless(f.Low <= f.Value && f.Value <= f.High, at, "%v is not within %v and %v", f.Value, f.Low, f.High)
	}
}

func validateEstimate(p *strict.Problems, e *Estimate, at string) {
	if e != nil {
		p.Unless(e.Low <= e.Value && e.Value <= e.High, at, "%v is not within %v and %v", e.Value, e.Low, e.High)
	}
}

// ascending adds a problem if the points are out of order.
func ascending[T any](p *strict.Problems, points []T, at string, key func(T) float64) {
	p.Unless(slices.IsSortedFunc(points, func(a, b T) int { return cmp.Compare(key(a), key(b)) }), at, "not in ascending order")
}
