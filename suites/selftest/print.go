package selftest

import (
	"fmt"
	"io"

	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
)

// Print writes a table of the number of proven pairs by operation and group, and the first
// problems. The file has the others.
func (m Matrix) Print(w io.Writer, file string) error {
	type cell struct{ proven, all int }
	cells := map[string]map[spec.Group]cell{}
	for _, p := range m.Pairs {
		r, _ := spec.FindRequirement(p.Requirement)
		row := cells[p.Operation]
		if row == nil {
			row = map[spec.Group]cell{}
			cells[p.Operation] = row
		}
		c := row[r.Group]
		c.all++
		if len(p.Kills) > 0 {
			c.proven++
		}
		row[r.Group] = c
	}
	columns := []string{"operation"}
	for _, g := range spec.Groups() {
		columns = append(columns, string(g))
	}
	var rows [][]any
	for _, op := range spec.Operations() {
		if cells[op.ID] == nil {
			continue
		}
		row := []any{op.ID}
		for _, g := range spec.Groups() {
			text := ""
			if c := cells[op.ID][g]; c.all > 0 {
				text = fmt.Sprintf("%d/%d", c.proven, c.all)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	err := view.Table(w, columns, rows, 0)
	_, _ = fmt.Fprintln(w, "\nchecks that caught a defect / checks")
	problems := m.Problems()
	const shown = 40
	for _, p := range problems[:min(len(problems), shown)] {
		_, _ = fmt.Fprintf(w, "✗ %s\n", p)
	}
	if more := len(problems) - shown; more > 0 {
		_, _ = fmt.Fprintf(w, "  … and %d more in %s\n", more, file)
	}
	_, _ = fmt.Fprintf(w, "\n%s\n", m.Figures())
	if causes := m.causeFigures(); causes != "" {
		_, _ = fmt.Fprintln(w, causes)
	}
	return err
}
