package console

import "github.com/jedib0t/go-pretty/v6/text"

// paint colours text, or leaves it as it is when false. It writes the escape
// sequences itself: the text package's own switch is global to the process.
type paint bool

func (p paint) with(s string, colors ...text.Color) string {
	if !p || s == "" {
		return s
	}
	return text.Colors(colors).EscapeSeq() + s + text.Reset.EscapeSeq()
}

func (p paint) bold(s string) string   { return p.with(s, text.Bold) }
func (p paint) dim(s string) string    { return p.with(s, text.Faint) }
func (p paint) green(s string) string  { return p.with(s, text.FgGreen) }
func (p paint) red(s string) string    { return p.with(s, text.FgRed) }
func (p paint) yellow(s string) string { return p.with(s, text.FgYellow) }
func (p paint) alarm(s string) string  { return p.with(s, text.Bold, text.FgRed) }
func (p paint) relief(s string) string { return p.with(s, text.Bold, text.FgGreen) }
func (p paint) doubt(s string) string  { return p.with(s, text.Bold, text.FgYellow) }
