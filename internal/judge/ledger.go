package judge

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// maxViolations is how many violations of one pair the results show in full, each of
// another kind. All are counted.
const maxViolations = 5

// maxCited is how many exchanges of one pair the results name.
const maxCited = 3

// Bounds of what a target can make a run keep.
const (
	maxText     = 400  // characters of a text in a violation, an observation or a missing input
	maxTrouble  = 4000 // characters of a trouble, which may hold a stack
	maxTroubles = 1000
	maxMissing  = 10  // inputs of a pair
	maxObserved = 200 // values at an open point of an operation
)

// moreValues stands for the values beyond maxObserved.
const moreValues = "further values"

// Short returns s cut to maxText characters. Texts are cut before they are redacted or kept.
func Short(s string) string { return clip(s, maxText) }

// Ledger collects the evidence of a run per requirement and operation. It is
// safe for concurrent use.
type Ledger struct {
	mu       sync.Mutex
	entries  map[spec.Pair]*entry
	answered map[string]map[int]bool // operation → statuses of responses to valid requests
	observed map[observation]int
	values   map[observation]int // number of values of an observation without its value
	troubles []reports.Trouble
	total    int     // violations
	open     bool    // for every pair, of which an entry is made when it is needed
	exchange int     // from which evidence comes now (From)
	beside   *Ledger // has examples of other specs; nil for none
}

// entry is the evidence on one pair, also in JSON: evidence crosses from one process to another.
type entry struct {
	Assessments int         `json:"assessments,omitempty"`
	Refusals    map[int]int `json:"refusals,omitempty"` // status → number of rejections that support the pair
	Missing     []string    `json:"missing,omitempty"`
	examples
	Count     int   `json:"count,omitempty"`
	Troubled  bool  `json:"troubled,omitempty"`
	Lost      bool  `json:"lost,omitempty"` // what the profile names does not exist
	Exchanges []int `json:"exchanges,omitempty"`
}

type observation struct{ openPoint, operation, value string }

// at returns the observation without its value.
func (o observation) at() observation {
	return observation{openPoint: o.openPoint, operation: o.operation}
}

// NewLedger returns a ledger for the selected pairs. Evidence for unselected
// pairs is dropped. Evidence for a pair outside the catalogue is a bug in the
// harness and panics.
func NewLedger(selected []spec.Pair) *Ledger {
	l := &Ledger{entries: make(map[spec.Pair]*entry, len(selected))}
	l.empty()
	for _, p := range selected {
		mustKnow(p)
		l.entries[p] = &entry{}
	}
	return l
}

func (l *Ledger) empty() {
	l.observed, l.values, l.answered = map[observation]int{}, map[observation]int{}, map[string]map[int]bool{}
}

func mustKnow(p spec.Pair) {
	if !spec.Has(p) {
		panic("judge: no requirement " + p.Requirement + " for operation " + p.Operation)
	}
}

// at returns the pair's entry, or nil if the pair is not selected. The caller holds mu.
func (l *Ledger) at(p spec.Pair) *entry {
	mustKnow(p)
	if l.open && l.entries[p] == nil {
		l.entries[p] = &entry{}
	}
	return l.entries[p]
}

// selected reports whether this run judges the pair.
func (l *Ledger) selected(p spec.Pair) bool {
	mustKnow(p)
	_, ok := l.entries[p]
	return ok || l.open
}

// Assessed records n checks of the pair.
func (l *Ledger) Assessed(p spec.Pair, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil {
		e.Assessments += n
		e.cite(l.exchange)
	}
}

// AssessedAll records the checks that a response allowed.
func (l *Ledger) AssessedAll(all []Seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, seen := range all {
		if e := l.at(seen.Pair); e != nil {
			e.Assessments += seen.Times
		}
	}
}

// Answered records the status of a response to a valid request of the operation.
func (l *Ledger) Answered(operation string, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer(operation, status)
}

// answer is Answered for a caller that holds mu.
func (l *Ledger) answer(operation string, status int) {
	if l.answered[operation] == nil {
		l.answered[operation] = map[int]bool{}
	}
	l.answered[operation][status] = true
}

// Refused records a rejection that the requirement asks for. It does not count if
// all valid requests got the same status. Valid requests of the same operation
// decide, or those of all operations if there were none.
func (l *Ledger) Refused(p spec.Pair, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil {
		e.refuse(status, 1)
		e.cite(l.exchange)
	}
}

// countRejections counts the rejections that prove something. For the others it returns
// the missing evidence. The caller holds mu.
func (l *Ledger) countRejections(p spec.Pair, e *entry) (n int, missing []string) {
	valid := l.answered[p.Operation]
	if len(valid) == 0 {
		valid = map[int]bool{}
		for _, statuses := range l.answered {
			maps.Copy(valid, statuses)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(e.Refusals)) {
		if valid[status] && len(valid) == 1 {
			missing = append(missing, fmt.Sprintf("a valid request of %s that does not also get %d", p.Operation, status))
			continue
		}
		n += e.Refusals[status]
	}
	return n, missing
}

// Violated records a violation of the pair.
func (l *Ledger) Violated(p spec.Pair, v reports.Violation) { l.ViolatedAs(p, v, asIs) }

// ViolatedAs is Violated for a violation that is costly to format: format completes and
// redacts those that the results show. It reports whether they show this one.
func (l *Ledger) ViolatedAs(p spec.Pair, v reports.Violation, format func(reports.Violation) reports.Violation) (shown bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.at(p)
	if e == nil {
		return false
	}
	l.total++
	e.Count++
	e.cite(l.exchange)
	r, _ := spec.FindRequirement(p.Requirement)
	v.Statement, v.Section = r.Statement, r.Section
	v.Pointer, v.Expected, v.Actual = Short(v.Pointer), Short(v.Expected), Short(v.Actual)
	kind := v.Kind()
	e.count(kind, max(1, v.Count))
	if l.beside != nil && !l.beside.wants(p, kind) && e.Count > 1 {
		return false
	}
	return e.add(kind, v, format)
}

// wants reports whether the results of all specs would show a violation of the kind, and
// takes it as shown.
func (l *Ledger) wants(p spec.Pair, kind string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at(p).add(kind, reports.Violation{}, asIs)
}

// ViolatedAgain counts n more violations of the pair without their details.
func (l *Ledger) ViolatedAgain(p spec.Pair, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil {
		l.total += n
		e.Count += n
	}
}

// Known reports whether there is any evidence on the pair.
func (l *Ledger) Known(p spec.Pair) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[p]
	return e != nil && (e.Assessments+e.Count+len(e.Refusals)+len(e.Missing) > 0 || e.Troubled)
}

