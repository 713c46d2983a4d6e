package github

import (
	"fmt"
	"io"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/markdown"
)

// AnnotateDifference writes an annotation for a comparison that does not pass: its
// outcome and the first changes that fail it.
func AnnotateDifference(w io.Writer, d diff.Difference) error {
	if d.Outcome.ExitCode() == 0 {
		return nil
	}
	lines := []string{reports.Printable(d.Summary())}
	for _, p := range d.Parts {
		for _, l := range p.Lists() {
			if !l.Fails {
				continue
			}
			for _, g := range diff.Grouped(l.Changes) {
				lines = append(lines, fmt.Sprintf("%s: %s %s", l.Title, reports.Printable(g.Name()), reports.Printable(strings.Join(g.Operations, ", "))))
			}
		}
		for _, t := range p.Thresholds {
			if t.Outcome != "met" {
				lines = append(lines, fmt.Sprintf("%s in %s: %s", reports.Printable(t.Text), reports.Printable(t.Place()), reports.Printable(t.Why)))
			}
		}
	}
	if left := len(lines) - maxAnnotations; left > 0 {
		lines = append(lines[:maxAnnotations], fmt.Sprintf("… and %d more", left))
	}
	_, err := io.WriteString(w, command("difference", strings.Join(lines, "\n")))
	return err
}

// SummaryDifference writes the difference between two runs as Markdown: the outcome, the
// runs, and a table for each kind of change.
func SummaryDifference(w io.Writer, d diff.Difference) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Difference: %s\n", markdown.Text(d.Summary()))
	for _, p := range d.Parts {
		fmt.Fprintf(&b, "\n- old: %s\n- new: %s\n", markdown.Text(p.Old.Title()), markdown.Text(p.New.Title()))
		for _, note := range p.Notes {
			fmt.Fprintf(&b, "- %s\n", markdown.Text(note))
		}
		for _, l := range p.Lists() {
			changes := markdown.Table{}
			for _, g := range diff.Grouped(l.Changes) {
				changes.Add(g.Name(), strings.Join(g.Operations, ", "), g.Was, g.Is, g.Why)
			}
			changes.Write(&b, "| "+l.Title+" | operations | was | is | because |\n|---|---|---|---|---|\n", maxRows)
		}
		observed := markdown.Table{}
		for _, g := range diff.GroupedObservations(p.Observations) {
			observed.Add(g.OpenPoint, strings.Join(g.Operations, ", "), diff.Values(g.Was), diff.Values(g.Is))
		}
		observed.Write(&b, "| changed observation | operations | was | is |\n|---|---|---|---|\n", maxRows)
		figures, thresholds := markdown.Table{}, markdown.Table{}
		for _, f := range p.Figures {
			figures.Add(f.Place(), f.Name, diff.Shown(f.Old, f.Unit), diff.Shown(f.New, f.Unit), string(f.Verdict), f.ShownChange())
		}
		figures.Write(&b, "| figure of | figure | was | is | outcome | change |\n|---|---|---:|---:|---|---|\n", maxRows)
		for _, t := range p.Thresholds {
			thresholds.Add(t.Text, t.Place(), string(t.Outcome), t.Why)
		}
		thresholds.Write(&b, "| threshold | of | outcome | because |\n|---|---|---|---|\n", maxRows)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}
