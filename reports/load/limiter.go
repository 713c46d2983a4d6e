package load

import (
	"fmt"
	"strings"
)

// Limiter is what was found out about a rate limiter from outside: each answer
// with how sure it is, or with what kept from telling.
type Limiter struct {
	Summary string  `json:"summary"` // what was found, in words
	Verdict Answer  `json:"verdict"` // rate-limited, no-limit-seen, concurrency-limited, slowed-down
	Layers  []Layer `json:"layers,omitempty"`
	// Beyond bounds the limits that the budget did not reach.
	Beyond      *Beyond  `json:"beyond,omitempty"`
	Concurrency *Finding `json:"concurrency,omitempty"` // requests at once
	Scope       Answer   `json:"scope"`                 // what the counter belongs to, e.g. workspace
	// Sharing is what Scope rests on.
	Sharing    []Sharing    `json:"sharing,omitempty"`
	RetryAfter RetryAfter   `json:"retry_after"`
	Headers    HeaderClaims `json:"headers"`
	Recovery   Finding      `json:"recovery"` // from a full limiter to the next accepted request
	RoundTrip  Finding      `json:"round_trip"`
	Inference  Spent        `json:"inference"`        // what it cost to know the layers
	Total      Spent        `json:"total"`            // and all else
	Probes     []Probe      `json:"probes,omitempty"` // ascending by time
	Notes      []string     `json:"notes,omitempty"`
}

// Answer is an answer to a question that is not about a figure. Either Value
// holds it, or it is empty and Why says what was missing; where only few
// possibilities remain, OneOf lists them.
type Answer struct {
	Value      string   `json:"value,omitempty"`
	OneOf      []string `json:"one_of,omitempty"`     // one of these; which one cannot be told
	Confidence float64  `json:"confidence,omitempty"` // of Value
	Why        string   `json:"why,omitempty"`        // what it rests on, or why it cannot be told
}

// Finding is a figure with the interval that it lies in, or Why it cannot be
// told; Low and High, where not 0, then bound it all the same.
type Finding struct {
	Known      bool    `json:"known"`
	Value      float64 `json:"value,omitempty"`
	Low        float64 `json:"low,omitempty"`
	High       float64 `json:"high,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // that the interval holds the truth
	Unit       string  `json:"unit,omitempty"`       // requests, s, requests/s
	Why        string  `json:"why,omitempty"`
}

// Bounds writes what bounds a figure that cannot be told, with the numbers as
// the reader is used to; it is empty where nothing does.
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

// Layer is one limit; several may hold at once.
type Layer struct {
	Kind          Answer  `json:"kind"`           // e.g. fixed-window, token-bucket
	Limit         Finding `json:"limit"`          // requests that pass at once after a long silence
	Window        Finding `json:"window"`         // time in which so many pass
	Rate          Finding `json:"rate"`           // what passes in the long run
	CountsRefused Answer  `json:"counts_refused"` // yes or no: whether a refused request counts too
}

// Beyond bounds limits that were not reached.
type Beyond struct {
	Burst              int64   `json:"burst"` // requests at once that passed
	SustainedPerSecond float64 `json:"sustained_per_second"`
	Seconds            float64 `json:"seconds"` // for which it was sustained
	Why                string  `json:"why"`
}

// Sharing says whether a second kind of requests uses up the same counter.
type Sharing struct {
	Subject    string `json:"subject"` // e.g. other-key, other-workspace, other-address, other-operation
	Shared     Answer `json:"shared"`  // shared or separate
	Refused    int64  `json:"refused"` // of Sandwiches
	Sandwiches int64  `json:"sandwiches"`
}

// RetryAfter says what the Retry-After header of refusals is worth.
type RetryAfter struct {
	Present Answer `json:"present"` // always, never or sometimes
	Refused int64  `json:"refused"` // refusals seen
	With    int64  `json:"with"`    // of these, with the header, whatever it says
	// Unreadable of those say nothing that can be read, such as Example.
	Unreadable int64   `json:"unreadable,omitempty"`
	Example    string  `json:"example,omitempty"` // quoted and cut
	Honest     Finding `json:"honest"`            // share of Trials in which a wait of that long sufficed
	Trials     int64   `json:"trials"`
	Shortest   Finding `json:"shortest"` // the shortest wait that works
	Promised   Finding `json:"promised"` // what the header said then
	Verdict    Answer  `json:"verdict"`  // honest, too long or too short, and what shows it
}

// Unread writes what could not be read; it is empty where all could.
func (r RetryAfter) Unread() string {
	if r.Unreadable == 0 {
		return ""
	}
	return fmt.Sprintf("unreadable in %d of %d: %s", r.Unreadable, r.With, r.Example)
}

// HeaderClaims says what RateLimit headers claim, and whether it is so: agrees
// or disagrees with what was measured.
type HeaderClaims struct {
	Present   Answer   `json:"present"`             // always, never or sometimes
	Styles    []string `json:"styles,omitempty"`    // the headers seen, e.g. RateLimit-Limit
	Malformed []string `json:"malformed,omitempty"` // what could not be read
	Limit     Answer   `json:"limit"`
	Window    Answer   `json:"window"`
	Remaining Answer   `json:"remaining"`
	Reset     Answer   `json:"reset"`
}

// Spent is what the probing cost.
type Spent struct {
	Requests int64   `json:"requests"`
	Refused  int64   `json:"refused"`
	Failed   int64   `json:"failed"`
	Seconds  float64 `json:"seconds"`
	Stopped  string  `json:"stopped,omitempty"` // which budget ended it early
}

// Probe is one request of the probing.
type Probe struct {
	Seconds         float64 `json:"seconds"`          // since the probing's start, when it was sent
	ReceivedSeconds float64 `json:"received_seconds"` // and when it was answered
	Verdict         string  `json:"verdict"`          // accepted, limited or failed
	Phase           string  `json:"phase"`            // why it was sent, e.g. burst, recovery
	Subject         string  `json:"subject,omitempty"`
}
