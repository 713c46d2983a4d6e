package measure

// This file has the bounds that gate a load run, such as p99<250ms@500/s or errors<0.1%.
//
// A threshold speaks of the run. It allows a share of the requests of a phase to be beyond its
// bound. It is missed if more were than independent chance and the generator's lag explain.
// It is met if the interval of the share that allows for correlation is within. Otherwise the
// result is inconclusive. Figures that are not of one phase, such as a change, are compared by
// their interval. A sample that is too small, an empty sample or a missing figure never passes.

import (
	"math"
	"strconv"
	"time"

	"outreach.example/conformance/internal/printable"
)

// Metric is the figure that a threshold bounds.
type Metric string

// The metrics. Latencies are response times in seconds, counted from the moment each
// request was due. Failed requests that took longer count, as "at least".
const (
	Quantile     Metric = "quantile"  // p99<250ms: a percentile of the latency
	Max          Metric = "max"       // max<2s: the longest latency of the run
	Errors       Metric = "errors"    // errors<0.1%: the share of requests neither accepted nor limited
	LimitedShare Metric = "limited"   // limited<1%: the share of requests answered 429
	Sustained    Metric = "sustained" // sustained>=800/s: the highest rate that meets the scenario's other thresholds
	Depth        Metric = "depth"     // depth<2x: the latency of the deepest page relative to the first
	Worse        Metric = "worse"     // worse<5%: how much worse the figures are than those of an earlier run or another target
)

// kind describes a metric.
type kind struct {
	words    string  // what it is
	unit     string  // in which figures are shown
	by       float64 // from the unit of a bound to that
	form     string  // of a bound
	most     float64 // the largest bound
	example  string
	ofPhases bool
	beyond   string // what requests beyond the bound did
}

const (
	aTime  = "a time above 0 and up to 10m0s with a unit, such as 250ms"
	aShare = "a share from 0% to below 100%, such as 0.1%"
	aRate  = "a rate above 0 and up to 1,000,000 requests per second, such as 800/s"
)

var kinds = map[Metric]kind{
	Quantile:     {"", "ms", 1000, aTime, 0, "p99<250ms", true, "took over "},
	Max:          {"the maximum response time", "ms", 1000, aTime, 0, "max<2s", true, "took over "},
	Errors:       {"the share of failed requests", "%", 100, aShare, 1, "errors<0.1%", true, "failed"},
	LimitedShare: {"the share of limited requests", "%", 100, aShare, 1, "limited<1%", true, "got 429"},
	Sustained:    {"the highest rate that meets the thresholds", "/s", 1, aRate, maxRate, "sustained>=800/s", false, ""},
	Depth:        {"the latency of the deepest page relative to the first", "x", 1, "a ratio above 0, such as 2x", maxRatio, "depth<2x", false, ""},
	Worse:        {"the change", "%", 100, "a change in percent, such as 10%", maxRatio, "worse<10% vs baseline.json", false, ""},
}

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

// inWords holds the operators.
var inWords = map[Op]string{Less: "below", AtMost: "at most", More: "above", AtLeast: "at least", Equal: "equal to"}

// Threshold is one bound.
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
func (t Threshold) OfPhases() bool { return kinds[t.Metric].ofPhases }

// Unit returns the unit in which Shown and messages give the figure.
func (t Threshold) Unit() string { return kinds[t.Metric].unit }

// Figure is a measured value with its interval, in the unit of a threshold's
// Bound. The zero value means "not measured".
type Figure struct {
	Value, Low, High float64
	Open             bool  // no upper bound: High is only the highest value seen
	AtLeast          bool  // so many requests failed that Value is a lower bound
	Samples          int64 // requests behind it; 0: not derived from samples
	Known            bool  // whether it was measured

	beyond Share // of a phase: its requests beyond the bound
	late   bool  // most of them were sent late, and served in time
}

// Of returns the figure that t bounds, as measured in the phase. It is unknown
// if the phase has no request that t applies to.
func (t Threshold) Of(rec Recording) Figure {
	switch t.Metric {
	case Errors:
		return ofShare(rec.Share(t.Label, Failed))
	case LimitedShare:
		return ofShare(rec.Share(t.Label, Limited))
	case Quantile, Max:
	default:
		return Figure{}
	}
	h, p := rec.Label(t.Label)[Accepted], t.P
	if t.Metric == Max {
		p = 1
	}
	f := OfQuantile(h.Quantile(p))
	if t.Metric == Max {
		f.Low, f.High, f.Open = f.Value, f.Value, f.AtLeast
	}
	f.beyond = rec.slower(time.Duration(t.Bound*float64(time.Second)), p, t.Label)
	f.late = rec.SentLate() != "" && 2*f.beyond.Sure < f.beyond.Count
	return f
}

func ofShare(s Share) Figure {
	return Figure{Value: s.Value, Low: s.Low, High: s.High, Samples: s.Of, Known: s.Of > 0, beyond: s}
}

// OfQuantile returns the figure of a quantile of response times.
func OfQuantile(e Estimate) Figure {
	return Figure{Value: e.Value.Seconds(), Low: e.Low.Seconds(), High: e.High.Seconds(), Open: e.Open, AtLeast: e.AtLeast,
		Samples: e.Samples, Known: e.Samples > 0}
}

// allowed returns the share of the requests of a phase that may be beyond the bound.
func (t Threshold) allowed() float64 {
	switch t.Metric {
	case Quantile:
		return 1 - t.P
	case Max:
		return 0
	default:
		return t.Bound
	}
}

// Shown returns the figure in t.Unit.
func (t Threshold) Shown(f Figure) Figure {
	by := kinds[t.Metric].by
	f.Value, f.Low, f.High = f.Value*by, f.Low*by, f.High*by
	return f
}

// name returns the metric in words.
func (t Threshold) name() string {
	if t.Metric == Quantile {
		return "p" + strconv.FormatFloat(math.Round(t.P*1e8)/1e6, 'g', -1, 64)
	}
	return kinds[t.Metric].words
}

// bound returns the bound in words.
func (t Threshold) bound() string { return inWords[t.Op] + " " + t.amount(t.Bound) }

func (t Threshold) amount(v float64) string {
	return printable.Amount(v*kinds[t.Metric].by, t.Unit())
}
