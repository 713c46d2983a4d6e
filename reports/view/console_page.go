package view

import (
	"fmt"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/console"
)

// page builds the text of a summary.
type page struct {
	strings.Builder
	paint  console.Paint
	width  int
	marked bool // a percentile is shown as an interval
	Options
}

func newPage(o Options) *page {
	p := &page{paint: console.Paint(o.Color), width: o.Width, Options: o}
	if p.width == 0 {
		p.width = console.DefaultWidth
	}
	p.width = max(p.width, console.MinWidth)
	return p
}

func (p *page) line(parts ...string) {
	p.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.WriteByte('\n')
}

// heading starts a section.
func (p *page) heading(title, rest string) {
	p.line()
	p.paragraph(0, p.paint.Bold(title)+"  "+p.paint.Dim(rest))
	p.line()
}

// entry writes a label and its text, wrapped beside the label. A label that is too long
// for its column gets a line of its own.
func (p *page) entry(indent, column int, label, content string) {
	margin := strings.Repeat(" ", indent)
	hanging := margin + strings.Repeat(" ", column)
	if console.Width(label) > column-2 {
		p.line(margin, p.paint.Dim(label))
		label = ""
	}
	first := margin + p.paint.Dim(label) + strings.Repeat(" ", column-console.Width(label))
	for i, l := range console.Wrap(content, p.width-len(hanging)) {
		if i == 0 {
			p.line(first, l)
		} else {
			p.line(hanging, l)
		}
	}
}

// paragraph writes wrapped, indented text.
func (p *page) paragraph(indent int, content string) {
	for _, l := range console.Wrap(content, p.width-indent) {
		p.line(strings.Repeat(" ", indent), l)
	}
}

// more says how many of something are not shown, and where they are.
func (p *page) more(n int, what string) string {
	said := fmt.Sprintf("… and %s more", printable.Number(n))
	if what != "" {
		said += " " + what
	}
	if p.ResultsPath != "" {
		said += " in " + printable.Text(p.ResultsPath)
	}
	return said
}

// plural returns n and the noun, in singular or plural.
func plural(n int, one, many string) string {
	return printable.Number(n) + " " + noun(n, one, many)
}

func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// list joins names with commas.
func list(names []string) string { return strings.Join(names, ", ") }
