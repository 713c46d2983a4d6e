package judge

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// keptViolations is how many sightings of one broken requirement the results
// show; all are counted.
const keptViolations = 5

// Ledger collects the evidence of a run. It is safe for concurrent use.
type Ledger struct {
	mu       sync.Mutex
	entries  map[spec.Pair]*entry
	answered map[string]map[int]bool // operation → statuses of the answers to valid requests
	observed map[sight]int
	troubles []reports.Trouble
	total    int // violations
}

type entry struct {
	assessments int
	refusals    map[int]int // status → how many refusals speak for the pair
	missing     []string
	violations  []reports.Violation
	count       int
	troubled    bool
}

type sight struct{ silence, operation, value string }

// NewLedger opens a ledger for the selected pairs. Evidence on other pairs of
// the catalogue is let go; evidence on a pair that the catalogue does not know
// is a mistake in the harness and panics.
func NewLedger(selected []spec.Pair) *Ledger {
	l := &Ledger{entries: make(map[spec.Pair]*entry, len(selected)), observed: map[sight]int{}, answered: map[string]map[int]bool{}}
	for _, p := range selected {
		mustKnow(p)
		l.entries[p] = &entry{}
	}
	return l
}

func mustKnow(p spec.Pair) {
	if !spec.Has(p) {
		panic("judge: the catalogue does not bind " + p.Operation + " to " + p.Requirement)
	}
}

// at returns the pair's entry, or nil if the pair is not selected. The caller holds mu.
func (l *Ledger) at(p spec.Pair) *entry {
	mustKnow(p)
	return l.entries[p]
}

// Selected reports whether the pair is judged in this run.
func (l *Ledger) Selected(p spec.Pair) bool {
	mustKnow(p)
	_, ok := l.entries[p]
	return ok
}

// Assessed records that the pair was put to the test n times.
func (l *Ledger) Assessed(p spec.Pair, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil {
		e.assessments += n
	}
}

// Answered records the status of an answer to a valid request of the operation.
func (l *Ledger) Answered(operation string, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answered[operation] == nil {
		l.answered[operation] = map[int]bool{}
	}
	l.answered[operation][status] = true
}

// Refused records that the pair was put to the test by a refusal of that status,
// as the requirement has it. It counts unless valid requests of the operation
// (of all, if it was sent none) were answered with nothing else: who refuses all
// refuses nothing for a reason.
func (l *Ledger) Refused(p spec.Pair, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil {
		if e.refusals == nil {
			e.refusals = map[int]int{}
		}
		e.refusals[status]++
	}
}

