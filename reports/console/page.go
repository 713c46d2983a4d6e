package console

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
)

// page builds the text of a summary.
type page struct {
	strings.Builder
	paint  paint
	width  int
	marked bool // a percentile is shown as an interval
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

// entry writes a label and its text, wrapped beside the label. A label that is too long
// for its column gets a line of its own.
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

// paragraph writes wrapped, indented text.
func (p *page) paragraph(indent int, content string) {
	for _, l := range wrap(content, p.width-indent) {
		p.line(strings.Repeat(" ", indent), l)
	}
}

// more says how many of something are not shown, and where they are.
func (p *page) more(n int, what string) string {
	said := fmt.Sprintf("… and %s more", number(n))
	if what != "" {
		said += " " + what
	}
	if p.ResultsPath != "" {
		said += " in " + reports.Printable(p.ResultsPath)
	}
	return said
}

// wrap breaks s into lines of at most columns columns, between words if possible. It
// returns at least one line.
func wrap(s string, columns int) []string {
	return flow(strings.Split(s, " "), " ", columns)
}

// flow joins parts into lines of at most columns columns. It breaks a part only if it
// is wider than a line.
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

// cut shortens s to at most columns columns. S must have no escape sequences.
func cut(s string, columns int) string {
	if width(s) <= columns {
		return s
	}
	return strings.TrimRight(fitting(s, columns-1), " ") + "…"
}

// fitting returns the longest prefix of s of at most columns columns, but at least one
// rune.
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

// painted reports whether s has an escape sequence, so that it must not be broken.
func painted(s string) bool { return strings.ContainsRune(s, '\x1b') }

func width(s string) int { return text.StringWidthWithoutEscSequences(s) }

// number formats n with a comma between thousands.
func number(n int) string { return printable.Number(n) }

// plural returns n and the noun, in singular or plural.
func plural(n int, one, many string) string {
	return number(n) + " " + noun(n, one, many)
}

func noun(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// list joins names with commas.
func list(names []string) string { return strings.Join(names, ", ") }

// printableAll returns the list with every string safe to print.
func printableAll(list []string) []string {
	shown := make([]string, len(list))
	for i, s := range list {
		shown[i] = reports.Printable(s)
	}
	return shown
}

// paint colours text if it is true. It writes escape sequences itself, because the
// switch of package text is global to the process.
type paint bool

func (p paint) with(s string, colors ...text.Color) string {
	if !p || s == "" {
		return s
	}
	return text.Colors(colors).EscapeSeq() + s + text.Reset.EscapeSeq()
}

func (p paint) bold(s string) string      { return p.with(s, text.Bold) }
func (p paint) dim(s string) string       { return p.with(s, text.Faint) }
func (p paint) green(s string) string     { return p.with(s, text.FgGreen) }
func (p paint) red(s string) string       { return p.with(s, text.FgRed) }
func (p paint) yellow(s string) string    { return p.with(s, text.FgYellow) }
func (p paint) alarm(s string) string     { return p.with(s, text.Bold, text.FgRed) }
func (p paint) relief(s string) string    { return p.with(s, text.Bold, text.FgGreen) }
func (p paint) uncertain(s string) string { return p.with(s, text.Bold, text.FgYellow) }
