package preflight

import (
	"fmt"
	"io"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/view"
)

// Print writes the report for people: the keys if they are few or verbose is set, the rows,
// and a table of what a run would assess in each group.
func (r Report) Print(w io.Writer, verbose bool) error {
	const few, shown = 10, 4
	const others = 28 // width of the table without its last column
	findings := r.Keys
	if len(findings) > few && !verbose {
		findings = []Finding{{What: "keys", Says: fmt.Sprintf("%d tried (--verbose shows each)", len(r.Keys))}}
	}
	for _, list := range [][]Finding{findings, r.Data} {
		for _, f := range list {
			_, _ = fmt.Fprintf(w, "%-40s %s\n", printable.Text(f.What), printable.Text(f.Says))
		}
	}
	_, _ = fmt.Fprintln(w)
	var rows [][]any
	for _, c := range r.Coverage {
		var lines []string
		for i, m := range c.Missing {
			if i == shown && !verbose {
				lines = append(lines, fmt.Sprintf("and %d more (--verbose shows them)", len(c.Missing)-shown))
				break
			}
			lines = append(lines, fmt.Sprintf("%s (%d)", m.Input, m.Pairs))
		}
		rows = append(rows, []any{c.Group, c.Assessable, c.Pairs, strings.Join(lines, "\n")})
	}
	width := view.On(w).Width
	if width == 0 {
		width = view.DefaultWidth
	}
	return view.Table(w, []string{"group", "assessed", "of", "missing for the rest"}, rows, max(width, view.MinWidth)-others)
}
