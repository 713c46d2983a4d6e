package scenario

import (
	"net/http"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// looked checks an answer at once and records the findings. It is for requests
// outside the generator, all of which are checked.
func (r *runner) looked(asked judge.Asked, ex client.Exchange) judge.Sighting {
	return r.lookedAs(asked, ex, func(requirement string) string { return judge.Replay(requirement, ex) })
}

// lookedAs is looked with a custom command that reproduces a violation.
func (r *runner) lookedAs(asked judge.Asked, ex client.Exchange, replay func(requirement string) string) judge.Sighting {
	if ex.Status == http.StatusTooManyRequests {
		asked.Valid = false // a 429 is always legal
	}
	s := r.env.Rules.Look(asked, ex)
	r.lookedAt.Add(1)
	for _, p := range s.Seen {
		r.ledger.Assessed(p, 1)
	}
	for _, f := range s.Findings {
		r.found(f.Pair, reports.Violation{Pointer: r.redact(f.Pointer), Expected: r.redact(f.Expected), Actual: r.redact(f.Actual), Curl: replay(f.Pair.Requirement)})
	}
	if s.Err != nil {
		r.ledger.Troubled("load: "+asked.Operation.ID, r.redact("the answer could not be checked: "+s.Err.Error()))
	}
	return s
}

// found records a violation.
func (r *runner) found(p spec.Pair, v reports.Violation) {
	r.ledger.Violated(p, v)
}

// redactAll returns the header with redacted values.
func (r *runner) redactAll(h http.Header) http.Header {
	shown := http.Header{}
	for name, values := range h {
		for _, value := range values {
			shown.Add(name, r.redact(value))
		}
	}
	return shown
}

func (r *runner) redact(s string) string { return r.env.Client.Redact(s) }
