package load

import (
	"math"
	"time"

	"outreach.example/conformance/internal/printable"
)

// Phase is a part of a scenario. Planned is Sent + Dropped.
type Phase struct {
	Name    string    `json:"name"`
	Warmup  bool      `json:"warmup"` // not part of any figure
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`

	RatePerSecond     float64 `json:"rate_per_second"`     // requested; 0 in a closed loop
	AchievedPerSecond float64 `json:"achieved_per_second"` // accepted responses
	ClosedLoop        bool    `json:"closed_loop"`         // each request waits for the response to the one before
	OtherLoad         bool    `json:"other_load"`          // the target got another load than the requested one

	Planned       int64            `json:"planned"`
	Sent          int64            `json:"sent"`
	Late          int64            `json:"late"`
	Dropped       int64            `json:"dropped"`
	Statuses      map[string]int64 `json:"statuses,omitempty"` // by HTTP status; "none" is without a response
	Failures      map[string]int64 `json:"failures,omitempty"` // causes of missing or truncated responses
	BytesReceived int64            `json:"bytes_received"`

	Response Latency       `json:"response"`      // from the due time of the request
	Service  Latency       `json:"service"`       // from the time it was sent
	Lag      *Distribution `json:"lag,omitempty"` // from due to sent

	Labels []Label `json:"labels,omitempty"`
	// IntervalSeconds is the length of each item of Series; 0 without a series.
	IntervalSeconds int64      `json:"interval_seconds,omitempty"`
	Series          []Interval `json:"series,omitempty"` // ascending
	// Histograms are HdrHistograms of nanoseconds, in the compressed V2 encoding and
	// base64, by name, e.g. "response accepted".
	Histograms map[string]string `json:"histograms,omitempty"`
}

// openTail is the probability that the interval of a percentile leaves above its upper
// end.
const openTail = 0.025

// Supports reports whether the plan of the phase has enough requests to bound the quantile
// from above. In a closed loop only the median counts: a slow response delays the requests
// after it, so the tail lacks those that would have waited.
func (p Phase) Supports(quantile float64) bool {
	if p.ClosedLoop {
		return quantile <= 0.5
	}
	return math.Pow(quantile, float64(p.Planned)) <= openTail
}

// Latency holds the distribution of each class of responses; nil without responses.
// Figures of the accepted ones also cover each failed request that took longer than the
// figure, with the time that it took as a lower bound.
type Latency struct {
	Accepted *Distribution `json:"accepted,omitempty"` // 2xx
	Limited  *Distribution `json:"limited,omitempty"`  // 429
	Failed   *Distribution `json:"failed,omitempty"`   // other statuses, and no response
}

// Distribution is a distribution of durations.
type Distribution struct {
	Count     int64        `json:"count"`
	MinMS     float64      `json:"min_ms"`
	MeanMS    float64      `json:"mean_ms"`
	MaxMS     float64      `json:"max_ms"`
	Open      bool         `json:"open,omitempty"`      // MaxMS is of a failed request, and so a lower bound
	MeanOpen  bool         `json:"mean_open,omitempty"` // failed requests count in MeanMS, so it is a lower bound
	Clipped   int64        `json:"clipped,omitempty"`   // values above the histogram's range, counted as its maximum
	Quantiles []Quantile   `json:"quantiles,omitempty"`
	Curve     []CurvePoint `json:"curve,omitempty"` // for a plot; ascending
}

// Longest returns the maximum in words.
func (d Distribution) Longest() string { return AtLeast(d.Open, d.MaxMS) }

// AtLeast formats milliseconds, with a mark if they are a lower bound.
func AtLeast(is bool, ms float64) string { return Bound(is, false) + printable.Figure(ms) }

// Bound returns the mark of a figure that is a lower or an upper bound, or "".
func Bound(lower, upper bool) string {
	switch {
	case lower:
		return "≥"
	case upper:
		return "≤"
	default:
		return ""
	}
}

// Quantile is a quantile with its confidence interval.
type Quantile struct {
	P          float64 `json:"p"`
	ValueMS    float64 `json:"value_ms"`
	LowMS      float64 `json:"low_ms"`
	HighMS     float64 `json:"high_ms"`
	Open       bool    `json:"open,omitempty"` // no upper bound, because the sample is too small or requests failed: HighMS is the largest sample
	Confidence float64 `json:"confidence"`     // of the interval
	Flagged    bool    `json:"flagged"`        // unreliable
	Why        string  `json:"why,omitempty"`
}

// CurvePoint is a point of a percentile curve.
type CurvePoint struct {
	P       float64 `json:"p"`
	ValueMS float64 `json:"value_ms"`
}

// Label is the part of a phase with one kind of request.
type Label struct {
	Name     string        `json:"name"` // e.g. "campaigns.list limit=100"
	Accepted int64         `json:"accepted"`
	Limited  int64         `json:"limited"`
	Failed   int64         `json:"failed"`
	Response *Distribution `json:"response,omitempty"` // of accepted responses
}

// Interval is a part of a phase. It begins T seconds after the phase's start. Asked counts
// requests by due time, and Sent by send time. Done, Accepted, Limited, Failed and
// BytesReceived count responses by the time they arrived. Response and Service are of
// the requests that were due in it.
type Interval struct {
	T             int64  `json:"t"`
	Asked         int64  `json:"asked"`
	Sent          int64  `json:"sent"`
	Done          int64  `json:"done"`
	Accepted      int64  `json:"accepted"`
	Limited       int64  `json:"limited"`
	Failed        int64  `json:"failed"`
	BytesReceived int64  `json:"bytes_received"`
	Response      *Brief `json:"response,omitempty"` // of accepted responses; nil without any
	Service       *Brief `json:"service,omitempty"`
}

// Brief is a distribution in four numbers.
type Brief struct {
	P50MS      float64 `json:"p50_ms"`
	P90MS      float64 `json:"p90_ms"`
	P99MS      float64 `json:"p99_ms"`
	MaxMS      float64 `json:"max_ms"`
	Open       bool    `json:"open,omitempty"`        // P99MS and MaxMS are of failed requests, and so lower bounds
	MedianOpen bool    `json:"median_open,omitempty"` // so is P50MS
}
