package console

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/printable"
)

// page is the text of a summary while it grows.
type page struct {
	strings.Builder
	paint  paint
	width  int
	marked bool // a figure is shown that is not to be relied on
	Options
}

func newPage(o Options) *page {
	p := &page{paint: paint(o.Color), width: o.Width, Options: o}
	if p.width == 0 {
		p.width = DefaultWidth
	}
	p.width = max(p.width, MinWidth)
	return p
}

func (p *page) line(parts ...string) {
	p.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.WriteByte('\n')
}

// heading starts a section.
func (p *page) heading(title, rest string) {
	p.line()
	p.paragraph(0, p.paint.bold(title)+"  "+p.paint.dim(rest))
	p.line()
}

// entry shows a label and its text, which is wrapped beside the label. A label
// that is too long for its column stands on a line of its own.
func (p *page) entry(indent, column int, label, content string) {
	margin := strings.Repeat(" ", indent)
	hanging := margin + strings.Repeat(" ", column)
	if width(label) > column-2 {
		p.line(margin, p.paint.dim(label))
		label = ""
	}
	first := margin + p.paint.dim(label) + strings.Repeat(" ", column-width(label))
	for i, l := range wrap(content, p.width-len(hanging)) {
		if i == 0 {
			p.line(first, l)
		} else {
			p.line(hanging, l)
		}
	}
}

// paragraph shows text that is wrapped at the indent.
func (p *page) paragraph(indent int, content string) {
	for _, l := range wrap(content, p.width-indent) {
		p.line(strings.Repeat(" ", indent), l)
	}
}

// more says how many of something were left out, and where they are.
func (p *page) more(n int, what string) string {
	said := fmt.Sprintf("… and %s more", number(n))
	if what != "" {
		said += " " + what
	}
	if p.ResultsPath != "" {
		said += " in " + p.ResultsPath
	}
	return said
}

// wrap breaks s into lines of at most columns columns, between words where
// that is possible. It returns at least one line.
func wrap(s string, columns int) []string {
	return flow(strings.Split(s, " "), " ", columns)
}

// flow joins parts into lines of at most columns columns and breaks a part
// only when it is wider than a line.
func flow(parts []string, separator string, columns int) []string {
	var lines []string
	current, used := "", 0
	for _, part := range parts {
		if joined := used + width(separator) + width(part); used > 0 && joined <= columns {
			current, used = current+separator+part, joined
			continue
		}
		if used > 0 {
			lines = append(lines, current)
		}
		for width(part) > columns && !painted(part) {
			head := fitting(part, columns)
			lines = append(lines, head)
			part = part[len(head):]
		}
		current, used = part, width(part)
	}
	return append(lines, current)
}

// cut shortens s, which must not be painted, to at most columns columns.
func cut(s string, columns int) string {
	if width(s) <= columns {
		return s
	}
	return strings.TrimRight(fitting(s, columns-1), " ") + "…"
}

// fitting is the longest head of s of at most columns columns, but at least one rune.
func fitting(s string, columns int) string {
	used := 0
	for i, r := range s {
		used += text.RuneWidth(r)
		if used > columns && i > 0 {
			return s[:i]
		}
	}
	return s
}

// painted says that s must stay in one piece: it holds an escape sequence.
func painted(s string) bool { return strings.ContainsRune(s, '\x1b') }

func width(s string) int { return text.StringWidthWithoutEscSequences(s) }

// number writes n with a comma between thousands.
func number(n int) string { return printable.Number(n) }

// plural writes n with the noun, in the form that n asks for.
func plural(n int, one, many string) string {
	return number(n) + " " + noun(n, one, many)
}

func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// list writes names as an enumeration.
func list(names []string) string { return strings.Join(names, ", ") }

// printableAll makes every string of the list safe to print.
func printableAll(list []string) []string {
	shown := make([]string, len(list))
	for i, s := range list {
		shown[i] = reports.Printable(s)
	}
	return shown
}
