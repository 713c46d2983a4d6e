package diff

import (
	"fmt"
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
)

// Group is a set of changes that a view shows as one. Failures are grouped by
// requirement, other changes by their reason.
type Group struct {
	Change                // the first
	Requirements []string // each once; empty for a scenario as such
	Operations   []string // each once
	Count        int      // of the changes
}

// Grouped groups changes in their order.
func Grouped(changes []Change) []Group {
	var groups []Group
	for _, c := range changes {
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Change.alike(c) })
		if i < 0 {
			groups, i = append(groups, Group{Change: c}), len(groups)
		}
		g := &groups[i]
		g.Count++
		if c.Requirement != "" && !slices.Contains(g.Requirements, c.Requirement) {
			g.Requirements = append(g.Requirements, c.Requirement)
		}
		if c.Operation != "" && !slices.Contains(g.Operations, c.Operation) {
			g.Operations = append(g.Operations, c.Operation)
		}
	}
	return groups
}

// alike reports whether a reader learns little from the second of two changes.
func (c Change) alike(other Change) bool {
	if c.Scenario != other.Scenario || c.Requirement == "" || c.Was != other.Was || c.Is != other.Is {
		return false
	}
	return c.Requirement == other.Requirement || c.Is != string(reports.Fail) && c.Why == other.Why
}

// Name returns the requirement of the group, how many checks it has, or its scenario.
func (g Group) Name() string {
	name := g.Requirement
	if len(g.Requirements) > 1 {
		name = fmt.Sprintf("%s checks (%s, …)", printable.Number(g.Count), g.Requirement)
	}
	switch {
	case name == "":
		return g.Scenario
	case g.Scenario != "":
		return g.Scenario + ": " + name
	default:
		return name
	}
}

// ObservationGroup is a set of observations with the same change.
type ObservationGroup struct {
	Observation
	Operations []string
}

// GroupedObservations groups observations of an open point by their change.
func GroupedObservations(all []Observation) []ObservationGroup {
	var groups []ObservationGroup
	for _, o := range all {
		i := slices.IndexFunc(groups, func(g ObservationGroup) bool {
			return g.OpenPoint == o.OpenPoint && slices.Equal(g.Was, o.Was) && slices.Equal(g.Is, o.Is)
		})
		if i < 0 {
			groups, i = append(groups, ObservationGroup{Observation: o}), len(groups)
		}
		if o.Operation != "" {
			groups[i].Operations = append(groups[i].Operations, o.Operation)
		}
	}
	return groups
}

// NewlyFailing is the title of the list of checks that newly fail. Their regressions begin with it.
const NewlyFailing = "newly failing"

// List is one of the lists of changes with its title.
type List struct {
	Title, About string
	Fails        bool // a change in it fails the comparison
	Changes      []Change
}

// Lists returns the lists of changes that are not empty, those that fail the comparison
// first.
func (p Part) Lists() []List {
	all := []List{
		{NewlyFailing, "did not fail before", true, p.NewlyFailing},
		{"no longer assessed", "the old run assessed them", true, p.LostCoverage},
		{"newly passing", "failed before", false, p.NewlyPassing},
		{"other changes", "newly assessed, or newly expected to fail", false, p.Other},
	}
	return slices.DeleteFunc(all, func(l List) bool { return len(l.Changes) == 0 })
}
