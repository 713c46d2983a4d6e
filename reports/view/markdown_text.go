package view

import (
	"fmt"
	"strings"

	"outreach.example/conformance/internal/printable"
)

// maxRunes bounds a value. The results have the whole.
const maxRunes = 500

// oneLine returns s as one printable line of at most maxRunes runes.
func oneLine(s string) string {
	text := []rune(printable.Text(s))
	if len(text) > maxRunes {
		return string(text[:maxRunes]) + "…"
	}
	return string(text)
}

// escaped returns s as one line of plain text in Markdown and HTML. Numeric character
// references never begin markup.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		if strings.ContainsRune("\\`*{}[]<>()#+!|&~@:$", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// markdownTable holds the rows of a table.
type markdownTable []string

// Add adds a row of plain texts.
func (t *markdownTable) add(cells ...string) {
	row := "|"
	for _, cell := range cells {
		row += " " + escaped(cell) + " |"
	}
	*t = append(*t, row+"\n")
}

// Write writes the first rows below the heading, at most so many; nothing without rows.
func (t markdownTable) write(b *strings.Builder, heading string, most int) {
	if len(t) == 0 {
		return
	}
	b.WriteString("\n" + heading + strings.Join(t[:min(len(t), most)], ""))
	if left := len(t) - most; left > 0 {
		fmt.Fprintf(b, "\n%d more rows are in the results.\n", left)
	}
}
