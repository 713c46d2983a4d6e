package threshold

import (
	"time"

	"outreach.example/conformance/loadtest/measure"
)

// Measured is what thresholds are held against. Phases that do not count, such
// as warm-ups and the steps of a search, are left out by whoever fills it in.
type Measured struct {
	Phases    []Phase
	Sustained []SustainedRate
	Baseline  *Baseline // what a regression is measured from; nil: there is none
}

// Phase is one phase of a scenario; its name and rate are its plan's.
type Phase struct {
	Scenario  string
	Recording measure.Recording
}

// SustainedRate is the outcome of a search for the highest rate (requests per
// second) that meets a scenario's thresholds.
type SustainedRate struct {
	Scenario string
	Rate     float64 // the highest that did; 0: none
	High     float64 // the lowest that did not; 0: the search ended before there was one
}

// Baseline is what an earlier run measured.
type Baseline struct {
	Latencies []Latency
	Sustained []SustainedRate
}

// Latency is a percentile of the response times of a baseline's phase. Those of
// RegressionQuantiles are compared.
type Latency struct {
	Scenario, Phase  string
	P                float64 // 0.99 is p99
	Value, Low, High time.Duration
	Open             bool // there is no upper bound: the sample was too small
}

// RegressionQuantiles are the percentiles that a regression is looked for in.
func RegressionQuantiles() []float64 { return []float64{0.5, 0.99} }

// BaselineOf are the figures of a run that a later one can be compared with.
func BaselineOf(m Measured) Baseline {
	b := Baseline{Sustained: m.Sustained}
	for _, phase := range m.Phases {
		for _, p := range RegressionQuantiles() {
			if e := phase.Recording.Response[measure.Accepted].Quantile(p); e.Samples > 0 {
				b.Latencies = append(b.Latencies, Latency{Scenario: phase.Scenario, Phase: phase.Recording.Name,
					P: p, Value: e.Value, Low: e.Low, High: e.High, Open: e.Open})
			}
		}
	}
	return b
}
