package threshold

// Metric is the figure that a threshold bounds.
type Metric string

// The metrics. Latencies are response times of accepted requests in seconds,
// counted from the moment each was due.
const (
	Quantile   Metric = "quantile"   // p99<250ms: a percentile of the latency
	Max        Metric = "max"        // max<2s: the longest latency of the run
	Errors     Metric = "errors"     // errors<0.1%: the share of requests neither accepted nor limited
	Limited    Metric = "limited"    // limited<1%: the share of requests answered 429
	Sustained  Metric = "sustained"  // sustained>=800/s: the highest rate that meets the scenario's other thresholds
	Depth      Metric = "depth"      // depth<2x: the latency of the deepest page relative to the first
	Regression Metric = "regression" // regression<10% vs baseline.json: how much worse the figures are
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
	Baseline string  // Regression: the file to compare with; empty means the run's own
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
	case Errors, Limited, Regression:
		return scale{"%", 100}
	case Sustained:
		return scale{"/s", 1}
	default:
		return scale{"x", 1}
	}
}
