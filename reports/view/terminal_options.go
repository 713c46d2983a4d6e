package view

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// ConsoleOptions say what a terminal can show.
type ConsoleOptions struct {
	// Color allows terminal colours.
	Color bool
	// Width is the number of columns of a line; 0 means DefaultWidth. Commands to
	// copy are never wrapped.
	Width int
}

// Widths, in columns.
const (
	DefaultWidth = 100 // if there is no terminal to ask
	MinWidth     = 60  // narrower terminals wrap by themselves
)

// Live reports whether f is a terminal with control sequences, which can redraw a
// line.
func Live(f *os.File, getenv func(string) string) bool {
	return term.IsTerminal(int(f.Fd())) && getenv("TERM") != "dumb"
}

// Detect returns the Color and Width for f. Color is set if f is a terminal and TERM is
// not dumb. FORCE_COLOR (not empty or 0) sets it anyway, and NO_COLOR (no-color.org)
// clears it. Width is that of the terminal, or COLUMNS.
func Detect(f *os.File, getenv func(string) string) ConsoleOptions {
	fd := int(f.Fd())
	terminal := term.IsTerminal(fd)
	o := ConsoleOptions{
		Color: getenv("NO_COLOR") == "" && (Live(f, getenv) || forced(getenv("FORCE_COLOR"))),
		Width: DefaultWidth,
	}
	if terminal {
		if width, _, err := term.GetSize(fd); err == nil && width > 0 {
			o.Width = width
		}
	} else if width, err := strconv.Atoi(getenv("COLUMNS")); err == nil && width > 0 {
		o.Width = width
	}
	return o
}

func forced(variable string) bool { return variable != "" && variable != "0" }
