package infer

// Answer answers a question that is not about a figure. Value holds the answer,
// or it is empty and Why says what is missing. If few possibilities remain,
// OneOf lists them.
type Answer struct {
	Value      string   `json:"value,omitempty"`
	OneOf      []string `json:"one_of,omitempty"`     // if Value is empty: the remaining possibilities
	Confidence float64  `json:"confidence,omitempty"` // 0 to 1, of Value
	Why        string   `json:"why,omitempty"`        // evidence, or what is missing
}

// Known reports whether there is an answer.
func (a Answer) Known() bool { return a.Value != "" }

// Estimate is a figure with its interval. If Known is false, Why says what is
// missing; Low and High, if not 0, are the known bounds.
type Estimate struct {
	Known      bool    `json:"known"`
	Value      float64 `json:"value,omitempty"`
	Low        float64 `json:"low,omitempty"`
	High       float64 `json:"high,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // that the interval holds the truth, 0 to 1
	Unit       string  `json:"unit,omitempty"`       // requests, s, requests/s
	Why        string  `json:"why,omitempty"`
}

// The values of Result.Verdict.
const (
	RateLimited        = "rate-limited"        // Layers holds what is known of the limiter
	NoLimit            = "no-limit-seen"       // Beyond holds what was tried
	ConcurrencyLimited = "concurrency-limited" // only concurrent requests are refused; Concurrency holds how many pass
	Queued             = "slowed-down"         // excess requests wait, or the server is at capacity
)

// The values of Layer.Kind, and of its OneOf.
const (
	TokenBucket    = "token-bucket"         // or GCRA, which looks the same from outside
	AlignedWindow  = "fixed-window"         // windows aligned to the clock
	FirstWindow    = "first-request-window" // a window opens with the first request after the previous one
	SlidingLog     = "sliding-log"
	SlidingCounter = "sliding-counter"
)

// Layer is one limit of a limiter.
type Layer struct {
	Kind Answer `json:"kind"`
	// Limit is how many requests pass at once after a rest: the limit of a
	// window, the burst of a bucket.
	Limit Estimate `json:"limit"`
	// Window is the time in seconds in which Limit requests pass. For a bucket
	// it is the time to fill it.
	Window Estimate `json:"window"`
	// Rate is the long-term rate in requests per second.
	Rate Estimate `json:"rate"`
	// CountsRefused is "yes" or "no".
	CountsRefused Answer `json:"counts_refused"`
}

// Beyond bounds the limits that the budget did not reach.
type Beyond struct {
	Burst     int     `json:"burst"`     // size of an accepted burst
	Sustained float64 `json:"sustained"` // accepted requests/s …
	Seconds   float64 `json:"seconds"`   // … for so long
	Why       string  `json:"why"`       // in words, e.g. "a burst of 640 and 5000 requests/s for 62 s were accepted"
}

// The values of Sharing.Shared.
const (
	Shared   = "shared"   // the other subject is refused when Main has exhausted the limit
	Separate = "separate" // it is not
)

// Sharing reports whether a subject shares the counter with Main.
type Sharing struct {
	Subject    Subject `json:"subject"`
	Shared     Answer  `json:"shared"`
	Refused    int     `json:"refused"`    // of Sandwiches
	Sandwiches int     `json:"sandwiches"` // valid comparisons: requests between two refusals of Main
	missing    bool    // the target has no such subject
}

// RetryAfter reports whether the Retry-After of refused answers is true.
type RetryAfter struct {
	Present Answer `json:"present"` // "always", "never" or "sometimes"
	Refused int    `json:"refused"` // refused answers seen
	With    int    `json:"with"`    // of these, with any Retry-After
	// Unreadable is how many of those cannot be parsed. Example is one of them,
	// quoted and truncated.
	Unreadable int    `json:"unreadable,omitempty"`
	Example    string `json:"example,omitempty"`
	// Honest is the share of promises after which a single request passed, with
	// its 95 % interval. Trials is the number of promises tested.
	Honest Estimate `json:"honest"`
	Trials int      `json:"trials"`
	// Shortest is the shortest wait that works after a drain; Promised is what
	// Retry-After said then (medians, in seconds).
	Shortest Estimate `json:"shortest"`
	Promised Estimate `json:"promised"`
	// Verdict is Honest, TooLong, TooShort or both of the latter, possibly with
	// "sometimes". Its Why gives what was promised and what happened.
	Verdict Answer `json:"verdict"`
}

// The values of RetryAfter.Verdict.
const (
	Honest   = "honest"
	TooLong  = "too long"
	TooShort = "too short"
)

// HeaderClaims reports what RateLimit headers say and whether it is true.
type HeaderClaims struct {
	Present   Answer   `json:"present"`             // "always", "never" or "sometimes", of all answers
	Styles    []string `json:"styles,omitempty"`    // which headers, e.g. "RateLimit-Limit"
	Malformed []string `json:"malformed,omitempty"` // values that cannot be parsed; at most 8
	Limit     Answer   `json:"limit"`               // "agrees" or "disagrees" with what was measured
	Window    Answer   `json:"window"`
	Remaining Answer   `json:"remaining"`
	Reset     Answer   `json:"reset"`
}

// Spent is the cost of the probing.
type Spent struct {
	Requests int     `json:"requests"`
	Refused  int     `json:"refused"`
	Failed   int     `json:"failed"`
	Seconds  float64 `json:"seconds"`
	Stopped  string  `json:"stopped,omitempty"` // the budget that ended it early
}

// Point is one observation, for a plot.
type Point struct {
	Sent     float64 `json:"sent"`     // seconds since the start
	Received float64 `json:"received"` // seconds since the start
	Subject  Subject `json:"subject"`
	Verdict  string  `json:"verdict"` // "accepted", "limited" or "failed"
	Step     string  `json:"step"`    // of the probing, e.g. "burst"
}

// Result is what is known about a limiter.
type Result struct {
	Verdict     Answer       `json:"verdict"`
	Layers      []Layer      `json:"layers,omitempty"` // the fastest first
	Beyond      *Beyond      `json:"beyond,omitempty"` // beyond the slowest layer, or overall if there is none
	Concurrency *Estimate    `json:"concurrency,omitempty"`
	Scope       Answer       `json:"scope"` // e.g. "workspace"; derived from Sharing
	Sharing     []Sharing    `json:"sharing"`
	RetryAfter  RetryAfter   `json:"retry_after"`
	Headers     HeaderClaims `json:"headers"`
	Recovery    Estimate     `json:"recovery"`   // seconds from a drain to the first request that passes
	RoundTrip   Estimate     `json:"round_trip"` // seconds, median
	Inference   Spent        `json:"inference"`  // to identify the layers
	Total       Spent        `json:"total"`      // with scope, Retry-After and recovery
	Picture     []Point      `json:"picture"`
	Notes       []string     `json:"notes,omitempty"`
}
