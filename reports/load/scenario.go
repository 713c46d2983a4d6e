package load

import (
	"fmt"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
)

// Scenario is the result of one scenario. The fields from Sustained on belong to
// single kinds of scenarios.
type Scenario struct {
	Name    string          `json:"name"`
	About   string          `json:"about"` // what it does, in one sentence
	Verdict reports.Verdict `json:"verdict"`
	Reasons []string        `json:"reasons,omitempty"` // why the verdict is not Passed
	Missing []string        `json:"missing,omitempty"` // inputs that the scenario lacked
	Notes   []string        `json:"notes,omitempty"`
	// Unchecked names the checks of the scenario that were left out.
	Unchecked []string  `json:"unchecked,omitempty"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`

	Phases     []Phase     `json:"phases,omitempty"` // in order of time
	Thresholds []Threshold `json:"thresholds,omitempty"`
	Violations []Violation `json:"violations,omitempty"`
	Requests   *Requests   `json:"requests,omitempty"` // nil if none was sent
	Coverage   *Coverage   `json:"coverage,omitempty"` // nil if no response was to be inspected

	Sustained *Sustained `json:"sustained,omitempty"`
	Depth     []Depth    `json:"depth,omitempty"` // one per list operation
	Walks     *Walks     `json:"walks,omitempty"`
	Drift     []Drift    `json:"drift,omitempty"`
	Memory    []Memory   `json:"memory,omitempty"`
	Limiter   *Limiter   `json:"limiter,omitempty"`
}

// Threshold is the result of a threshold.
type Threshold struct {
	Text    string  `json:"text"` // as it was given, e.g. "p99<250ms@500/s"
	Outcome Outcome `json:"outcome"`
	Phase   string  `json:"phase,omitempty"` // in which it was measured; empty for the whole scenario
	// Measured is the measured figure, in Unit; nil if there is none.
	Measured *Estimate `json:"measured,omitempty"`
	Unit     string    `json:"unit,omitempty"`
	Why      string    `json:"why,omitempty"`
}

// Outcome is the outcome of a threshold.
type Outcome string

// The outcomes of a threshold.
const (
	Met          Outcome = "met"
	Missed       Outcome = "missed"
	Inconclusive Outcome = "inconclusive"
)

// Estimate is a figure with its confidence interval. The field that holds it defines
// the unit.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Open  bool    `json:"open,omitempty"` // no upper bound
}

// In returns the figure with its interval in words.
func (e Estimate) In(unit string) string {
	if e.Open {
		return fmt.Sprintf("%s (%s or more)", printable.Amount(e.Value, unit), printable.Figure(e.Low))
	}
	return printable.Interval(e.Value, e.Low, e.High, unit)
}

// Change returns a change for the worse, or below 0 for the better, with its interval in words.
func (e Estimate) Change(unit string) string {
	if e.Value < 0 && !e.Open {
		return Estimate{Value: -e.Value, Low: -e.High, High: -e.Low}.In(unit) + " better"
	}
	return e.In(unit) + " worse"
}

// Violation is one requirement that one operation broke under load.
type Violation struct {
	Requirement string `json:"requirement"`
	Operation   string `json:"operation"`
	Count       int64  `json:"count"`
	// Examples holds the first few.
	Examples []reports.Violation `json:"examples"`
}

// Requests counts the requests of a scenario by purpose. Total is the sum of the
// others.
type Requests struct {
	Total    int64 `json:"total"`              // sent
	Counted  int64 `json:"counted"`            // in the listed phases, to which the figures apply
	WarmUp   int64 `json:"warm_up,omitempty"`  // before the first phase
	Searched int64 `json:"searched,omitempty"` // at the rates that a search tried
	Beside   int64 `json:"beside,omitempty"`   // to prepare phases, to probe a limiter, and retries after a 429
}

// Coverage counts the inspected responses.
type Coverage struct {
	Answers int64   `json:"answers"`
	Checked int64   `json:"checked"`  // decoded and judged
	Memo    int64   `json:"memo"`     // same bytes as a response judged before
	Dropped int64   `json:"dropped"`  // not judged, because the queue was full
	LeftOut int64   `json:"left_out"` // outside the sample, beyond the CPU budget for judging, or unreadable
	Share   float64 `json:"share"`    // (Checked + Memo) ÷ Answers
}