// Missing records that the pair could not be checked because an input is missing.
func (l *Ledger) Missing(p spec.Pair, input string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil {
		e.miss(input)
	}
}

// Lost is Missing for what the profile names and the target does not have. The pair does not
// pass, whatever else shows that it holds: its target profile must be corrected.
func (l *Ledger) Lost(p spec.Pair, input string) {
	l.Missing(p, input)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(p); e != nil {
		e.Lost = true
	}
}

func (e *entry) miss(input string) {
	input = Short(input)
	if !slices.Contains(e.Missing, input) && len(e.Missing) < maxMissing {
		e.Missing = append(e.Missing, input)
	}
}

// Troubled records an error of the harness or of the connection while the pairs
// were checked. None of these pairs can pass.
func (l *Ledger) Troubled(where, what string, on ...spec.Pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble(reports.Trouble{Where: where, What: what})
	for _, p := range on {
		if e := l.at(p); e != nil {
			e.Troubled = true
		}
	}
}

// trouble lists each trouble once. The caller holds mu.
func (l *Ledger) trouble(t reports.Trouble) {
	t.What = clip(t.What, maxTrouble)
	if !slices.Contains(l.troubles, t) && len(l.troubles) < maxTroubles {
		l.troubles = append(l.troubles, t)
	}
}

// Observe records what the target does at an open point of the specification.
func (l *Ledger) Observe(openPoint, operation, value string) {
	if _, ok := spec.FindOpenPoint(openPoint); !ok {
		panic("judge: unknown open point " + openPoint)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observe(observation{openPoint, operation, value}, 1)
}

// observe counts a value. The caller holds mu.
func (l *Ledger) observe(o observation, n int) {
	o.value = Short(o.value)
	if l.observed[o] == 0 && o.value != moreValues {
		if l.values[o.at()] >= maxObserved {
			o.value = moreValues
		} else {
			l.values[o.at()]++
		}
	}
	l.observed[o] += n
}

// Violations returns the number of violations so far.
func (l *Ledger) Violations() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// Checks returns the outcome of every selected pair in catalogue order.
func (l *Ledger) Checks() []reports.Check {
	l.mu.Lock()
	defer l.mu.Unlock()
	checks := make([]reports.Check, 0, len(l.entries))
	for _, p := range spec.Pairs() {
		if e, ok := l.entries[p]; ok {
			checks = append(checks, l.check(p, e))
		}
	}
	return checks
}

// Check returns the outcome of one pair. A pair without evidence is not assessed.
func (l *Ledger) Check(p spec.Pair) reports.Check {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.at(p)
	if e == nil {
		e = &entry{}
	}
	return l.check(p, e)
}

// check is Check for a caller that holds mu.
func (l *Ledger) check(p spec.Pair, e *entry) reports.Check {
	r, _ := spec.FindRequirement(p.Requirement)
	refusals, missing := l.countRejections(p, e)
	// A spec that finds a violation beside its own checks charges it without counting it.
	assessments := max(e.Assessments+refusals, e.Count)
	check := reports.Check{
		Requirement: p.Requirement, Operation: p.Operation,
		Group: string(r.Group), Level: string(r.Level),
		Outcome: e.outcome(assessments), Assessments: assessments,
		Violations: e.violations(), ViolationCount: e.Count, Exchanges: e.Exchanges,
	}
	if check.Outcome == reports.NotAssessed {
		check.Missing = slices.Concat(e.Missing, missing)
		if len(check.Missing) == 0 {
			check.Missing = []string{"a response to check"}
		}
	}
	return check
}

// outcome puts a violation first, then trouble. A pair without any check does
// not pass.
func (e *entry) outcome(assessments int) reports.Outcome {
	switch {
	case e.Count > 0:
		return reports.Fail
	case e.Troubled:
		return reports.Error
	case assessments == 0 || e.Lost:
		return reports.NotAssessed
	default:
		return reports.Pass
	}
}

// Observations returns the observations, sorted.
func (l *Ledger) Observations() []reports.Observation {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]reports.Observation, 0, len(l.observed))
	for s, n := range l.observed {
		all = append(all, reports.Observation{OpenPoint: s.openPoint, Operation: s.operation, Value: s.value, Count: n})
	}
	slices.SortFunc(all, compareObservations)
	return all
}

// Troubles returns the troubles in the order in which they occurred.
func (l *Ledger) Troubles() []reports.Trouble {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.troubles)
}
