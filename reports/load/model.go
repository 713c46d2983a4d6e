package load

import (
	"fmt"
	"time"

	"outreach.example/conformance/reports"
)

// ModelVersion is the version of the model. It rises when a reader of the former
// version could misread the new one.
const ModelVersion = "2"

// Results is everything that one load run has to tell. The committed JSON
// Schema load.schema.json describes its JSON form.
type Results struct {
	Version string         `json:"version"`
	Tool    reports.Tool   `json:"tool"`
	Target  reports.Target `json:"target"`
	Run     Run            `json:"run"`

	Verdict reports.Verdict `json:"verdict"`
	// Reasons says in words why the verdict is not Passed.
	Reasons []string `json:"reasons"`

	Calibration *Calibration `json:"calibration,omitempty"`
	Scenarios   []Scenario   `json:"scenarios"`
	Comparison  *Comparison  `json:"comparison,omitempty"`
	Traffic     Traffic      `json:"traffic"`
}

// ExitCode is the exit code of the process that ended with r. A shard that has
// come to its end is done, whatever its figures: they are too small a sample, and
// the verdict is that of the whole.
func (r Results) ExitCode() int {
	switch {
	case r.Run.Interrupted:
		return 130
	case r.Run.Shard != nil:
		return 0
	}
	return r.Verdict.ExitCode()
}

// Requests is how many requests were sent in all, whatever for.
func (r Results) Requests() (total int64) {
	for _, s := range r.Scenarios {
		if s.Requests != nil {
			total += s.Requests.Total
		}
	}
	return max(total, r.Traffic.Sent)
}

// Coverage says how many of the run's scenarios came to a verdict about the
// target, for example "3 of 4 scenarios".
func (r Results) Coverage() string {
	judged := 0
	for _, s := range r.Scenarios {
		if s.Verdict != reports.Inconclusive {
			judged++
		}
	}
	return fmt.Sprintf("%d of %d scenarios", judged, len(r.Scenarios))
}

// Run tells what was asked for and when.
type Run struct {
	ID          string    `json:"id"`
	Started     time.Time `json:"started"`
	Seconds     float64   `json:"seconds"`
	Seed        int64     `json:"seed"`                // what is asked and in which order
	Selection   string    `json:"selection,omitempty"` // scenarios and settings, as flags; empty for the defaults
	Interrupted bool      `json:"interrupted"`
	Shard       *Shard    `json:"shard,omitempty"` // nil: the whole plan
}

// Shard is the part of a plan that one of several generators has sent.
type Shard struct {
	Index int `json:"index"` // from 1 to Of
	Of    int `json:"of"`
}

// Calibration is what the generator itself can do on its machine, measured
// against a server that does nothing.
type Calibration struct {
	CeilingPerSecond float64 `json:"ceiling_per_second"`
	LagP99MS         float64 `json:"lag_p99_ms"`         // how late it sends
	CPUPerRequestUS  float64 `json:"cpu_per_request_us"` // CPU time of the generator
	Cores            int     `json:"cores"`
	Note             string  `json:"note,omitempty"`
}

// Traffic sums up all phases of all scenarios, warm-ups included.
type Traffic struct {
	Planned       int64            `json:"planned"`
	Sent          int64            `json:"sent"`
	Late          int64            `json:"late"`
	Dropped       int64            `json:"dropped"`  // planned and never sent
	Statuses      map[string]int64 `json:"statuses"` // by HTTP status; "none" where no answer came
	BytesReceived int64            `json:"bytes_received"`
}

// Comparison is what two targets, loaded in turns, differ in.
type Comparison struct {
	A            reports.Target   `json:"a"`
	B            reports.Target   `json:"b"`
	Pairs        int              `json:"pairs"` // blocks of A and B that belong together
	BlockSeconds float64          `json:"block_seconds"`
	Order        string           `json:"order"` // in which the blocks ran, e.g. "ABBAAB"
	Figures      []ComparedFigure `json:"figures,omitempty"`
}

// ComparedFigure is one figure of both targets.
type ComparedFigure struct {
	Name string `json:"name"` // e.g. "response p99"
	Unit string `json:"unit"` // e.g. "ms"
	// A and B are the medians of the blocks; none where it could not be told.
	A *float64 `json:"a,omitempty"`
	B *float64 `json:"b,omitempty"`
	// Difference is B − A, in Unit.
	Difference *Estimate `json:"difference,omitempty"`
	// Ratio is B ÷ A, with the bounds of its interval; 0 where there is none.
	Ratio      float64 `json:"ratio,omitempty"`
	RatioLow   float64 `json:"ratio_low,omitempty"`
	RatioHigh  float64 `json:"ratio_high,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // of the intervals
	P          float64 `json:"p,omitempty"`          // of the test that A and B are the same, corrected for the number of figures; 0 where there was none
	Verdict    Effect  `json:"verdict"`
	Why        string  `json:"why,omitempty"`
}

// Effect is what a compared figure says about B.
type Effect string

// The effects.
const (
	NoDifference   Effect = "no-difference" // none that the test could see
	Better         Effect = "better"
	Worse          Effect = "worse"
	EffectNotKnown Effect = "inconclusive"
)
