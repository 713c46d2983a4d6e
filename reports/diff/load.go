package diff

import (
	"cmp"
	"fmt"
	"slices"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// Loads compares the results of two load runs. Figures and thresholds are those that
// the caller has compared.
func Loads(oldFile string, before load.Results, newFile string, after load.Results, figures []Figure, thresholds []Threshold) Part {
	p := Part{Kind: ofLoad, Old: loadSide(oldFile, before), New: loadSide(newFile, after), Figures: figures, Thresholds: thresholds}
	p.Notes = p.notes([]setting{{"selection", before.Run.Selection, after.Run.Selection}}, before.Run.Interrupted, after.Run.Interrupted)
	compared := p.scenarios(before.Scenarios, after.Scenarios)
	p.violations(before.Scenarios, after.Scenarios)
	p.conclude(compared)
	return p
}

func loadSide(file string, r load.Results) Side {
	return Side{File: file, Tool: r.Tool, Target: r.Target, Run: r.Run.ID, Started: r.Run.Started, Seed: r.Run.Seed, Verdict: r.Verdict}
}

// scenarios compares the verdicts of the scenarios. It returns the number of those that
// have one in both runs.
func (p *Part) scenarios(before, after []load.Scenario) (compared int) {
	for _, name := range names(before, after) {
		was, is := named(before, name), named(after, name)
		change := Change{Scenario: name, Was: string(was.Verdict), Is: string(is.Verdict), Why: reasonOf(is)}
		conclusive := func(s load.Scenario) bool { return s.Verdict == reports.Passed || s.Verdict == reports.Failed }
		if conclusive(was) && conclusive(is) {
			compared++
		}
		switch {
		case was.Verdict == is.Verdict && is.Verdict == reports.Failed:
			p.StillFailing++
		case was.Verdict == is.Verdict:
		case is.Verdict == reports.Failed:
			p.NewlyFailing = append(p.NewlyFailing, change)
		case was.Verdict == reports.Failed && is.Verdict == reports.Passed:
			p.NewlyPassing = append(p.NewlyPassing, change)
		case conclusive(was):
			p.LostCoverage = append(p.LostCoverage, change)
		default:
			p.Other = append(p.Other, change)
		}
	}
	return compared
}

// names returns the names of the scenarios of both runs, in the order of the new one.
func names(before, after []load.Scenario) (all []string) {
	for _, s := range slices.Concat(after, before) {
		if !slices.Contains(all, s.Name) {
			all = append(all, s.Name)
		}
	}
	return all
}

// named returns the scenario with the name. Its verdict is Absent if there is none.
func named(all []load.Scenario, name string) load.Scenario {
	for _, s := range all {
		if s.Name == name {
			return s
		}
	}
	return load.Scenario{Name: name, Verdict: Absent}
}

func reasonOf(s load.Scenario) string {
	switch {
	case s.Verdict == Absent:
		return "outside the selection of the new run"
	case len(s.Reasons) > 0:
		return s.Reasons[0]
	case len(s.Missing) > 0:
		return "missing: " + s.Missing[0]
	default:
		return ""
	}
}

// violations compares the requirements that were broken under load. What a scenario breaks that the
// old run lacks is new.
func (p *Part) violations(before, after []load.Scenario) {
	was, is := brokenIn(before), brokenIn(after)
	for _, b := range is {
		if slices.ContainsFunc(was, b.sameAs) {
			p.StillFailing++
			continue
		}
		b.Was, b.Is = "not broken", string(reports.Fail)
		p.NewlyFailing = append(p.NewlyFailing, b)
	}
	for _, b := range was {
		if v := named(after, b.Scenario).Verdict; !slices.ContainsFunc(is, b.sameAs) && (v == reports.Passed || v == reports.Failed) {
			b.Was, b.Is, b.Why = string(reports.Fail), "not broken", ""
			p.NewlyPassing = append(p.NewlyPassing, b)
		}
	}
}

func (c Change) sameAs(o Change) bool {
	return c.Scenario == o.Scenario && c.Requirement == o.Requirement && c.Operation == o.Operation
}

// brokenIn returns the first violation of each requirement that was broken.
func brokenIn(all []load.Scenario) (found []Change) {
	for _, s := range all {
		for _, v := range s.Violations {
			found = append(found, Change{Scenario: s.Name, Requirement: v.Requirement, Operation: v.Operation, Why: why(reports.Check{Violations: v.Examples})})
		}
	}
	slices.SortFunc(found, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Requirement, b.Requirement), cmp.Compare(a.Operation, b.Operation))
	})
	return found
}

// changed reports whether the figure differs beyond the two intervals.
func (f Figure) changed() bool { return f.Verdict == load.Worse || f.Verdict == load.Better }

// known reports whether the figure could be compared.
func (f Figure) known() bool { return f.Verdict != load.EffectNotKnown }

// Place returns the scenario and the phase of the figure, in words.
func (f Figure) Place() string { return at(f.Scenario, f.Phase) }

// Place returns the scenario and the phase of the threshold, in words.
func (t Threshold) Place() string { return at(t.Scenario, t.Phase) }

func at(scenario, phase string) string {
	if phase == "" {
		return scenario
	}
	return fmt.Sprintf("%s, %s", scenario, phase)
}
