package threshold

// Metric says which figure a threshold bounds.
type Metric string

// The metrics. Latencies are response times of accepted requests, from the
// moment at which each was due, in seconds.
const (
	Quantile   Metric = "quantile"   // p99<250ms: a percentile of the latency
	Max        Metric = "max"        // max<2s: the longest latency of the run
	Errors     Metric = "errors"     // errors<0.1%: the share of requests neither accepted nor limited
	Limited    Metric = "limited"    // limited<1%: the share of requests answered 429
	Sustained  Metric = "sustained"  // sustained>=800/s: the highest rate that meets the scenario's other thresholds
	Depth      Metric = "depth"      // depth<2x: what the deepest page costs, the first page being 1x
	Regression Metric = "regression" // regression<10% vs baseline.json: how much worse than the baseline the figures are
)

// Op is how a figure is compared with its bound.
type Op string

// The operators. Equal goes with a share of 0 only: there was none at all.
const (
	Less    Op = "<"
	AtMost  Op = "<="
	More    Op = ">"
	AtLeast Op = ">="
	Equal   Op = "="
)

// Threshold is one bound. Parse makes it.
type Threshold struct {
	Text     string  // as it was given
	Scenario string  // that it is for; empty: all
	Label    string  // the kind of request that it is for; empty: all
	Rate     float64 // of the phases that it is for, in requests per second; 0: all

	Metric   Metric
	P        float64 // Quantile: 0.99 is p99
	Op       Op
	Bound    float64 // seconds, a share (0.01 is 1 %), requests per second, or a ratio, by Metric
	Baseline string  // Regression: the file to compare with; empty: the run's own
}

// String is the text that was parsed.
func (t Threshold) String() string { return t.Text }

// For reports whether the threshold is for the scenario.
func (t Threshold) For(scenario string) bool { return t.Scenario == "" || t.Scenario == scenario }

// Replaces reports whether t, of somebody who knows the target, stands in for
// the other that a scenario brings along: it bounds the same figure wherever the
// other does.
func (t Threshold) Replaces(other Threshold) bool {
	return t.Metric == other.Metric && t.P == other.P && (t.Scenario == "" || t.Scenario == other.Scenario) &&
		(t.Label == "" || t.Label == other.Label) && (t.Rate == 0 || t.Rate == other.Rate)
}

// OfPhases reports whether each phase has the figure that t bounds, which Of
// returns. Other figures belong to a whole scenario.
func (t Threshold) OfPhases() bool {
	switch t.Metric {
	case Quantile, Max, Errors, Limited:
		return true
	default:
		return false
	}
}

// Unit is that in which people read the figure, and Shown returns it.
func (t Threshold) Unit() string { return t.scale().unit }

// scale is how a figure is shown to people.
type scale struct {
	unit string
	by   float64
}

func (t Threshold) scale() scale {
	switch t.Metric {
	case Quantile, Max:
		return scale{"ms", 1000}
	case Errors, Limited, Regression:
		return scale{"%", 100}
	case Sustained:
		return scale{"/s", 1}
	default:
		return scale{"x", 1}
	}
}
