package view

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// wrap breaks s into lines of at most columns columns, between words if possible. It
// returns at least one line.
func wrap(s string, columns int) []string {
	return Flow(strings.Split(s, " "), " ", columns)
}

// Flow joins parts into lines of at most columns columns. It breaks a part only if it
// is wider than a line.
func Flow(parts []string, separator string, columns int) []string {
	var lines []string
	current, used := "", 0
	for _, part := range parts {
		if joined := used + Width(separator) + Width(part); used > 0 && joined <= columns {
			current, used = current+separator+part, joined
			continue
		}
		if used > 0 {
			lines = append(lines, current)
		}
		for Width(part) > columns && !strings.ContainsRune(part, '\x1b') { // escape sequences must not be broken
			head := fitting(part, columns)
			lines = append(lines, head)
			part = part[len(head):]
		}
		current, used = part, Width(part)
	}
	return append(lines, current)
}

// Cut shortens s to at most columns columns. S must have no escape sequences.
func Cut(s string, columns int) string {
	if Width(s) <= columns {
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

// Width returns the number of columns of s.
func Width(s string) int { return text.StringWidthWithoutEscSequences(s) }

// columnGap is the number of spaces between two parts of a line.
const columnGap = 2

// Paint colours text if it is true. It writes escape sequences itself, because the
// switch of package text is global to the process.
type Paint bool

func (p Paint) with(s string, colors ...text.Color) string {
	if !p || s == "" {
		return s
	}
	return text.Colors(colors).EscapeSeq() + s + text.Reset.EscapeSeq()
}

// The colours of a text by what it means.
func (p Paint) bold(s string) string      { return p.with(s, text.Bold) }
func (p Paint) dim(s string) string       { return p.with(s, text.Faint) }
func (p Paint) green(s string) string     { return p.with(s, text.FgGreen) }
func (p Paint) red(s string) string       { return p.with(s, text.FgRed) }
func (p Paint) yellow(s string) string    { return p.with(s, text.FgYellow) }
func (p Paint) alarm(s string) string     { return p.with(s, text.Bold, text.FgRed) }
func (p Paint) relief(s string) string    { return p.with(s, text.Bold, text.FgGreen) }
func (p Paint) uncertain(s string) string { return p.with(s, text.Bold, text.FgYellow) }

// Duration formats seconds, with fewer digits for longer times.
func Duration(seconds float64) string {
	switch {
	case seconds < 10:
		return fmt.Sprintf("%.2f s", seconds)
	case seconds < 120:
		return fmt.Sprintf("%.1f s", seconds)
	default:
		return fmt.Sprintf("%d min %02d s", int(seconds)/60, int(seconds)%60)
	}
}
