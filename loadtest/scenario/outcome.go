package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// leastSent is the share of the planned requests that must be sent.
const leastSent = 0.995

// outcome returns the result of the scenario with its verdict.
func (r *runner) outcome() Outcome {
	o := &r.out
	o.Name, o.About = r.scenario.Name, r.scenario.About
	o.Started, o.Seconds = r.started.UTC().Truncate(time.Millisecond), time.Since(r.started).Seconds()
	for _, c := range r.counted {
		o.Phases = append(o.Phases, phaseOf(c))
		r.missedRate(c)
		r.noteThroughput(c)
	}
	o.Requests = r.requests()
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
		said := fmt.Sprintf("%d requirements were violated under load, the first is", n)
		if n == 1 {
			said = "a requirement was violated under load:"
		}
		r.fail("%s %s on %s (%s)%s", said, first.Requirement, first.Operation, times(first.Count), r.allowed())
	}
	r.emptyLists()
	r.conclude()
	o.Notes = slices.Concat(distinct(r.foremost), o.Notes)
	return Outcome{Scenario: *o, Recordings: r.recordings, Traffic: r.traffic, Checks: checks, Cut: r.cut, Empty: r.empty, Unread: r.unread}
}

// allowed returns a hint that a threshold on errors does not excuse a violation
// of STATUS-200, if there is such a threshold.
func (r *runner) allowed() string {
	broken := slices.ContainsFunc(r.out.Violations, func(v load.Violation) bool { return v.Requirement == "STATUS-200" })
	for _, t := range r.thresholds() {
		missed := slices.ContainsFunc(r.out.Thresholds, func(held load.Threshold) bool { return held.Text == t.Text && held.Outcome == load.Missed })
		if broken && !missed && t.Metric == threshold.Errors && t.Bound > 0 {
			return fmt.Sprintf("; %s tolerates failed requests, STATUS-200 does not", t.Text)
		}
	}
	return ""
}

// requests returns what was sent by purpose; nil if nothing was.
func (r *runner) requests() *load.Requests {
	all := r.uses
	if r.env.Budget != nil { // nil if joined from shards, which have counted it
		all.Beside = r.env.Budget.sent() - r.before - all.Counted - all.WarmUp - all.Again - all.Searched
	}
	all.Total = all.Counted + all.WarmUp + all.Again + all.Searched + all.Beside
	if all.Total == 0 {
		return nil
	}
	return &all
}

// missedRate makes the scenario inconclusive if the phase says nothing about
// the target.
func (r *runner) missedRate(c counted) {
	rec := c.recording
	switch {
	case c.cut: // the reason is already recorded
	case rec.Sent == 0:
		r.voidPhase(rec.Name, "nothing sent", "no request was sent")
	case rec.Count(measure.Accepted) == 0:
		r.voidPhase(rec.Name, "nothing accepted", "none of %d requests was accepted (%s)", rec.Sent, endings(rec))
	case rec.Count(measure.Limited) > rec.Count(measure.Accepted):
		r.voidPhase(rec.Name, "limited", "%d of %d requests got 429, more than were accepted (lower the rate or use an unlimited key)",
			rec.Count(measure.Limited), rec.Sent)
	case !rec.ClosedLoop && float64(rec.Sent) < leastSent*float64(rec.Planned):
		r.voidPhase(rec.Name, "rate missed", "rate not reached: %d of %d requests were sent", rec.Sent, rec.Planned)
	case c.limited != "":
		r.voidPhase(rec.Name, "generator-limited", "generator-limited: %s", c.limited)
	}
}

// noteThroughput notes a phase in which the target served less than requested.
// Thresholds on response times and errors need not show that.
func (r *runner) noteThroughput(c counted) {
	rec := c.recording
	if said := fallsBehind(rec); said != "" && c.limited == "" && !c.cut {
		r.foremost = append(r.foremost, rec.Name+": "+said)
	}
	if limited := rec.Count(measure.Limited); float64(limited) > mostRefused*float64(rec.Sent) && limited <= rec.Count(measure.Accepted) {
		r.foremost = append(r.foremost, fmt.Sprintf("%s: %d of %d requests got 429: the key is rate-limited, and the figures cover only what passed (lower the rate, or add a threshold such as limited<1%%)",
			rec.Name, limited, rec.Sent))
	}
}

// endings counts the requests that were not accepted, by failure and status.
func endings(rec measure.Recording) string {
	var parts []string
	for _, failure := range slices.Sorted(maps.Keys(rec.Failures)) {
		parts = append(parts, fmt.Sprintf("%s: %d", load.FailureInWords(failure), rec.Failures[failure]))
	}
	for _, status := range slices.Sorted(maps.Keys(rec.Statuses)) {
		if status != 0 {
			parts = append(parts, fmt.Sprintf("status %d: %d", status, rec.Statuses[status]))
		}
	}
	return strings.Join(parts, ", ")
}

// missing records an input without which the scenario cannot run.
func (r *runner) missing(input string) { r.out.Missing = append(r.out.Missing, input) }
