// Package threshold parses the bounds that gate a load run, such as
// p99<250ms@500/s or errors<0.1%, and compares measured figures with them.
//
// A measured figure is an interval. A bound is met if the whole interval is on
// its right side, and missed if the whole interval is on its wrong side.
// Otherwise the result is inconclusive. A sample that is too small, an empty
// sample or a missing figure never passes.
//
// The package is pure: it reads no file and has no clock. Within this module it
// imports package measure only.
package threshold

import (
	"time"

	"outreach.example/conformance/loadtest/measure"
)

// Metric is the figure that a threshold bounds.
type Metric string

// The metrics. Latencies are response times in seconds, counted from the moment each
// request was due. Failed requests that took longer count, as "at least".
const (
	Quantile  Metric = "quantile"  // p99<250ms: a percentile of the latency
	Max       Metric = "max"       // max<2s: the longest latency of the run
	Errors    Metric = "errors"    // errors<0.1%: the share of requests neither accepted nor limited
	Limited   Metric = "limited"   // limited<1%: the share of requests answered 429
	Sustained Metric = "sustained" // sustained>=800/s: the highest rate that meets the scenario's other thresholds
	Depth     Metric = "depth"     // depth<2x: the latency of the deepest page relative to the first
	Worse     Metric = "worse"     // worse<5%: how much worse the figures are than those of an earlier run or another target
)

// Op is a comparison operator.
type Op string

// The operators. Equal is allowed only with a share of 0.
const (
	Less    Op = "<"
	AtMost  Op = "<="
	More    Op = ">"
	AtLeast Op = ">="
	Equal   Op = "="
)

// Threshold is one bound. Parse returns it.
type Threshold struct {
	Text     string  // as written
	Scenario string  // it applies to; empty means all
	Label    string  // of the requests it applies to; empty means all
	Rate     float64 // of the phases it applies to, in requests per second; 0 means all

	Metric   Metric
	P        float64 // Quantile: 0.99 is p99
	Op       Op
	Bound    float64 // seconds, a share (0.01 is 1 %), requests per second, or a ratio, by Metric
	Baseline string  // Worse: the file to compare with; empty means the run's own, or the other target
}

// String returns the text that was parsed.
func (t Threshold) String() string { return t.Text }

// For reports whether the threshold applies to the scenario.
func (t Threshold) For(scenario string) bool { return t.Scenario == "" || t.Scenario == scenario }

// Replaces reports whether t overrides a scenario's own threshold: it bounds
// the same figure wherever the other one does.
func (t Threshold) Replaces(other Threshold) bool {
	return t.Metric == other.Metric && t.P == other.P && (t.Scenario == "" || t.Scenario == other.Scenario) &&
		(t.Label == "" || t.Label == other.Label) && (t.Rate == 0 || t.Rate == other.Rate)
}

// OfPhases reports whether the figure belongs to each phase. Other figures
// belong to a whole scenario.
func (t Threshold) OfPhases() bool {
	switch t.Metric {
	case Quantile, Max, Errors, Limited:
		return true
	default:
		return false
	}
}

// Unit returns the unit in which Shown and messages give the figure.
func (t Threshold) Unit() string { return t.scale().unit }

// scale is the display unit and the factor to it.
type scale struct {
	unit string
	by   float64
}

func (t Threshold) scale() scale {
	switch t.Metric {
	case Quantile, Max:
		return scale{"ms", 1000}
	case Errors, Limited, Worse:
		return scale{"%", 100}
	case Sustained:
		return scale{"/s", 1}
	default:
		return scale{"x", 1}
	}
}

// Figure is a measured value with its interval, in the unit of a threshold's
// Bound. The zero value means "not measured".
type Figure struct {
	Value, Low, High float64
	Open             bool    // no upper bound: High is only the highest value seen
	AtLeast          bool    // so many requests failed that Value is a lower bound
	Samples          int64   // requests behind it; 0: not derived from samples
	Design           float64 // design effect: samples per independent sample; 0 means 1
	Besides          int64   // requests that were limited, or failed faster than Value, and are excluded
	Late             bool    // requests went out late, for which Low allows
	Known            bool    // whether it was measured
}

// Of returns the figure that t bounds, as measured in the phase. It is unknown
// if the phase has no request that t applies to. adds is what the generator adds to
// service times (measure.Recording.Latency).
func (t Threshold) Of(rec measure.Recording, adds time.Duration) Figure {
	switch t.Metric {
	case Quantile, Max:
		return t.latency(rec, adds)
	case Errors:
		return t.share(rec, measure.Failed)
	case Limited:
		return t.share(rec, measure.Limited)
	default:
		return Figure{}
	}
}

func (t Threshold) latency(rec measure.Recording, adds time.Duration) Figure {
	p := t.P
	if t.Metric == Max {
		p = 1
	}
	e := rec.Latency(p, t.Label, adds)
	f := Figure{Samples: e.Samples, Besides: -e.Samples, Known: e.Samples > 0, Open: e.Open, AtLeast: e.AtLeast}
	for _, h := range rec.Label(t.Label) {
		f.Besides += h.Count()
	}
	f.Late, _ = rec.SentLate()
	if t.Metric == Max {
		e.Value, e.Low = rec.Slowest(t.Label, adds)
		e.High, f.Open = e.Value, e.AtLeast
	} else {
		f.Design = e.Design
	}
	f.Value, f.Low, f.High = e.Value.Seconds(), e.Low.Seconds(), e.High.Seconds()
	return f
}

func (t Threshold) share(rec measure.Recording, class measure.Class) Figure {
	s := rec.Share(class)
	if t.Label != "" {
		s = rec.LabelShare(t.Label, class)
	}
	if s.Of == 0 {
		return Figure{}
	}
	return Figure{Value: s.Value, Low: s.Low, High: s.High, Samples: s.Of, Design: s.Design, Known: true}
}

// Shown returns the figure in t.Unit.
func (t Threshold) Shown(f Figure) Figure {
	by := t.scale().by
	f.Value, f.Low, f.High = f.Value*by, f.Low*by, f.High*by
	return f
}
