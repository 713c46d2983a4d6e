package diff

import (
	"fmt"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// Summary returns the difference in one line: the outcome and the number of changes.
func (d Difference) Summary() string {
	var facts []string
	for _, l := range []struct {
		of   func(Part) int
		what string
	}{
		{func(p Part) int { return len(p.NewlyFailing) }, "newly failing"},
		{func(p Part) int { return len(p.LostCoverage) }, "no longer assessed"},
		{func(p Part) int { return p.thresholds(load.Missed) }, "thresholds missed"},
		{func(p Part) int { return p.thresholds(load.Inconclusive) }, "thresholds inconclusive"},
		{func(p Part) int { return len(p.NewlyPassing) }, "newly passing"},
		{func(p Part) int { return len(p.Other) }, "other changes"},
		{func(p Part) int { return len(p.Observations) }, "changed observations"},
		{Part.changedFigures, "changed figures"},
		{func(p Part) int { return p.StillFailing }, "still failing"},
	} {
		n := 0
		for _, p := range d.Parts {
			n += l.of(p)
		}
		if n > 0 {
			facts = append(facts, printable.Number(n)+" "+l.what)
		}
	}
	if len(facts) == 0 {
		return d.Outcome.In()
	}
	return d.Outcome.In() + ": " + strings.Join(facts, ", ")
}

// Limits of the regressions in words.
const (
	maxRegressions = 10 // groups of one list
	maxNamed       = 6  // requirements or operations of a group
)

// Regressions returns the changes of a run that fail the comparison, in words: which
// checks, and why.
func (p Part) Regressions() []string {
	var all []string
	for _, l := range p.Lists() {
		if !l.Fails {
			continue
		}
		groups, begin := Grouped(l.Changes), fmt.Sprintf("%s, unlike in the baseline %s: ", l.Title, p.Old.File)
		for _, g := range groups[:min(len(groups), maxRegressions)] {
			text := begin
			if g.Count > 1 {
				text += printable.Number(g.Count) + " checks: "
			}
			text += firstOf(g.Requirements) + " on " + firstOf(g.Operations)
			if g.Why != "" {
				text += " (" + g.Why + ")"
			}
			all = append(all, text)
		}
		if left := groups[min(len(groups), maxRegressions):]; len(left) > 0 {
			checks := 0
			for _, g := range left {
				checks += g.Count
			}
			all = append(all, begin+printable.Number(checks)+" more")
		}
	}
	return all
}

// firstOf lists the first names, and how many more there are.
func firstOf(names []string) string {
	left := len(names) - maxNamed
	if left <= 0 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), left)
}

func (p Part) changedFigures() (n int) {
	for _, f := range p.Figures {
		if f.changed() {
			n++
		}
	}
	return n
}

// Title returns the name and the version of the target, when the run began and the name
// of the file.
func (s Side) Title() string {
	target := strings.TrimSpace(s.Target.Name + " " + s.Target.Version)
	if target == "" {
		target = "(without a name)"
	}
	return fmt.Sprintf("%s, %s: %s (%s)", target, s.Started.UTC().Format("2006-01-02 15:04:05 UTC"), s.Verdict, s.File)
}

// Change returns how much worse or better the figure is, with its interval.
func (f Figure) Change() string {
	if f.Worse == nil {
		return f.Why
	}
	return f.Worse.Change("%")
}

// Values returns the values of an observation in words.
func Values(values []string) string {
	if len(values) == 0 {
		return "not observed"
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		if quoted[i] = printable.Text(v); v == "" {
			quoted[i] = `""`
		}
	}
	return strings.Join(quoted, " · ")
}
