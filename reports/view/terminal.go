package view

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Widths, in columns.
const (
	DefaultWidth = 100 // if there is no terminal to ask
	MinWidth     = 60  // narrower terminals wrap by themselves
)

// FileOf returns the file behind a writer, which may redact; nil if there is none.
func FileOf(w io.Writer) *os.File {
	if gate, ok := w.(interface{ Unwrap() io.Writer }); ok {
		w = gate.Unwrap()
	}
	file, _ := w.(*os.File)
	return file
}

// On returns how to show something on the writer: Color, Width and Live. A terminal can redraw a line
// unless TERM is dumb, and has colours then. FORCE_COLOR (not empty or 0) sets Color anyway, and
// NO_COLOR (no-color.org) clears it. Width is that of the terminal, or COLUMNS.
func On(w io.Writer) (o ProgressOptions) {
	file := FileOf(w)
	if file == nil {
		return o
	}
	fd, forced := int(file.Fd()), os.Getenv("FORCE_COLOR")
	terminal := term.IsTerminal(fd)
	o.Live = terminal && os.Getenv("TERM") != "dumb"
	o.Color = os.Getenv("NO_COLOR") == "" && (o.Live || forced != "" && forced != "0")
	o.Width = DefaultWidth
	if terminal {
		if width, _, err := term.GetSize(fd); err == nil && width > 0 {
			o.Width = width
		}
	} else if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		o.Width = width
	}
	return o
}
