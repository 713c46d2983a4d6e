package load

import (
	"fmt"
	"strings"
	"time"

	"outreach.example/conformance/reports"
)

// ModelVersion is the version of the model. It changes if a reader of the earlier
// version could misread the new one.
const ModelVersion = "3"

// Results are the results of one load run. load.schema.json is the JSON Schema of their
// JSON form.
type Results struct {
	Version string         `json:"version"`
	Tool    reports.Tool   `json:"tool"`
	Target  reports.Target `json:"target"`
	Run     Run            `json:"run"`

	Verdict reports.Verdict `json:"verdict"`
	// Reasons explain in words why the verdict is not Passed.
	Reasons []string `json:"reasons"`

	Calibration *Calibration `json:"calibration,omitempty"`
	Scenarios   []Scenario   `json:"scenarios"`
	Comparison  *Comparison  `json:"comparison,omitempty"`
	Traffic     Traffic      `json:"traffic"`
}

// ExitCode returns the exit code of the process with these results: 130 for an
// interrupted run, 0 for a complete shard, otherwise the verdict's. A shard has no
// verdict of its own, because its sample is too small.
func (r Results) ExitCode() int {
	switch {
	case r.Run.Interrupted:
		return 130
	case r.Run.Shard != nil:
		return 0
	}
	return r.Verdict.ExitCode()
}

// Requests returns the number of all requests, of warm-ups and preparation too.
func (r Results) Requests() (total int64) {
	for _, s := range r.Scenarios {
		if s.Requests != nil {
			total += s.Requests.Total
		}
	}
	return max(total, r.Traffic.Sent)
}

// Coverage returns in words how many scenarios have a conclusive verdict, and what they left
// unchecked, for example "3 of 4 scenarios, 1 check left out (recovery)".
func (r Results) Coverage() string {
	judged, left := 0, []string{}
	for _, s := range r.Scenarios {
		if s.Verdict != reports.Inconclusive {
			judged++
		}
		left = append(left, s.Unchecked...)
	}
	text := fmt.Sprintf("%d of %d scenarios", judged, len(r.Scenarios))
	switch len(left) {
	case 0:
		return text
	case 1:
		return fmt.Sprintf("%s, 1 check left out (%s)", text, left[0])
	default:
		return fmt.Sprintf("%s, %d checks left out (%s)", text, len(left), strings.Join(left, ", "))
	}
}

// Run says what was requested, and when it ran.
type Run struct {
	ID          string    `json:"id"`
	Started     time.Time `json:"started"`
	Seconds     float64   `json:"seconds"`
	Seed        int64     `json:"seed"`                // of the content and order of requests
	Selection   string    `json:"selection,omitempty"` // scenarios and settings, as flags; empty for the defaults
	Interrupted bool      `json:"interrupted"`
	Shard       *Shard    `json:"shard,omitempty"` // nil if the run is not sharded
}

// Shard identifies the part of a load run that one of several generators sent.
type Shard struct {
	Index int `json:"index"` // from 1 to Of
	Of    int `json:"of"`
}

// Calibration is the capacity of the generator on its machine, measured against a
// server that does nothing.
type Calibration struct {
	CeilingPerSecond float64 `json:"ceiling_per_second"`
	LagP99MS         float64 `json:"lag_p99_ms"`               // send lag
	ServiceP99MS     float64 `json:"service_p99_ms,omitempty"` // of the null server: what generator and machine add
	CPUPerRequestUS  float64 `json:"cpu_per_request_us"`       // of the generator
	Cores            int     `json:"cores"`
	Note             string  `json:"note,omitempty"`
}

// Traffic sums up all phases of all scenarios, including warm-ups.
type Traffic struct {
	Planned       int64            `json:"planned"`
	Sent          int64            `json:"sent"`
	Late          int64            `json:"late"`
	Dropped       int64            `json:"dropped"`  // planned and never sent
	Statuses      map[string]int64 `json:"statuses"` // by HTTP status; "none" is without a response
	BytesReceived int64            `json:"bytes_received"`
}

// Comparison is the difference between two targets that were loaded in turn.
type Comparison struct {
	A            reports.Target   `json:"a"`
	B            reports.Target   `json:"b"`
	Pairs        int              `json:"pairs"` // of blocks: one of A and one of B
	BlockSeconds float64          `json:"block_seconds"`
	Order        string           `json:"order"`           // of the blocks, e.g. "ABBAAB"
	Level        float64          `json:"level,omitempty"` // a figure differs if its P is at most this; 0 in files of earlier releases
	Figures      []ComparedFigure `json:"figures,omitempty"`
}

// Rule says when a figure differs; empty if the level is unknown.
func (c Comparison) Rule() string {
	if c.Level == 0 {
		return ""
	}
	return fmt.Sprintf("B is better or worse in a figure only if p, corrected for the %d figures, is at most %g", len(c.Figures), c.Level)
}

// ComparedFigure is one figure of both targets.
type ComparedFigure struct {
	Name string `json:"name"` // e.g. "response p99"
	Unit string `json:"unit"` // e.g. "ms"
	// A and B are the medians of the blocks; nil if unknown.
	A *float64 `json:"a,omitempty"`
	B *float64 `json:"b,omitempty"`
	// AOpen and BOpen report that so many requests failed that the figure is a lower bound.
	// Difference and Ratio are then bounds too, and unknown if both are.
	AOpen bool `json:"a_open,omitempty"`
	BOpen bool `json:"b_open,omitempty"`
	// Difference is B − A, in Unit.
	Difference *Estimate `json:"difference,omitempty"`
	// Ratio is B ÷ A, with the bounds of its interval; 0 if unknown.
	Ratio      float64 `json:"ratio,omitempty"`
	RatioLow   float64 `json:"ratio_low,omitempty"`
	RatioHigh  float64 `json:"ratio_high,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // of the intervals
	P          float64 `json:"p,omitempty"`          // p-value of the hypothesis that A and B are equal, corrected for the number of figures; 0 without a test
	Verdict    Effect  `json:"verdict"`
	Why        string  `json:"why,omitempty"`
}

// Effect is the result of a compared figure, about B.
type Effect string

// The effects.
const (
	NoDifference   Effect = "no-difference" // not significant
	Better         Effect = "better"
	Worse          Effect = "worse"
	EffectNotKnown Effect = "inconclusive"
)
