package view

import (
	"fmt"
	"io"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/diff"
)

// annotateDifference writes an annotation for a comparison that does not pass: its
// outcome and the first changes that fail it.
func annotateDifference(w io.Writer, d diff.Difference, _ Options) error {
	if d.Outcome.ExitCode() == 0 {
		return nil
	}
	lines := []string{printable.Text(d.Summary())}
	for _, p := range d.Parts {
		for _, l := range p.Lists() {
			if !l.Fails {
				continue
			}
			for _, g := range diff.Grouped(l.Changes) {
				lines = append(lines, fmt.Sprintf("%s: %s %s", l.Title, printable.Text(g.Name()), printable.Text(strings.Join(g.Operations, ", "))))
			}
		}
		for _, t := range p.Thresholds {
			if t.Outcome != "met" {
				lines = append(lines, fmt.Sprintf("%s in %s: %s", printable.Text(t.Text), printable.Text(t.Place()), printable.Text(t.Why)))
			}
		}
	}
	if left := len(lines) - maxAnnotations; left > 0 {
		lines = append(lines[:maxAnnotations], fmt.Sprintf("… and %d more", left))
	}
	_, err := io.WriteString(w, command("difference", strings.Join(lines, "\n")))
	return err
}

// markdownDifference writes the difference between two runs as Markdown: the outcome, the
// runs, and a table for each kind of change.
func markdownDifference(w io.Writer, d diff.Difference, _ Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Difference: %s\n", escaped(d.Summary()))
	for _, p := range d.Parts {
		fmt.Fprintf(&b, "\n- old: %s\n- new: %s\n", escaped(p.Old.Title()), escaped(p.New.Title()))
		for _, note := range p.Notes {
			fmt.Fprintf(&b, "- %s\n", escaped(note))
		}
		for _, l := range p.Lists() {
			changes := markdownTable{}
			for _, g := range diff.Grouped(l.Changes) {
				changes.add(g.Name(), strings.Join(g.Operations, ", "), g.Was, g.Is, g.Why)
			}
			changes.write(&b, "| "+l.Title+" | operations | was | is | because |\n|---|---|---|---|---|\n", maxRows)
		}
		observed := markdownTable{}
		for _, g := range diff.GroupedObservations(p.Observations) {
			observed.add(g.OpenPoint, strings.Join(g.Operations, ", "), diff.Values(g.Was), diff.Values(g.Is))
		}
		observed.write(&b, "| changed observation | operations | was | is |\n|---|---|---|---|\n", maxRows)
		figures, thresholds := markdownTable{}, markdownTable{}
		for _, f := range p.Figures {
			figures.add(f.Place(), f.Name, diff.Shown(f.Old, f.Unit), diff.Shown(f.New, f.Unit), string(f.Verdict), f.ShownChange())
		}
		figures.write(&b, "| figure of | figure | was | is | outcome | change |\n|---|---|---:|---:|---|---|\n", maxRows)
		for _, t := range p.Thresholds {
			thresholds.add(t.Text, t.Place(), string(t.Outcome), t.Why)
		}
		thresholds.write(&b, "| threshold | of | outcome | because |\n|---|---|---|---|\n", maxRows)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}
