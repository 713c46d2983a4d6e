package load

import (
	"time"

	"outreach.example/conformance/reports"
)

// Scenario is one scenario and what became of it. The parts from Sustained on
// belong to single kinds of scenarios.
type Scenario struct {
	Name    string          `json:"name"`
	About   string          `json:"about"` // one sentence: what it does
	Verdict reports.Verdict `json:"verdict"`
	Reasons []string        `json:"reasons,omitempty"` // why the verdict is not Passed
	Missing []string        `json:"missing,omitempty"` // inputs without which the scenario could not run
	Notes   []string        `json:"notes,omitempty"`   // what else is worth knowing
	Started time.Time       `json:"started"`
	Seconds float64         `json:"seconds"`

	Phases     []Phase     `json:"phases,omitempty"` // in the order in which they ran
	Thresholds []Threshold `json:"thresholds,omitempty"`
	Violations []Violation `json:"violations,omitempty"`
	Requests   *Requests   `json:"requests,omitempty"` // nil: none was sent
	Coverage   *Coverage   `json:"coverage,omitempty"` // nil: no answer was to be inspected

	Sustained *Sustained `json:"sustained,omitempty"`
	Depth     []Depth    `json:"depth,omitempty"` // one a list operation
	Walks     *Walks     `json:"walks,omitempty"`
	Drift     []Drift    `json:"drift,omitempty"`
	Memory    []Memory   `json:"memory,omitempty"`
	Limiter   *Limiter   `json:"limiter,omitempty"`
}

// Threshold is a bound and how the measured figure stands to it.
type Threshold struct {
	Text    string  `json:"text"` // as it was given, e.g. "p99<250ms@500/s"
	Outcome Outcome `json:"outcome"`
	Phase   string  `json:"phase,omitempty"` // where it was measured; empty for the whole scenario
	// Measured is the figure with the bounds of its interval, in Unit; nil when
	// there is none.
	Measured *Estimate `json:"measured,omitempty"`
	Unit     string    `json:"unit,omitempty"`
	Why      string    `json:"why,omitempty"`
}

// Outcome is the answer for one threshold.
type Outcome string

// The outcomes of a threshold.
const (
	Met          Outcome = "met"
	Missed       Outcome = "missed"
	Inconclusive Outcome = "inconclusive"
)

// Estimate is a figure with the bounds between which it lies, as far as the
// measurement can tell. The field that holds it says in which unit.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Violation is one requirement that one operation broke under load.
type Violation struct {
	Requirement string `json:"requirement"`
	Operation   string `json:"operation"`
	Count       int64  `json:"count"`
	// Examples holds the first few.
	Examples []reports.Violation `json:"examples"`
}

// Requests says what all the requests of a scenario were for. Total is the sum of
// the others.
type Requests struct {
	Total    int64 `json:"total"`              // that were sent
	Counted  int64 `json:"counted"`            // in the phases that are listed, of which the figures are
	WarmUp   int64 `json:"warm_up,omitempty"`  // before the first phase
	Again    int64 `json:"again,omitempty"`    // in phases whose figures were discarded: this machine was too busy, so that they were sent again
	Searched int64 `json:"searched,omitempty"` // at the rates that a search tried
	Beside   int64 `json:"beside,omitempty"`   // to prepare phases, to probe a limiter, and repeated after a 429
}

// Coverage says how many of the answers were inspected.
type Coverage struct {
	Answers int64   `json:"answers"`
	Checked int64   `json:"checked"`  // decoded and judged
	Memo    int64   `json:"memo"`     // the same bytes had been judged before
	Dropped int64   `json:"dropped"`  // to be judged, but the queue was full
	LeftOut int64   `json:"left_out"` // outside the sample, beyond the CPU time for judging, or not readable
	Share   float64 `json:"share"`    // (Checked + Memo) ÷ Answers
}

// Sustained is the highest rate that still meets the thresholds.
type Sustained struct {
	RatePerSecond float64     `json:"rate_per_second"` // 0: not even the lowest rate tried
	LowPerSecond  float64     `json:"low_per_second"`
	HighPerSecond float64     `json:"high_per_second"`
	Confirmed     bool        `json:"confirmed"` // held once more, for longer, after the search
	Note          string      `json:"note,omitempty"`
	Knee          []KneePoint `json:"knee,omitempty"` // ascending by the rate that was asked
}

// KneePoint is one rate that was tried.
type KneePoint struct {
	AskedPerSecond    float64 `json:"asked_per_second"`
	AchievedPerSecond float64 `json:"achieved_per_second"`
	P50MS             float64 `json:"p50_ms"`
	P99MS             float64 `json:"p99_ms"`
	ErrorShare        float64 `json:"error_share"`
	OK                bool    `json:"ok"`
	Why               string  `json:"why,omitempty"` // what was not met
}

// Depth is what pages cost deep in one list.
type Depth struct {
	Operation string       `json:"operation"`
	Points    []DepthPoint `json:"points,omitempty"` // ascending by page
	// Ratio is the median at the deepest page ÷ that of the first.
	Ratio float64 `json:"ratio,omitempty"`
}

// DepthPoint is one page, asked for several times.
type DepthPoint struct {
	Page  int64   `json:"page"` // from 1
	Rows  int64   `json:"rows"` // that precede it in the list
	Count int64   `json:"count"`
	P50MS float64 `json:"p50_ms"`
	P99MS float64 `json:"p99_ms"`
}

// Walks sums up many clients, each walking whole lists.
type Walks struct {
	Clients int   `json:"clients"`
	Walks   int64 `json:"walks"` // that came to their end
	Pages   int64 `json:"pages"`
	Rows    int64 `json:"rows"`
	Faults  int64 `json:"faults"` // rows missing, doubled or out of order, and walks that broke off
}

// Drift is how one figure changes while the load stays the same.
type Drift struct {
	Name      string   `json:"name"` // e.g. "response p50"
	Unit      string   `json:"unit"` // e.g. "ms"
	PerMinute Estimate `json:"per_minute"`
	Verdict   Trend    `json:"verdict"`
	Why       string   `json:"why,omitempty"`
}

// Trend is what became of a figure over time.
type Trend string

// The trends.
const (
	Steady        Trend = "steady"
	Drifts        Trend = "drifts"
	TrendNotKnown Trend = "inconclusive"
)

// Memory is what a process used over time.
type Memory struct {
	Of     string        `json:"of"` // e.g. "reference server", "generator"
	Points []MemoryPoint `json:"points,omitempty"`
}

// MemoryPoint is one look at a process.
type MemoryPoint struct {
	Seconds   float64 `json:"seconds"` // since the scenario's start
	HeapBytes int64   `json:"heap_bytes,omitempty"`
	RSSBytes  int64   `json:"rss_bytes,omitempty"`
}
