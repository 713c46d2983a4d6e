package load

import "time"

// Phase is a span of one rate. Planned = Sent + Dropped.
type Phase struct {
	Name    string    `json:"name"`
	Warmup  bool      `json:"warmup"` // counts for nothing
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`

	RatePerSecond     float64 `json:"rate_per_second"`     // asked for; 0 in a closed loop
	AchievedPerSecond float64 `json:"achieved_per_second"` // accepted answers
	ClosedLoop        bool    `json:"closed_loop"`         // a request waited for the answer to the former one
	GeneratorLimited  bool    `json:"generator_limited"`   // the generator, not the target, shaped the figures

	Planned       int64            `json:"planned"`
	Sent          int64            `json:"sent"`
	Late          int64            `json:"late"`
	Dropped       int64            `json:"dropped"`
	Statuses      map[string]int64 `json:"statuses,omitempty"` // by HTTP status; "none" where no answer came
	Failures      map[string]int64 `json:"failures,omitempty"` // why no whole answer came
	BytesReceived int64            `json:"bytes_received"`

	Response Latency       `json:"response"`      // from the time when the request was due
	Service  Latency       `json:"service"`       // from the time when it was sent
	Lag      *Distribution `json:"lag,omitempty"` // from due to sent

	Labels []Label  `json:"labels,omitempty"`
	Series []Second `json:"series,omitempty"` // ascending
	// Histograms are HdrHistograms in the compressed V2 encoding, base64, of
	// nanoseconds, by name, e.g. "response accepted".
	Histograms map[string]string `json:"histograms,omitempty"`
}

// Latency holds a distribution for each class of answers; nil where there were none.
type Latency struct {
	Accepted *Distribution `json:"accepted,omitempty"` // 2xx
	Limited  *Distribution `json:"limited,omitempty"`  // 429
	Failed   *Distribution `json:"failed,omitempty"`   // all else, and no answer
}

// Distribution describes many durations.
type Distribution struct {
	Count     int64        `json:"count"`
	MinMS     float64      `json:"min_ms"`
	MeanMS    float64      `json:"mean_ms"`
	MaxMS     float64      `json:"max_ms"`
	Clipped   int64        `json:"clipped,omitempty"` // beyond the histogram's range, counted as its end
	Quantiles []Quantile   `json:"quantiles,omitempty"`
	Curve     []CurvePoint `json:"curve,omitempty"` // for a plot; ascending
}

// Quantile is one quantile with the bounds between which it lies.
type Quantile struct {
	P          float64 `json:"p"`
	ValueMS    float64 `json:"value_ms"`
	LowMS      float64 `json:"low_ms"`
	HighMS     float64 `json:"high_ms"`
	Open       bool    `json:"open,omitempty"` // too few samples for an upper bound: HighMS is the largest that was seen
	Confidence float64 `json:"confidence"`     // that it lies there
	Flagged    bool    `json:"flagged"`        // not to be relied on
	Why        string  `json:"why,omitempty"`
}

// CurvePoint is a point of a percentile curve.
type CurvePoint struct {
	P       float64 `json:"p"`
	ValueMS float64 `json:"value_ms"`
}

// Label is the part of a phase in which one thing was asked.
type Label struct {
	Name     string        `json:"name"` // e.g. "campaigns.list limit=100"
	Accepted int64         `json:"accepted"`
	Limited  int64         `json:"limited"`
	Failed   int64         `json:"failed"`
	Response *Distribution `json:"response,omitempty"` // of accepted answers
}

// Second is one second of a phase, from T to T+1 seconds after its start. Asked
// and Sent count requests by the time when they were due and sent; Done,
// Accepted, Limited, Failed and BytesReceived count answers by the time when
// they were there. Response and Service are of the requests that were due in it.
type Second struct {
	T             int64  `json:"t"`
	Asked         int64  `json:"asked"`
	Sent          int64  `json:"sent"`
	Done          int64  `json:"done"`
	Accepted      int64  `json:"accepted"`
	Limited       int64  `json:"limited"`
	Failed        int64  `json:"failed"`
	BytesReceived int64  `json:"bytes_received"`
	Response      *Brief `json:"response,omitempty"` // of accepted answers; nil when there are none
	Service       *Brief `json:"service,omitempty"`
}

// Brief is a distribution in four numbers.
type Brief struct {
	P50MS float64 `json:"p50_ms"`
	P90MS float64 `json:"p90_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
}
