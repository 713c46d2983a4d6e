package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports/load"
)

// leastSent is the share of the planned requests that must have been sent.
const leastSent = 0.995

// outcome draws the scenario's verdict from what was found.
func (r *runner) outcome() Outcome {
	o := &r.out
	o.Name, o.About = r.scenario.Name, r.scenario.About
	o.Started, o.Seconds = r.started.UTC().Truncate(time.Millisecond), time.Since(r.started).Seconds()
	for _, c := range r.counted {
		o.Phases = append(o.Phases, phaseOf(c))
		r.missedRate(c)
	}
	if len(o.Missing) == 0 {
		r.holdAgainstThresholds()
	}
	checks := r.checks()
	for _, c := range checks {
		if c.ViolationCount > 0 {
			o.Violations = append(o.Violations, load.Violation{Requirement: c.Requirement, Operation: c.Operation,
				Count: int64(c.ViolationCount), Examples: c.Violations})
		}
	}
	if n := len(o.Violations); n > 0 {
		first := o.Violations[0]
		r.fail("%d requirements were broken under load, the first is %s on %s (%d times)", n, first.Requirement, first.Operation, first.Count)
	}
	r.conclude()
	return Outcome{Scenario: *o, Recordings: r.recordings, Traffic: r.traffic, Checks: checks}
}

// missedRate notes why a phase says nothing about the target.
func (r *runner) missedRate(c counted) {
	rec := c.recording
	switch {
	case rec.Sent == 0:
		r.void("%s: nothing was sent", rec.Name)
	case rec.Count(measure.Accepted) == 0:
		r.void("%s: not one of %d requests was accepted (%s): its figures say nothing", rec.Name, rec.Sent, endings(rec))
	case !rec.ClosedLoop && float64(rec.Sent) < leastSent*float64(rec.Planned):
		r.void("%s: the rate was missed: %d of %d requests were sent", rec.Name, rec.Sent, rec.Planned)
	case c.limited != "":
		r.void("%s: generator-limited: %s", rec.Name, c.limited)
	}
}

// endings says how requests ended that were not accepted.
func endings(rec measure.Recording) string {
	var parts []string
	for _, failure := range slices.Sorted(maps.Keys(rec.Failures)) {
		parts = append(parts, fmt.Sprintf("%s: %d", failures[failure], rec.Failures[failure]))
	}
	for _, status := range slices.Sorted(maps.Keys(rec.Statuses)) {
		if status != 0 {
			parts = append(parts, fmt.Sprintf("status %d: %d", status, rec.Statuses[status]))
		}
	}
	return strings.Join(parts, ", ")
}

// failures names for people why no whole answer came.
var failures = map[string]string{
	measure.FailureTimeout: "no answer in time", measure.FailureRefused: "connection refused",
	measure.FailureReset: "connection broken", measure.FailureOther: "other trouble",
}

// conclude: what was seen to be broken fails, whatever else went wrong; after
// that, figures that are not the target's decide nothing.
func (r *runner) conclude() {
	r.fails, r.voids = distinct(r.fails), distinct(r.voids)
	switch {
	case len(r.out.Missing) > 0:
		r.out.Verdict = load.Void
		for _, input := range r.out.Missing {
			r.voids = append(r.voids, "it lacks an input: "+input)
		}
	case len(r.fails) > 0:
		r.out.Verdict = load.Fail
	case len(r.voids) > 0:
		r.out.Verdict = load.Void
	default:
		r.out.Verdict = load.Pass
	}
	r.out.Reasons = slices.Concat(r.fails, r.voids)
}

func distinct(texts []string) []string {
	var kept []string
	for _, text := range texts {
		if !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}

// missing notes an input without which the scenario cannot run.
func (r *runner) missing(input string) { r.out.Missing = append(r.out.Missing, input) }
