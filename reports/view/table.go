package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	gotext "github.com/jedib0t/go-pretty/v6/text"

	"outreach.example/conformance/reports"

	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

const (
	gap  = 2 // spaces between two columns of a table
	rule = "─"

	// The catalogue's names are shorter. With any name the table fits MinWidth.
	widestOperation = 32
	widestGroup     = 24
)

// tableOf returns a table with its margin. Rows is the header and the rows, without the columns that are left out.
func tableOf(margin string, rows [][]string, style table.Options, align gotext.Align) string {
	w := table.NewWriter()
	w.SetStyle(table.Style{
		Box:     table.BoxStyle{MiddleHorizontal: rule, MiddleSeparator: rule, PaddingRight: strings.Repeat(" ", gap)},
		Format:  table.FormatOptions{Header: gotext.FormatDefault, Row: gotext.FormatDefault, Footer: gotext.FormatDefault},
		Options: style,
	})
	w.SuppressTrailingSpaces()
	var layout []table.ColumnConfig
	for i, row := range rows {
		cells := table.Row{}
		for _, cell := range row {
			cells = append(cells, cell)
		}
		switch {
		case i == 0:
			w.AppendHeader(cells)
		case style.SeparateFooter && i == len(rows)-1:
			w.AppendFooter(cells)
		default:
			w.AppendRow(cells)
		}
	}
	for i := range rows[0][1:] {
		layout = append(layout, table.ColumnConfig{Number: i + 2, Align: align, AlignHeader: align})
	}
	w.SetColumnConfigs(layout)
	var b strings.Builder
	for row := range strings.SplitSeq(w.Render(), "\n") {
		if strings.HasPrefix(row, rule) {
			row = strings.TrimSuffix(row, strings.Repeat(rule, gap)) // the padding of the last column
		}
		b.WriteString(keep + margin + row + "\n")
	}
	return b.String()
}

// widest returns the number of columns of a column of a table.
func widest(rows [][]string, column int) (most int) {
	for _, row := range rows {
		most = max(most, Width(row[column]))
	}
	return most
}

// outcomes returns a table with a row for each operation and a column for each group of
// requirements, or one for all of a digest. Groups that do not fit go into further tables below.
func (s *screen) outcomes(r reports.Results, digest bool) string {
	if digest {
		r.Checks = slices.Clone(r.Checks)
		for i := range r.Checks {
			r.Checks[i].Group = "checks"
		}
	}
	grid := gridOf(r)
	rows := [][]string{{s.paint.bold("operation")}}
	for _, op := range grid.Operations {
		rows = append(rows, []string{Cut(op, widestOperation)})
	}
	rows = append(rows, []string{s.paint.bold("all")})
	for _, group := range grid.Groups {
		var sum []reports.Check
		rows[0] = append(rows[0], s.paint.bold(Cut(group, widestGroup)))
		for i, op := range grid.Operations {
			checks := grid.Cells[[2]string{op, group}]
			sum = append(sum, checks...)
			rows[i+1] = append(rows[i+1], s.cell(reports.Count(checks), true))
		}
		n := reports.Count(sum)
		rows[len(rows)-1] = append(rows[len(rows)-1], s.cell(n, n.Assessed() == 0))
	}
	style := table.Options{SeparateHeader: true, SeparateFooter: len(grid.Operations) > 1}
	if !style.SeparateFooter {
		rows = rows[:2]
	}
	var tables []string
	for from := 1; from < len(rows[0]); {
		until, room := from, s.width-widest(rows, 0)
		for ; until < len(rows[0]) && (until == from || room >= gap+widest(rows, until)); until++ {
			room -= gap + widest(rows, until)
		}
		var band [][]string
		for _, row := range rows {
			band = append(band, append([]string{row[0]}, row[from:until]...))
		}
		tables = append(tables, tableOf("", band, style, gotext.AlignDefault))
		from = until
	}
	return strings.Join(tables, br+"\n")
}

// gridOf returns the outcomes of a run with all operations of the specification, so that unchecked
// ones are visible, unless the run was narrowed.
func gridOf(r reports.Results) summary.Grid {
	if narrowed(r.Run) {
		return summary.GridOf(r.Checks)
	}
	return summary.GridOf(r.Checks, spec.OperationIDs()...)
}

// narrowed reports whether filters or the target's profile leave checks out.
func narrowed(r reports.Run) bool { return r.Selection != "" || len(r.Operations) > 0 }

// outside returns the number of operations that a narrowed run left out.
func outside(r reports.Results) int { return max(0, len(spec.Operations())-len(gridOf(r).Operations)) }

// cell returns passed/assessed and, in full, the numbers of failures, expected failures, errors
// and checks that were not assessed.
func (s *screen) cell(n reports.Counts, full bool) string {
	var parts []string
	add := func(n int, paint func(string) string, text string) {
		if n > 0 {
			parts = append(parts, paint(text))
		}
	}
	ratio := fmt.Sprintf("%d/%d", n.Pass, n.Assessed())
	switch {
	case n.Fail > 0 && full:
		add(1, s.paint.alarm, fmt.Sprintf("%s ✗%d", ratio, n.Fail))
	case n.Fail > 0:
		add(1, s.paint.alarm, ratio)
	default:
		add(n.Assessed(), s.paint.green, ratio)
	}
	if full {
		add(n.Expected, s.paint.yellow, fmt.Sprintf("~%d", n.Expected))
		add(n.Error, s.paint.yellow, fmt.Sprintf("!%d", n.Error))
		add(n.NotAssessed, s.paint.dim, fmt.Sprintf("·%d", n.NotAssessed))
	}
	return strings.Join(parts, " ")
}

// phaseColumns are the columns of the table of phases, by the names of their templates. On a narrow page those
// with the highest spare are left out.
var phaseColumns = []struct {
	title string
	spare int
}{{"phase", 0}, {"asked/s", 1}, {"served/s", 4}, {"p50 ms", 0}, {"p95", 5}, {"p99", 0}, {"p99.9", 7}, {"max", 6}, {"ok", 3}, {"429", 2}, {"failed", 0}}

// phases returns a table of the phases.
func (s *screen) phases(all []load.Phase) (string, error) {
	rows, marked := [][]string{{}}, s.marked
	for _, c := range phaseColumns {
		rows[0] = append(rows[0], s.paint.dim(c.title))
	}
	for _, p := range all {
		cells, err := s.include("phase-row", p)
		if err != nil {
			return "", err
		}
		rows = append(rows, strings.Split(cells, "\t"))
	}
	columns := slices.Clone(phaseColumns)
	for {
		total := 2 - gap // the margin
		for i := range columns {
			total += widest(rows, i) + gap
		}
		spare := 0
		for i := range columns {
			if columns[i].spare > columns[spare].spare {
				spare = i
			}
		}
		if total <= s.width || columns[spare].spare == 0 {
			break
		}
		columns = slices.Delete(columns, spare, spare+1)
		for i, row := range rows {
			rows[i] = slices.Delete(row, spare, spare+1)
		}
	}
	s.marked = marked || slices.ContainsFunc(rows[1:], func(row []string) bool {
		return slices.ContainsFunc(row[1:], func(cell string) bool { return strings.ContainsAny(cell, "≥–") && cell != s.paint.dim("–") })
	})
	return tableOf("  ", rows, table.Options{}, gotext.AlignRight), nil
}
