package infer

// Answer is the answer to a question that is not about a figure. Either Value
// holds it, or it is empty and Why says what was missing; where only few
// possibilities remain, OneOf lists them.
type Answer struct {
	Value      string   `json:"value,omitempty"`
	OneOf      []string `json:"one_of,omitempty"`     // with an empty Value: one of these, which one cannot be told
	Confidence float64  `json:"confidence,omitempty"` // 0 to 1, of Value
	Why        string   `json:"why,omitempty"`        // what it rests on, or why it cannot be told
}

// Known tells whether there is an answer.
func (a Answer) Known() bool { return a.Value != "" }

// Estimate is a figure with the interval that it lies in. Without an estimate
// Known is false and Why says what was missing; Low and High, where not 0, then
// bound what is known all the same.
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
	ConcurrencyLimited = "concurrency-limited" // refused only for being many at once; Concurrency holds how many
	Queued             = "slowed-down"         // excess requests wait instead of being refused, or the server is at its limit
)

// The values of Layer.Kind, and of its OneOf.
const (
	TokenBucket    = "token-bucket"         // or GCRA: from outside they are the same
	AlignedWindow  = "fixed-window"         // windows that follow the clock
	FirstWindow    = "first-request-window" // a window opens with the first request after the former one ended
	SlidingLog     = "sliding-log"
	SlidingCounter = "sliding-counter"
)

// Layer is one limit of a limiter.
type Layer struct {
	Kind Answer `json:"kind"`
	// Limit is how many requests pass at once after a long silence: the limit
	// of a window, the burst of a bucket.
	Limit Estimate `json:"limit"`
	// Window is the time in which Limit requests pass, in seconds. A bucket
	// has none; for it, this is the time to fill it.
	Window Estimate `json:"window"`
	// Rate is what passes in the long run, in requests a second.
	Rate Estimate `json:"rate"`
	// CountsRefused is "yes" or "no".
	CountsRefused Answer `json:"counts_refused"`
}

// Beyond bounds the limits that the budget did not reach.
type Beyond struct {
	Burst     int     `json:"burst"`     // a burst of so many passed
	Sustained float64 `json:"sustained"` // requests/s that passed …
	Seconds   float64 `json:"seconds"`   // … for so long
	Why       string  `json:"why"`       // in words, e.g. "a burst of 640 and 5000 requests/s for 62 s passed"
}

// The values of Sharing.Shared.
const (
	Shared   = "shared"   // the other subject is refused when Main has used up the limit
	Separate = "separate" // it is not
)

// Sharing tells whether a subject shares the counter with Main.
type Sharing struct {
	Subject    Subject `json:"subject"`
	Shared     Answer  `json:"shared"`
	Refused    int     `json:"refused"`    // of Sandwiches
	Sandwiches int     `json:"sandwiches"` // times that it was asked between two refusals of Main
	missing    bool    // the target has no such subject
}

// RetryAfter tells what the Retry-After of refused answers is worth.
type RetryAfter struct {
	Present Answer `json:"present"` // "always", "never" or "sometimes"
	Refused int    `json:"refused"` // refused answers seen
	With    int    `json:"with"`    // of these, with a Retry-After, whatever it says
	// Unreadable of those say nothing that can be read, such as Example, which is
	// quoted and cut.
	Unreadable int    `json:"unreadable,omitempty"`
	Example    string `json:"example,omitempty"`
	// Honest is the share of promises after which a lone request passed, with
	// its 95 % interval; Trials promises were tried.
	Honest Estimate `json:"honest"`
	Trials int      `json:"trials"`
	// Shortest is the shortest wait that works after a drain, Promised what
	// Retry-After said then (medians, in seconds).
	Shortest Estimate `json:"shortest"`
	Promised Estimate `json:"promised"`
	// Verdict is Honest, TooLong, TooShort, or both of the latter, each of them
	// perhaps sometimes; its Why says what was promised, and what came of it.
	Verdict Answer `json:"verdict"`
}

// The values of RetryAfter.Verdict.
const (
	Honest   = "honest"
	TooLong  = "too long"
	TooShort = "too short"
)

// HeaderClaims tells what RateLimit headers say, and whether it is so.
type HeaderClaims struct {
	Present   Answer   `json:"present"`             // "always", "never" or "sometimes", of all answers
	Styles    []string `json:"styles,omitempty"`    // which headers, e.g. "RateLimit-Limit"
	Malformed []string `json:"malformed,omitempty"` // what could not be read; at most 8
	Limit     Answer   `json:"limit"`               // "agrees" or "disagrees" with what was measured
	Window    Answer   `json:"window"`
	Remaining Answer   `json:"remaining"`
	Reset     Answer   `json:"reset"`
}

// Spent is what the probing cost.
type Spent struct {
	Requests int     `json:"requests"`
	Refused  int     `json:"refused"`
	Failed   int     `json:"failed"`
	Seconds  float64 `json:"seconds"`
	Stopped  string  `json:"stopped,omitempty"` // which budget ended it early
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
	Beyond      *Beyond      `json:"beyond,omitempty"` // of the slowest layer, or of all when there is none
	Concurrency *Estimate    `json:"concurrency,omitempty"`
	Scope       Answer       `json:"scope"` // e.g. "workspace"; derived from Sharing
	Sharing     []Sharing    `json:"sharing"`
	RetryAfter  RetryAfter   `json:"retry_after"`
	Headers     HeaderClaims `json:"headers"`
	Recovery    Estimate     `json:"recovery"`   // seconds from a drain to the first request that passes
	RoundTrip   Estimate     `json:"round_trip"` // seconds, median
	Inference   Spent        `json:"inference"`  // up to the layers
	Total       Spent        `json:"total"`      // with scope, Retry-After and recovery
	Picture     []Point      `json:"picture"`
	Notes       []string     `json:"notes,omitempty"`
}
