package view

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"

	"outreach.example/conformance/reports/summary"
)

// Limits of the text of a run, unless Verbose is set.
const (
	maxCauses = 15  // a target with more gets a digest
	maxFailed = 100 // failed checks; so does a target with more
	maxNamed  = 6   // names, in brief
	maxFull   = 3   // kinds of violations of one requirement that are shown in full
	maxKinds  = 5   // other kinds, in brief
)

// isMany reports whether the causes of the failures have too many members to name.
func isMany(r reports.Results) bool { return reports.Count(r.Checks).Fail > maxFailed }

// digest reports whether the text leaves out what helps little if much failed.
func (s *screen) digest(r reports.Results) bool {
	return !s.Verbose && (isMany(r) || len(summary.Causes(r.Checks)) > maxCauses)
}

// shownFailure is a failure with the number of its kinds that are shown in full, and of all that are shown.
type shownFailure struct {
	summary.Failure
	Brief      bool
	Full, Most int
}

func inShort(f summary.Failure, brief bool) shownFailure {
	if brief {
		return shownFailure{f, true, 1, 1 + maxKinds}
	}
	return shownFailure{f, false, maxFull, len(f.Kinds)}
}

// alike names the other requirements that a cause breaks.
func alike(failures []summary.Failure, brief bool) string {
	var all []string
	first := failures[0].Checks[0].Operation
	for _, f := range failures[1:] {
		name := f.Requirement
		switch {
		case len(f.Checks) > 1 && brief:
			name += fmt.Sprintf(" (%d operations)", len(f.Checks))
		case len(f.Checks) > 1 || f.Checks[0].Operation != first:
			name += " on " + strings.Join(operationsOf(f.Checks), " and ")
		}
		all = append(all, name)
	}
	return names(all, brief)
}

func operationsOf(checks []reports.Check) (all []string) {
	for _, c := range checks {
		all = append(all, c.Operation)
	}
	return all
}

// names lists the names, or in brief the first of them and a count.
func names(all []string, brief bool) string {
	if left := len(all) - maxNamed; brief && left > 0 {
		all = append(slices.Clone(all[:maxNamed]), "… and "+printable.Number(left)+" more")
	}
	return strings.Join(all, ", ")
}

// leftCauses says how many causes are not shown.
func (s *screen) leftCauses(all []summary.Cause) string {
	if s.left(maxCauses, all) == 0 {
		return ""
	}
	checks := 0
	for _, c := range all[maxCauses:] {
		checks += len(c.Checks)
	}
	said := fmt.Sprintf("… and %s with %s (all: --verbose)", printable.Counted(len(all)-maxCauses, "more cause"), printable.Counted(checks, "check"))
	if s.ResultsPath != "" {
		said += ", or " + s.ResultsPath
	}
	return said
}

// seen says how often something was seen, if that is known.
func seen(count int) string {
	if count == 0 {
		return ""
	}
	return ", seen " + printable.Counted(count, "time")
}

// follows says what follows from the violations of a check and is counted nowhere else.
func follows(c reports.Check) string {
	total := 0
	for _, f := range c.Consequences {
		total += f.Count
	}
	switch total {
	case 0:
		return ""
	case 1:
		return "1 violation of 1 other check follows from this and is not counted"
	}
	return fmt.Sprintf("%d violations of %s follow from this and are not counted", total, printable.Counted(len(c.Consequences), "other check"))
}

// notAssessed counts the checks that were not assessed. It announces a list of inputs only if there is one.
func notAssessed(checks []reports.Check, inputs []summary.Missing) string {
	total, sum := reports.Count(checks).NotAssessed, 0
	for _, in := range inputs {
		sum += in.Checks
	}
	text := printable.Counted(total, "check")
	if len(lacking(inputs)) > 0 {
		text += ", by what was missing"
	}
	if sum > total {
		text += " (some lack several inputs)"
	}
	return text
}

// lacking returns the inputs that were missing, without the ends of runs.
func lacking(inputs []summary.Missing) []summary.Missing {
	return slices.DeleteFunc(slices.Clone(inputs), func(m summary.Missing) bool { return m.Ended() != "" })
}

// where says which operations showed a value. Concerned is the number of all operations
// with an observation.
func where(operations []string, concerned int) string {
	switch {
	case len(operations) == 1 && operations[0] == "":
		return ""
	case len(operations) == concerned && concerned > 1:
		return fmt.Sprintf(" (all %d operations)", concerned)
	case len(operations) <= 2:
		return " (" + strings.Replace(", "+strings.Join(operations, ", "), ", ,", ", the service,", 1)[2:] + ")"
	default:
		return fmt.Sprintf(" (%d operations)", len(operations))
	}
}

// column returns the column beside the labels of a list: their operations or open points.
func column(list any) int {
	var labels []string
	switch list := list.(type) {
	case []reports.Check:
		labels = operationsOf(list)
	case []summary.Observed:
		for _, o := range list {
			labels = append(labels, o.OpenPoint)
		}
	}
	widest := gap
	for _, l := range labels {
		if w := Width(l); w <= widestOperation {
			widest = max(widest, w)
		}
	}
	return widest + gap
}

// urgent returns the troubles that Quiet shows.
func urgent(r reports.Results) []reports.Trouble {
	return slices.DeleteFunc(slices.Clone(r.Troubles), func(t reports.Trouble) bool { return r.Verdict != reports.Inconclusive && !t.Left() })
}

// expected returns the expected failures.
func expected(checks []reports.Check) []reports.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c reports.Check) bool { return c.Outcome != reports.ExpectedFailure || c.Waiver == nil })
}

// fact is a number of something.
type fact struct {
	What string
	N    int
}

// outcomeCounts returns the numbers of checks by outcome, without those of none.
func outcomeCounts(r reports.Results) []fact {
	n := reports.Count(r.Checks)
	all := []fact{{"failed", n.Fail}, {"failed as expected", n.Expected}, {"passed", n.Pass}, {"not assessed", n.NotAssessed}, {"in error", n.Error}}
	return slices.DeleteFunc(all, func(f fact) bool { return f.N == 0 })
}

// throttled reports whether a run mostly waited after a 429.
func throttled(r reports.Run) bool { return 2*r.Time.Throttled > r.Seconds }

// expectedIn names the file that declares an expected failure.
func (s *screen) expectedIn(c reports.Check) string {
	if s.ExpectedIn == nil {
		return ""
	}
	return printable.Text(s.ExpectedIn(c))
}

// some names operations, the first few unless Verbose is set.
func (s *screen) some(n int, operations []string) string {
	left := s.left(n, operations)
	text := strings.Join(operations[:len(operations)-left], ", ")
	if left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}