// telling counts the refusals that show something, and says of the others what
// was missing. The caller holds mu.
func (l *Ledger) telling(p spec.Pair, e *entry) (n int, missing []string) {
	valid := l.answered[p.Operation]
	if len(valid) == 0 {
		valid = map[int]bool{}
		for _, statuses := range l.answered {
			maps.Copy(valid, statuses)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(e.refusals)) {
		if valid[status] && len(valid) == 1 {
			missing = append(missing, fmt.Sprintf("a valid request of %s that is not answered %d as well", p.Operation, status))
			continue
		}
		n += e.refusals[status]
	}
	return n, missing
}

// Violated records a sighting of the broken requirement.
func (l *Ledger) Violated(p spec.Pair, v reports.Violation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.at(p)
	if e == nil {
		return
	}
	l.total++
	e.count++
	if len(e.violations) < keptViolations {
		r, _ := spec.FindRequirement(p.Requirement)
		v.Statement, v.Section = r.Statement, r.Section
		e.violations = append(e.violations, v)
	}
}

// ViolatedAgain counts n more sightings of a broken requirement beside those that
// Violated was given in full.
func (l *Ledger) ViolatedAgain(p spec.Pair, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil {
		l.total += n
		e.count += n
	}
}

// Missing records that the pair could not be put to the test for want of an input.
func (l *Ledger) Missing(p spec.Pair, input string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil && !slices.Contains(e.missing, input) {
		e.missing = append(e.missing, input)
	}
}

// Troubled records that the harness, or the way to the target, failed while
// the pairs were judged: whatever else was found, they did not pass.
func (l *Ledger) Troubled(where, what string, on ...spec.Pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	trouble := reports.Trouble{Where: where, What: what}
	if !slices.Contains(l.troubles, trouble) {
		l.troubles = append(l.troubles, trouble)
	}
	for _, p := range on {
		if e := l.at(p); e != nil {
			e.troubled = true
		}
	}
}

// Observe records what the target does where the specification is silent.
func (l *Ledger) Observe(silence, operation, value string) {
	if _, ok := spec.FindSilence(silence); !ok {
		panic("judge: the catalogue has no silence " + silence)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observed[sight{silence, operation, value}]++
}

// Violations counts all violations so far.
func (l *Ledger) Violations() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Checks returns the outcome of every selected pair, in the catalogue's order.
func (l *Ledger) Checks() []reports.Check {
	l.mu.Lock()
	defer l.mu.Unlock()
	checks := make([]reports.Check, 0, len(l.entries))
	for _, p := range spec.Pairs() {
		e, ok := l.entries[p]
		if !ok {
			continue
		}
		r, _ := spec.FindRequirement(p.Requirement)
		refusals, missing := l.telling(p, e)
		assessments := e.assessments + refusals
		check := reports.Check{
			Requirement: p.Requirement, Operation: p.Operation,
			Group: string(r.Group), Level: string(r.Level),
			Outcome: e.outcome(assessments), Assessments: assessments,
			Violations: slices.Clone(e.violations), ViolationCount: e.count,
		}
		if check.Outcome == reports.NotAssessed {
			check.Missing = slices.Concat(e.missing, missing)
			if len(check.Missing) == 0 {
				check.Missing = []string{"no answer put it to the test"}
			}
		}
		checks = append(checks, check)
	}
	return checks
}

// outcome: a violation was seen whatever else went wrong; trouble is never a
// pass; nor is a pair that nothing put to the test.
func (e *entry) outcome(assessments int) reports.Outcome {
	switch {
	case e.count > 0:
		return reports.Fail
	case e.troubled:
		return reports.Error
	case assessments == 0:
		return reports.NotAssessed
	default:
		return reports.Pass
	}
}

// Observations returns what was observed, sorted.
func (l *Ledger) Observations() []reports.Observation {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]reports.Observation, 0, len(l.observed))
	for s, n := range l.observed {
		all = append(all, reports.Observation{Silence: s.silence, Operation: s.operation, Value: s.value, Count: n})
	}
	slices.SortFunc(all, compareObservations)
	return all
}

// Troubles returns the troubles in the order in which they were met.
func (l *Ledger) Troubles() []reports.Trouble {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.troubles)
}

// Replay is a line for a shell that shows again what breaks the requirement. One
// request alone meets no rate limit: where the finding is of a limit, the line
// drives the key there first.
func Replay(requirement string, ex client.Exchange) string {
	switch {
	case requirement == "RATE-RESUMES": // the longest that any client waits must be over
		return ex.CurlAtLimit(smallest(), client.DefaultMaxThrottle)
	case requirement == "RATE-429" || ex.Status == http.StatusTooManyRequests:
		return ReplayExcess(ex)
	default:
		return ex.Curl()
	}
}

// ReplayExcess is Replay for any finding of an answer to a request beyond the
// limit, which its requirement and status need not tell: a server error in the
// place of a 429 breaks STATUS-200.
func ReplayExcess(ex client.Exchange) string { return ex.CurlAtLimit(smallest(), 0) }

// smallest is a request that drives a key to its limit.
func smallest() client.Request {
	return client.Request{Path: spec.MustOperation(spec.ListLeadLists).Path, Query: url.Values{"limit": {"1"}}}
}