// Sustained is the highest rate that meets the thresholds.
type Sustained struct {
	RatePerSecond float64 `json:"rate_per_second"` // 0 if the lowest rate tried does not meet them
	LowPerSecond  float64 `json:"low_per_second"`
	HighPerSecond float64 `json:"high_per_second"`
	Confirmed     bool    `json:"confirmed"` // met again, for longer, after the search
	// SaturationPerSecond is the highest throughput at the rates at which the queue grew; 0
	// if it grew at none.
	SaturationPerSecond float64     `json:"saturation_per_second,omitempty"`
	Note                string      `json:"note,omitempty"`
	Knee                []KneePoint `json:"knee,omitempty"` // ascending by requested rate
}

// KneePoint is the result of one rate that was tried.
type KneePoint struct {
	AskedPerSecond    float64 `json:"asked_per_second"`
	AchievedPerSecond float64 `json:"achieved_per_second"`
	P50MS             float64 `json:"p50_ms"`
	P99MS             float64 `json:"p99_ms"`
	ErrorShare        float64 `json:"error_share"`
	OK                bool    `json:"ok"`
	Open              bool    `json:"open,omitempty"`        // P99MS is of failed requests, and so a lower bound
	MedianOpen        bool    `json:"median_open,omitempty"` // so is P50MS
	QueueGrew         bool    `json:"queue_grew,omitempty"`  // later requests waited ever longer
	Why               string  `json:"why,omitempty"`         // the thresholds that were not met
}

// Depth is the cost of pages by their depth in one list.
type Depth struct {
	Operation string       `json:"operation"`
	Points    []DepthPoint `json:"points,omitempty"` // ascending by page
	// Ratio is the median of the deepest page ÷ the median of the first. It is unknown if
	// the latter is a lower bound.
	Ratio float64 `json:"ratio,omitempty"`
	Open  bool    `json:"open,omitempty"` // Ratio is a lower bound
}

// DepthPoint is the result of several requests for one page.
type DepthPoint struct {
	Page       int64   `json:"page"` // from 1
	Rows       int64   `json:"rows"` // before it in the list
	Count      int64   `json:"count"`
	P50MS      float64 `json:"p50_ms"`
	P99MS      float64 `json:"p99_ms"`
	Open       bool    `json:"open,omitempty"`        // P99MS is of failed requests, and so a lower bound
	MedianOpen bool    `json:"median_open,omitempty"` // so is P50MS
}

// Walks sums up clients that each walk whole lists.
type Walks struct {
	Clients int   `json:"clients"`
	Walks   int64 `json:"walks"` // complete walks
	Pages   int64 `json:"pages"`
	Rows    int64 `json:"rows"`
	Faults  int64 `json:"faults"` // rows missing, repeated or out of order, and failed walks
}

// Drift is the change of one figure under constant load.
type Drift struct {
	Name      string   `json:"name"` // e.g. "response p50"
	Unit      string   `json:"unit"` // e.g. "ms"
	PerMinute Estimate `json:"per_minute"`
	Verdict   Trend    `json:"verdict"`
	Why       string   `json:"why,omitempty"`
}

// Trend is the direction of a figure over time.
type Trend string

// The trends.
const (
	Steady        Trend = "steady"
	Drifts        Trend = "drifts"
	TrendNotKnown Trend = "inconclusive"
)

// Memory is the memory use of a process over time.
type Memory struct {
	Of     string        `json:"of"` // e.g. "reference server", "generator"
	Points []MemoryPoint `json:"points,omitempty"`
}

// MemoryPoint is one measurement of a process.
type MemoryPoint struct {
	Seconds   float64 `json:"seconds"` // since the scenario's start
	HeapBytes int64   `json:"heap_bytes,omitempty"`
	RSSBytes  int64   `json:"rss_bytes,omitempty"`
}
