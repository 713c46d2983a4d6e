package judge

import (
	"maps"
	"slices"

	"outreach.example/conformance/reports"
)

// examples are the first violation of each kind that a pair has, in the order in which the
// kinds came. There are at most maxViolations of them.
type examples struct {
	Shown []example      `json:"examples,omitempty"`
	Kinds map[string]int `json:"kinds,omitempty"` // violations by kind: maxKinds kinds at most
}

type example struct {
	Kind      string            `json:"kind"`
	Violation reports.Violation `json:"violation"`
}

// maxKinds is how many kinds of violations of one pair are counted apart.
const maxKinds = 50

// count counts violations of the kind.
func (e *examples) count(kind string, n int) {
	if e.Kinds == nil {
		e.Kinds = map[string]int{}
	}
	if e.Kinds[kind] > 0 || len(e.Kinds) < maxKinds {
		e.Kinds[kind] += n
	}
}

// add shows the violation if it is the first of its kind and fits. It formats only what it
// shows.
func (e *examples) add(kind string, v reports.Violation, format func(reports.Violation) reports.Violation) (shown bool) {
	if len(e.Shown) == maxViolations || slices.ContainsFunc(e.Shown, func(known example) bool { return known.Kind == kind }) {
		return false
	}
	e.Shown = append(e.Shown, example{kind, format(v)})
	return true
}

// merge adds the examples of others, and counts their violations.
func (e *examples) merge(other examples) {
	for _, x := range other.Shown {
		e.add(x.Kind, x.Violation, asIs)
	}
	for _, kind := range slices.Sorted(maps.Keys(other.Kinds)) {
		e.count(kind, other.Kinds[kind])
	}
}

// violations returns the examples with the number of violations of their kinds.
func (e *examples) violations() []reports.Violation {
	var all []reports.Violation
	for _, x := range e.Shown {
		x.Violation.Count = e.Kinds[x.Kind]
		all = append(all, x.Violation)
	}
	return all
}

// asIs is the format of a violation that is formatted already.
func asIs(v reports.Violation) reports.Violation { return v }
