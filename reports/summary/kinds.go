package summary

import (
	"slices"

	"outreach.example/conformance/reports"
)

// Failure is a requirement that failed on some operations.
type Failure struct {
	Requirement, Level, Statement, Section string
	Checks                                 []reports.Check
	Kinds                                  []Kind
}

// Failures returns the failed checks by requirement, in their order.
func Failures(checks []reports.Check) []Failure {
	var all []Failure
	index := map[string]int{}
	for _, c := range checks {
		if c.Outcome != reports.Fail {
			continue
		}
		i, known := index[c.Requirement]
		if !known {
			i, index[c.Requirement] = len(all), len(all)
			all = append(all, Failure{Requirement: c.Requirement, Level: c.Level})
		}
		all[i].Checks = append(all[i].Checks, c)
	}
	for i, f := range all {
		all[i].Kinds = kinds(f.Checks)
		all[i].Statement, all[i].Section = all[i].Kinds[0].Statement, all[i].Kinds[0].Section
	}
	return all
}

// Kind is one kind of violation of a requirement, with the first example of it.
type Kind struct {
	reports.Violation
	Check      reports.Check // that the example is from
	Operations []string      // that show the kind, each once
	Count      int           // violations of the kind, as far as they were counted
}

// kinds returns the kinds of violations of failed checks of one requirement, in the order
// of the checks. A check without a listed violation has a kind of its own.
func kinds(checks []reports.Check) []Kind {
	var all []Kind
	index := map[string]int{}
	add := func(c reports.Check, v reports.Violation) {
		i, known := index[v.Kind()]
		if !known {
			i = len(all)
			index[v.Kind()] = i
			all = append(all, Kind{Violation: v, Check: c})
		}
		all[i].Count += v.Count
		if !slices.Contains(all[i].Operations, c.Operation) {
			all[i].Operations = append(all[i].Operations, c.Operation)
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
	return all
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
