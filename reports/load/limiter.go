package load

import (
	"fmt"
	"strings"
)

// Limiter describes a rate limiter as inferred from responses. Each answer has a
// confidence, or a reason why it is unknown.
type Limiter struct {
	Summary string  `json:"summary"` // what was found, in words
	Verdict Answer  `json:"verdict"` // rate-limited, no-limit-seen, concurrency-limited, slowed-down
	Layers  []Layer `json:"layers,omitempty"`
	// Beyond bounds limits that are too high for the budget of the probing.
	Beyond      *Beyond  `json:"beyond,omitempty"`
	Concurrency *Finding `json:"concurrency,omitempty"` // requests at once
	Scope       Answer   `json:"scope"`                 // of the counter, e.g. workspace
	// Sharing is the evidence for Scope.
	Sharing    []Sharing    `json:"sharing,omitempty"`
	RetryAfter RetryAfter   `json:"retry_after"`
	Headers    HeaderClaims `json:"headers"`
	Recovery   Finding      `json:"recovery"` // time from a full limiter to the next accepted request
	RoundTrip  Finding      `json:"round_trip"`
	Inference  Spent        `json:"inference"`        // cost of inferring the layers
	Total      Spent        `json:"total"`            // cost of all probing
	Probes     []Probe      `json:"probes,omitempty"` // ascending by time
	Notes      []string     `json:"notes,omitempty"`
}

// Answer is the answer to a question that has no number as its answer. If Value is
// empty, the answer is unknown and Why gives the reason; OneOf then lists the
// remaining possibilities if they are few.
type Answer struct {
	Value      string   `json:"value,omitempty"`
	OneOf      []string `json:"one_of,omitempty"`     // the remaining possibilities
	Confidence float64  `json:"confidence,omitempty"` // of Value
	Why        string   `json:"why,omitempty"`        // the evidence, or why it is unknown
}

// Finding is a figure with its confidence interval. If it is not known, Why gives the
// reason, and Low and High bound it unless they are 0.
type Finding struct {
	Known      bool    `json:"known"`
	Value      float64 `json:"value,omitempty"`
	Low        float64 `json:"low,omitempty"`
	High       float64 `json:"high,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // that the interval holds the truth
	Unit       string  `json:"unit,omitempty"`       // requests, s, requests/s
	Why        string  `json:"why,omitempty"`
}

// Bounds returns the bounds of an unknown figure in words, or "" if it has none. Number
// formats the numbers.
func (f Finding) Bounds(number func(float64) string) string {
	switch {
	case f.Known || f.Low <= 0 && f.High <= 0:
		return ""
	case f.High <= 0:
		return strings.TrimSpace("at least " + number(f.Low) + " " + f.Unit)
	case f.Low <= 0:
		return strings.TrimSpace("at most " + number(f.High) + " " + f.Unit)
	default:
		return strings.TrimSpace(number(f.Low) + " to " + number(f.High) + " " + f.Unit)
	}
}

// Layer is one limit. Several can apply at the same time.
type Layer struct {
	Kind          Answer  `json:"kind"`           // e.g. fixed-window, token-bucket
	Limit         Finding `json:"limit"`          // requests accepted in a burst after a long pause
	Window        Finding `json:"window"`         // time for which the limit applies
	Rate          Finding `json:"rate"`           // accepted requests per second in the long run
	CountsRefused Answer  `json:"counts_refused"` // yes or no: whether refused requests count towards the limit
}

// Beyond bounds limits that the probing did not reach.
type Beyond struct {
	Burst              int64   `json:"burst"` // requests accepted in a burst
	SustainedPerSecond float64 `json:"sustained_per_second"`
	Seconds            float64 `json:"seconds"` // duration of the sustained rate
	Why                string  `json:"why"`
}

// Sharing says whether a second kind of request uses the same counter.
type Sharing struct {
	Subject    string `json:"subject"`    // e.g. other-key, other-workspace, other-address, other-operation
	Shared     Answer `json:"shared"`     // shared or separate
	Refused    int64  `json:"refused"`    // trials in which the limiter refused the second kind
	Sandwiches int64  `json:"sandwiches"` // trials: the second kind between requests of the first
}

// RetryAfter says whether the Retry-After header of refusals is honest.
type RetryAfter struct {
	Present Answer `json:"present"` // always, never or sometimes
	Refused int64  `json:"refused"` // refusals seen
	With    int64  `json:"with"`    // of these, with the header
	// Unreadable is the number of headers with an invalid value, such as Example.
	Unreadable int64   `json:"unreadable,omitempty"`
	Example    string  `json:"example,omitempty"` // quoted and truncated
	Honest     Finding `json:"honest"`            // share of Trials in which the promised wait sufficed
	Trials     int64   `json:"trials"`
	Shortest   Finding `json:"shortest"` // the shortest wait that sufficed
	Promised   Finding `json:"promised"` // the header's wait at that time
	Verdict    Answer  `json:"verdict"`  // honest, too long or too short, with the evidence
}

// Unread describes the headers with an invalid value, or returns "" if all are valid.
func (r RetryAfter) Unread() string {
	if r.Unreadable == 0 {
		return ""
	}
	return fmt.Sprintf("unreadable in %d of %d: %s", r.Unreadable, r.With, r.Example)
}

// HeaderClaims compares the RateLimit headers with the measurement. Limit, Window,
// Remaining and Reset are "agrees" or "disagrees".
type HeaderClaims struct {
	Present   Answer   `json:"present"`             // always, never or sometimes
	Styles    []string `json:"styles,omitempty"`    // the headers seen, e.g. RateLimit-Limit
	Malformed []string `json:"malformed,omitempty"` // invalid values
	Limit     Answer   `json:"limit"`
	Window    Answer   `json:"window"`
	Remaining Answer   `json:"remaining"`
	Reset     Answer   `json:"reset"`
}

// Spent is the cost of probing.
type Spent struct {
	Requests int64   `json:"requests"`
	Refused  int64   `json:"refused"`
	Failed   int64   `json:"failed"`
	Seconds  float64 `json:"seconds"`
	Stopped  string  `json:"stopped,omitempty"` // the budget that ended it early
}

// Probe is one request of the probing.
type Probe struct {
	Seconds         float64 `json:"seconds"`          // when it was sent, since the start of the probing
	ReceivedSeconds float64 `json:"received_seconds"` // when its response arrived
	Verdict         string  `json:"verdict"`          // accepted, limited or failed
	Phase           string  `json:"phase"`            // why it was sent, e.g. burst, recovery
	Subject         string  `json:"subject,omitempty"`
}
