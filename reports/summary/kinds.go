package summary

import (
	"slices"

	"outreach.example/conformance/reports"
)

// Kind is one kind of violation of a requirement, with the first example of it.
type Kind struct {
	reports.Violation
	Check      reports.Check // that the example is from
	Operations []string      // that show the kind, each once
	Count      int           // violations of the kind, as far as they were counted
}

// Kinds returns the kinds of violations of failed checks of one requirement, in the order
// of the checks. A check without a listed violation has a kind of its own.
func Kinds(checks []reports.Check) []Kind {
	var kinds []Kind
	index := map[string]int{}
	add := func(c reports.Check, v reports.Violation) {
		i, known := index[v.Kind()]
		if !known {
			i = len(kinds)
			index[v.Kind()] = i
			kinds = append(kinds, Kind{Violation: v, Check: c})
		}
		kinds[i].Count += v.Count
		if !slices.Contains(kinds[i].Operations, c.Operation) {
			kinds[i].Operations = append(kinds[i].Operations, c.Operation)
		}
	}
	for _, c := range checks {
		for _, v := range c.Violations {
			add(c, v)
		}
		if len(c.Violations) == 0 {
			add(c, reports.Violation{})
		}
	}
	return kinds
}

// KeepExchanges returns the results without the exchanges of violations other than the first
// example of each cause.
func KeepExchanges(r reports.Results) reports.Results {
	kept := map[*reports.Exchange]bool{}
	for _, cause := range Causes(r.Checks) {
		_, v := cause.Example()
		kept[v.Exchange] = true
	}
	return r.WithViolations(func(v *reports.Violation, _ int) bool {
		if !kept[v.Exchange] {
			v.Exchange = nil
		}
		return true
	})
}
