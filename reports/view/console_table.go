package view

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/spec"
)

const (
	gap  = 2 // spaces between two columns of a table
	rule = "─"

	// The catalogue's names are shorter. With any name the table fits MinWidth.
	widestOperation = 32
	widestGroup     = 24
)

// table shows a row per operation and a column per group of requirements. Groups that
// do not fit go into further tables below.
func (p *page) table(r reports.Results) {
	p.line()
	if len(r.Checks) == 0 {
		p.line(p.paint.Yellow("Nothing was checked."))
		return
	}
	g := newGrid(r)
	rows := make([]string, len(g.operations))
	first := console.Width("operation")
	for i, op := range g.operations {
		rows[i] = console.Cut(printable.Text(op), widestOperation)
		first = max(first, console.Width(rows[i]))
	}
	for i, band := range p.bands(g, first) {
		if i > 0 {
			p.line()
		}
		p.band(g, rows, band)
	}
	p.line()
	p.legend(r, g)
}

// grid holds the outcomes by operation and group.
type grid struct {
	operations, groups []string
	cells              map[[2]string]reports.Counts
}

// narrowed reports whether filters or the target's profile leave checks out.
func narrowed(r reports.Run) bool { return r.Selection != "" || len(r.Operations) > 0 }

// newGrid returns a grid with a row for each operation of the specification, so that
// unchecked ones are visible. The grid of a narrowed run has only checked operations.
func newGrid(r reports.Results) grid {
	g := grid{cells: map[[2]string]reports.Counts{}}
	operations, groups := map[string]bool{}, map[string]bool{}
	byCell := map[[2]string][]reports.Check{}
	for _, c := range r.Checks {
		operations[c.Operation], groups[c.Group] = true, true
		byCell[[2]string{c.Operation, c.Group}] = append(byCell[[2]string{c.Operation, c.Group}], c)
	}
	for at, checks := range byCell {
		g.cells[at] = reports.Count(checks)
	}
	var known []string
	for _, op := range spec.Operations() {
		known = append(known, op.ID)
		if !narrowed(r.Run) {
			operations[op.ID] = true
		}
	}
	var columns []string
	for _, group := range spec.Groups() {
		columns = append(columns, string(group))
	}
	g.operations, g.groups = inOrder(operations, known), inOrder(groups, columns)
	return g
}

func (g grid) total(group string) reports.Counts {
	var sum reports.Counts
	for _, op := range g.operations {
		n := g.cells[[2]string{op, group}]
		sum.Pass += n.Pass
		sum.Fail += n.Fail
		sum.NotAssessed += n.NotAssessed
		sum.Expected += n.Expected
		sum.Error += n.Error
	}
	return sum
}

// bands splits the groups into tables that fit the page.
func (p *page) bands(g grid, first int) [][]string {
	var bands [][]string
	room := 0
	for _, group := range g.groups {
		need := gap + p.columnWidth(g, group)
		if len(bands) == 0 || need > room {
			bands = append(bands, nil)
			room = p.width - first
		}
		room -= need
		bands[len(bands)-1] = append(bands[len(bands)-1], group)
	}
	return bands
}

// title returns the heading of a group's column.
func title(group string) string { return console.Cut(printable.Text(group), widestGroup) }

func (p *page) columnWidth(g grid, group string) int {
	widest := max(console.Width(title(group)), console.Width(p.sum(g.total(group))))
	for _, op := range g.operations {
		widest = max(widest, console.Width(p.cell(g.cells[[2]string{op, group}])))
	}
	return widest
}

func (p *page) band(g grid, rows, groups []string) {
	w := table.NewWriter()
	style := table.Style{
		Box:     table.BoxStyle{MiddleHorizontal: rule, MiddleSeparator: rule, PaddingRight: strings.Repeat(" ", gap)},
		Format:  table.FormatOptions{Header: text.FormatDefault, Row: text.FormatDefault, Footer: text.FormatDefault},
		Options: table.Options{SeparateHeader: true, SeparateFooter: true},
	}
	w.SetStyle(style)
	w.SuppressTrailingSpaces()

	header, footer := table.Row{p.paint.Bold("operation")}, table.Row{p.paint.Bold("all")}
	for _, group := range groups {
		header = append(header, p.paint.Bold(title(group)))
		footer = append(footer, p.sum(g.total(group)))
	}
	w.AppendHeader(header)
	for i, op := range g.operations {
		row := table.Row{rows[i]}
		for _, group := range groups {
			row = append(row, p.cell(g.cells[[2]string{op, group}]))
		}
		w.AppendRow(row)
	}
	if len(rows) > 1 {
		w.AppendFooter(footer)
	}
	for row := range strings.SplitSeq(w.Render(), "\n") {
		if strings.HasPrefix(row, rule) {
			row = strings.TrimSuffix(row, strings.Repeat(rule, gap)) // the padding of the last column
		}
		p.line(row)
	}
}

// sum returns passed/assessed of a whole group. The rows above it have the details.
func (p *page) sum(n reports.Counts) string {
	switch {
	case n.Assessed() == 0:
		return p.cell(n)
	case n.Fail > 0:
		return p.paint.Alarm(fmt.Sprintf("%d/%d", n.Pass, n.Assessed()))
	default:
		return p.paint.Green(fmt.Sprintf("%d/%d", n.Pass, n.Assessed()))
	}
}

// cell returns passed/assessed, then the numbers of failures, expected failures, errors
// and checks that were not assessed.
func (p *page) cell(n reports.Counts) string {
	var parts []string
	if n.Assessed() > 0 {
		ratio := fmt.Sprintf("%d/%d", n.Pass, n.Assessed())
		if n.Fail > 0 {
			parts = append(parts, p.paint.Alarm(fmt.Sprintf("%s ✗%d", ratio, n.Fail)))
		} else {
			parts = append(parts, p.paint.Green(ratio))
		}
	}
	if n.Expected > 0 {
		parts = append(parts, p.paint.Yellow(fmt.Sprintf("~%d", n.Expected)))
	}
	if n.Error > 0 {
		parts = append(parts, p.paint.Yellow(fmt.Sprintf("!%d", n.Error)))
	}
	if n.NotAssessed > 0 {
		parts = append(parts, p.paint.Dim(fmt.Sprintf("·%d", n.NotAssessed)))
	}
	return strings.Join(parts, " ")
}

// legend explains the signs in the table.
func (p *page) legend(r reports.Results, g grid) {
	n := reports.Count(r.Checks)
	signs := []string{"passed/assessed"}
	for _, s := range []struct {
		n    int
		what string
	}{{n.Fail, "✗ failed"}, {n.Expected, "~ failed as expected"}, {n.Error, "! error of the harness"}, {n.NotAssessed, "· not assessed"}} {
		if s.n > 0 {
			signs = append(signs, s.what)
		}
	}
	if left := len(spec.Operations()) - len(g.operations); narrowed(r.Run) && left > 0 {
		signs = append(signs, plural(left, "operation", "operations")+" outside the selection")
	}
	for _, l := range console.Flow(signs, "   ", p.width) {
		p.line(p.paint.Dim(l))
	}
}
