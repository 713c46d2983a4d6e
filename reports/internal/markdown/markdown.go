// Package markdown writes texts of a target into Markdown, so that none of them is
// markup. It imports the results model only.
package markdown

import (
	"fmt"
	"strings"

	"outreach.example/conformance/reports"
)

// maxRunes bounds a value. The results have the whole.
const maxRunes = 500

// Short returns s as one printable line of at most maxRunes runes.
func Short(s string) string {
	text := []rune(reports.Printable(s))
	if len(text) > maxRunes {
		return string(text[:maxRunes]) + "…"
	}
	return string(text)
}

// Text returns s as one line of plain text in Markdown and HTML. Numeric character
// references never begin markup.
func Text(s string) string {
	var b strings.Builder
	for _, r := range Short(s) {
		if strings.ContainsRune("\\`*{}[]<>()#+!|&~@:$", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Table holds the rows of a table.
type Table []string

// Add adds a row of plain texts.
func (t *Table) Add(cells ...string) {
	row := "|"
	for _, cell := range cells {
		row += " " + Text(cell) + " |"
	}
	*t = append(*t, row+"\n")
}

// Write writes the first rows below the heading, at most so many; nothing without rows.
func (t Table) Write(b *strings.Builder, heading string, most int) {
	if len(t) == 0 {
		return
	}
	b.WriteString("\n" + heading + strings.Join(t[:min(len(t), most)], ""))
	if left := len(t) - most; left > 0 {
		fmt.Fprintf(b, "\n%d more rows are in the results.\n", left)
	}
}
