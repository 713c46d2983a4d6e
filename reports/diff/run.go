package diff

import (
	"fmt"
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// Runs compares the results of two runs. The files are their names, for people.
func Runs(oldFile string, before reports.Results, newFile string, after reports.Results) Part {
	p := Part{Kind: ofRun, Old: side(oldFile, before), New: side(newFile, after)}
	p.Notes = p.notes([]setting{
		{"profile", before.Run.Profile, after.Run.Profile},
		{"selection", before.Run.Selection, after.Run.Selection},
		{"operations in the target profile", fmt.Sprint(before.Run.Operations), fmt.Sprint(after.Run.Operations)},
		{"omits in the target profile", fmt.Sprint(before.Run.Omits), fmt.Sprint(after.Run.Omits)},
	}, before.Run.Interrupted, after.Run.Interrupted)
	compared := p.compare(before.Checks, after.Checks)
	both := inBoth(before.Checks, after.Checks)
	p.Observations = observations(seenAt(both, before.Observations), seenAt(both, after.Observations))
	if otherSelection(before.Run, after.Run) {
		p.Observations = slices.DeleteFunc(p.Observations, func(o Observation) bool { return len(o.Was) == 0 || len(o.Is) == 0 })
	}
	p.conclude(compared)
	return p
}

// otherSelection reports whether one of the runs may have left out what the other
// observed.
func otherSelection(a, b reports.Run) bool {
	return a.Selection != b.Selection || a.Profile != b.Profile || len(a.Parts) > 0 || len(b.Parts) > 0
}

func side(file string, r reports.Results) Side {
	return Side{File: file, Tool: r.Tool, Target: r.Target, Run: r.Run.ID, Started: r.Run.Started, Seed: r.Run.Seed, Verdict: r.Verdict}
}

// setting is one that two runs should share.
type setting struct{ name, was, is string }

// notes describes the settings that differ.
func (p Part) notes(settings []setting, oldInterrupted, newInterrupted bool) (notes []string) {
	settings = slices.Concat([]setting{
		{"target", p.Old.Target.Name, p.New.Target.Name},
		{"version of the target", p.Old.Target.Version, p.New.Target.Version},
		{"vendor", p.Old.Target.Vendor, p.New.Target.Vendor},
		{"version of the harness", p.Old.Tool.Version, p.New.Tool.Version},
	}, settings)
	if p.Old.Target.Kind == p.New.Target.Kind && p.Old.Target.Kind == "url" { // the ports of others are drawn
		settings = append(settings, setting{"address", p.Old.Target.BaseURL, p.New.Target.BaseURL})
	}
	for _, s := range settings {
		if s.was != s.is {
			notes = append(notes, fmt.Sprintf("%s: was %s, is %s", s.name, orNone(s.was), orNone(s.is)))
		}
	}
	if oldInterrupted {
		notes = append(notes, "the old run was interrupted")
	}
	if newInterrupted {
		notes = append(notes, "the new run was interrupted")
	}
	return notes
}

func orNone(s string) string {
	if s == "" || s == "[]" {
		return "(none)"
	}
	return s
}

// compare sorts the checks whose outcome differs into the lists of the part. It returns
// the number of checks that both runs assessed.
func (p *Part) compare(before, after []reports.Check) (compared int) {
	was := map[spec.Pair]reports.Check{}
	for _, c := range before {
		was[pairOf(c)] = c
	}
	seen := map[spec.Pair]bool{}
	for _, c := range after {
		seen[pairOf(c)] = true
		old, known := was[pairOf(c)]
		if !known {
			old = reports.Check{Outcome: Absent}
		}
		if assessed(old) && assessed(c) {
			compared++
		}
		p.add(old, c)
	}
	for _, c := range before {
		if !seen[pairOf(c)] {
			p.add(c, reports.Check{Requirement: c.Requirement, Operation: c.Operation, Outcome: Absent})
		}
	}
	return compared
}

func pairOf(c reports.Check) spec.Pair {
	return spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
}

func assessed(c reports.Check) bool {
	return c.Outcome == reports.Pass || failing(c)
}

// failing reports whether the check failed, as expected or not.
func failing(c reports.Check) bool {
	return c.Outcome == reports.Fail || c.Outcome == reports.ExpectedFailure
}

// add adds the change of one check to its list.
func (p *Part) add(was, is reports.Check) {
	change := Change{Requirement: is.Requirement, Operation: is.Operation, Was: string(was.Outcome), Is: string(is.Outcome), Why: why(is)}
	switch {
	case failing(was) && failing(is):
		p.StillFailing++
		if was.Outcome != is.Outcome {
			p.Other = append(p.Other, change)
		}
	case is.Outcome == reports.Fail:
		p.NewlyFailing = append(p.NewlyFailing, change)
	case failing(was) && is.Outcome == reports.Pass:
		p.NewlyPassing = append(p.NewlyPassing, change)
	case assessed(was) && !assessed(is):
		if _, known := spec.FindRequirement(is.Requirement); !known && is.Outcome == Absent {
			change.Why = "this version of the harness does not have the requirement"
			p.Other = append(p.Other, change)
			return
		}
		p.LostCoverage = append(p.LostCoverage, change)
	case is.Outcome == reports.ExpectedFailure, !assessed(was) && assessed(is):
		p.Other = append(p.Other, change)
	}
}

// why returns the first reason of an outcome, in words.
func why(c reports.Check) string {
	switch {
	case len(c.Violations) > 0:
		v := c.Violations[0]
		return fmt.Sprintf("at %s: expected %s, got %s", v.Place(), v.Expected, v.Actual)
	case len(c.Missing) > 0:
		return "missing: " + c.Missing[0]
	case c.Outcome == Absent:
		return "left out by the filters or the target profile of the new run"
	default:
		return ""
	}
}

// conclude sets the outcome and its reasons. Compared is the number of checks, or of
// scenarios, that both runs assessed.
func (p *Part) conclude(compared int) {
	because := func(n int, what string) {
		if n > 0 {
			p.Reasons = append(p.Reasons, fmt.Sprintf("%s: %s", what, printable.Number(n)))
		}
	}
	because(len(p.NewlyFailing), "newly failing")
	because(len(p.LostCoverage), "no longer assessed")
	because(p.thresholds(load.Missed), "thresholds missed")
	switch open := p.thresholds(load.Inconclusive); {
	case len(p.Reasons) > 0:
		p.Outcome = Worse
	case compared == 0:
		p.Outcome, p.Reasons = Inconclusive, []string{"the runs have assessed nothing in common"}
	case open > 0:
		p.Outcome = Inconclusive
		because(open, "thresholds inconclusive")
	case len(p.NewlyPassing)+len(p.Other)+len(p.Observations) > 0 || slices.ContainsFunc(p.Figures, Figure.changed):
		p.Outcome = Different
	case len(p.Figures) > 0 && !slices.ContainsFunc(p.Figures, Figure.known):
		p.Outcome, p.Reasons = Inconclusive, []string{"no figure of the runs could be compared"}
	default:
		p.Outcome = Same
	}
}

func (p Part) thresholds(outcome load.Outcome) (n int) {
	for _, t := range p.Thresholds {
		if t.Outcome == outcome {
			n++
		}
	}
	return n
}
