package threshold

import "time"

// Kind says which figure a threshold bounds.
type Kind string

// The kinds. Latencies are response times of accepted requests, from the moment
// at which each was due.
const (
	Quantile   Kind = "quantile"   // p99<250ms: a percentile of the latency
	Max        Kind = "max"        // max<2s: the longest latency of the run
	Errors     Kind = "errors"     // errors<0.1%: the share of requests neither accepted nor limited
	Limited    Kind = "limited"    // limited<1%: the share of requests answered 429
	Sustained  Kind = "sustained"  // sustained>=800/s: the highest rate that still meets the scenario's other thresholds
	Regression Kind = "regression" // regression<10% vs baseline.json: how much worse the figures are than the baseline's
)

// Op is how a figure is compared with its bound.
type Op string

// The operators. Equal goes with a share of nought only: there was none at all.
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
	At       float64 // the rate (requests per second) of the phases that it is for; 0: all

	Kind Kind
	P    float64 // Quantile: 0.99 is p99
	Op   Op

	Latency  time.Duration // the bound of Quantile and Max
	Share    float64       // the bound of Errors, Limited and Regression: 0.01 is 1 %
	Rate     float64       // the bound of Sustained, in requests per second
	Baseline string        // Regression: the file to compare with, as it was given
}

// String is the text that was parsed.
func (t Threshold) String() string { return t.Text }
