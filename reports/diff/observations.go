package diff

import (
	"cmp"
	"maps"
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
	was, is := forms(before), forms(after)
	places := maps.Clone(was)
	maps.Copy(places, is)
	sorted := slices.SortedFunc(maps.Keys(places), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.openPoint, b.openPoint), cmp.Compare(a.operation, b.operation))
	})
	for _, at := range sorted {
		old, now := slices.Sorted(maps.Keys(was[at])), slices.Sorted(maps.Keys(is[at]))
		if !slices.Equal(old, now) {
			changed = append(changed, Observation{OpenPoint: at.openPoint, Operation: at.operation,
				Was: append([]string{}, old...), Is: append([]string{}, now...)})
		}
	}
	return changed
}

// forms returns the forms of the values that were observed at each place.
func forms(all []reports.Observation) map[place]map[string]bool {
	found := map[place]map[string]bool{}
	for _, o := range all {
		at := place{o.OpenPoint, o.Operation}
		if found[at] == nil {
			found[at] = map[string]bool{}
		}
		found[at][formOf(o)] = true
	}
	return found
}

// formOf returns what two observations of the same behaviour have in common.
func formOf(o reports.Observation) string {
	form := summary.Form(o.Value)
	if o.OpenPoint == spec.OpenPointVisibility {
		form, _, _ = strings.Cut(form, ": ") // how soon depends on how busy the machines were
	}
	return form
}
