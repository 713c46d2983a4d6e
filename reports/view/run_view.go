package view

import (
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
)

var runTemplate = newTemplate("run.html", template.FuncMap{"supply": supply, "diff": differ, "join": joinBounded})

func pageOfRun(w io.Writer, r reports.Results, _ Options) error {
	return render(w, runTemplate, runViewOf(r))
}

// runView is what the template shows. Its texts are printable and bounded.
type runView struct {
	reports.Results
	Title    string
	Address  string
	Coverage string
	Counts   []fact // by outcome, without those of none

	Matrix   matrix
	Causes   causes
	Missing  listOf[missingRow]
	Accepted accepted
	Expected listOf[expectedFailure]
	Observed listOf[observedPoint]
	Troubles listOf[trouble]
	Statuses []fact
	Times    []fact
}

// fact is a number of things.
type fact struct {
	What string
	N    string
}

// listOf are entries of which some may not fit.
type listOf[T any] struct {
	Entries []T
	Left    int // entries that do not fit
}

// Total returns the number of all entries.
func (l listOf[T]) Total() int { return len(l.Entries) + l.Left }

// fit returns the entries that fit. Texts returns the texts of an entry.
func fit[T any](all []T, space room, texts func(T) []string) listOf[T] {
	for i, entry := range all {
		if !space.take(texts(entry)...) {
			return listOf[T]{all[:i], len(all) - i}
		}
	}
	return listOf[T]{all, 0}
}

func runViewOf(r reports.Results) runView {
	v := runView{
		Results: r, Address: bounded(addressOf(r.Target), mostText), Coverage: summary.CoverageOf(r.Checks).String(),
		Title: r.Word() + ": " + bounded(targetName(r.Target), mostText),
	}
	v.Target.Name, v.Target.Version, v.Target.Vendor = bounded(r.Target.Name, mostText), bounded(r.Target.Version, mostText), bounded(r.Target.Vendor, mostText)
	v.Reasons = nil
	for _, reason := range r.Reasons[:min(len(r.Reasons), mostReasons)] {
		v.Reasons = append(v.Reasons, bounded(reason, mostText))
	}
	if left := len(r.Reasons) - mostReasons; left > 0 {
		v.Reasons = append(v.Reasons, fmt.Sprintf("… and %s more, in results.json", printable.Number(left)))
	}
	n := reports.Count(r.Checks)
	for _, c := range []struct {
		what string
		n    int
	}{{"failed", n.Fail}, {"failed as expected", n.Expected}, {"passed", n.Pass}, {"not assessed", n.NotAssessed}, {"in error", n.Error}} {
		if c.n > 0 {
			v.Counts = append(v.Counts, fact{c.what, printable.Number(c.n)})
		}
	}
	v.Causes = causesOf(r.Checks)
	v.Matrix = matrixOf(r.Checks, v.Causes)
	v.Missing, v.Expected = missingOf(r.Checks), expectedOf(r.Checks)
	v.Accepted, v.Observed, v.Troubles = acceptedOf(r.Requests), observedOf(r.Observations), troublesOf(r.Troubles)
	for _, status := range slices.Sorted(maps.Keys(r.Traffic.Statuses)) {
		name := status
		if status == "none" {
			name = "no response"
		}
		v.Statuses = append(v.Statuses, fact{name, printable.Number(r.Traffic.Statuses[status])})
	}
	v.Times = timesOf(r.Run.Time)
	return v
}

// mostReasons is how many reasons of the verdict the page shows.
const mostReasons = 20

// timesOf says where the time went, the longest part first.
func timesOf(t *reports.Time) []fact {
	if t == nil {
		return nil
	}
	var all []fact
	for _, p := range t.Parts() {
		all = append(all, fact{p.What, printable.Figure(p.Seconds) + " s"})
	}
	return all
}

// ranked returns the keys of a set: those of the catalogue in its order, then the others.
func ranked(set map[string]bool, catalogue []string) []string {
	var all []string
	for _, id := range catalogue {
		if set[id] {
			all = append(all, id)
		}
	}
	knownOutcome := len(all)
	for id := range set {
		if !slices.Contains(catalogue, id) {
			all = append(all, id)
		}
	}
	slices.Sort(all[knownOutcome:])
	return all
}
