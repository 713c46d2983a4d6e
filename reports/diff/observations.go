package diff

import (
	"cmp"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// place is where something was observed.
type place struct{ openPoint, operation string }

// inBoth returns the operations of which both runs assessed a check. What only one of
// them called cannot be compared. The empty operation stands for the service.
func inBoth(before, after []reports.Check) map[string]bool {
	was, both := map[string]bool{}, map[string]bool{"": true}
	for _, c := range before {
		was[c.Operation] = was[c.Operation] || assessed(c)
	}
	for _, c := range after {
		if assessed(c) && was[c.Operation] {
			both[c.Operation] = true
		}
	}
	return both
}

// seenAt returns the observations at the operations.
func seenAt(operations map[string]bool, all []reports.Observation) (kept []reports.Observation) {
	for _, o := range all {
		if operations[o.Operation] {
			kept = append(kept, o)
		}
	}
	return kept
}

// observations returns the places at which the two runs observed something else.
func observations(before, after []reports.Observation) (changed []Observation) {
	places := map[place]*Observation{}
	add := func(all []reports.Observation, list func(*Observation) *[]string) {
		for _, o := range all {
			at := place{o.OpenPoint, o.Operation}
			if places[at] == nil {
				places[at] = &Observation{OpenPoint: at.openPoint, Operation: at.operation, Was: []string{}, Is: []string{}}
			}
			*list(places[at]) = append(*list(places[at]), formOf(o))
		}
	}
	add(before, func(o *Observation) *[]string { return &o.Was })
	add(after, func(o *Observation) *[]string { return &o.Is })
	for _, o := range places {
		slices.Sort(o.Was)
		slices.Sort(o.Is)
		if o.Was, o.Is = slices.Compact(o.Was), slices.Compact(o.Is); !slices.Equal(o.Was, o.Is) {
			changed = append(changed, *o)
		}
	}
	slices.SortFunc(changed, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.OpenPoint, b.OpenPoint), cmp.Compare(a.Operation, b.Operation))
	})
	return changed
}

// formOf returns what two observations of the same behaviour have in common.
func formOf(o reports.Observation) string {
	form := summary.Form(o.Value)
	if o.OpenPoint == spec.OpenPointVisibility {
		form, _, _ = strings.Cut(form, ": ") // how soon depends on how busy the machines were
	}
	return form
}
