// Package console shows results as text, for a terminal or a CI log: the progress and
// the summary of a run or a load run, and the catalogue of requirements.
//
// It judges nothing. Options decide about colour and width. It imports the results
// models and the catalogue, and is the only home of the table library.
package console

import (
	"os"
	"strconv"

	"golang.org/x/term"

	"outreach.example/conformance/reports"
)

// Options say how to show results.
type Options struct {
	// Color allows terminal colours.
	Color bool
	// Width is the number of columns of a line; 0 means DefaultWidth. Commands to
	// copy are never wrapped.
	Width int
	// Verbose shows all results instead of the first few.
	Verbose bool
	// Quiet shows only the failures, what may be left on the target, the reasons of a
	// verdict other than pass, and the last line. Of a load run it shows only the latter two.
	Quiet bool
	// ExpectedIn names the file with the expected failure of a check. Nil omits it.
	ExpectedIn func(reports.Check) string
	// ResultsPath is the file of results; empty if there is none.
	ResultsPath string
	// ReportPath is the HTML page; empty if there is none.
	ReportPath string
	// ExitCode is the exit code of the process. It differs from the results' code if
	// a file could not be written or a change could not be rolled back.
	ExitCode int
	// Failed is the verdict that a difference stands below, if that is why the exit code is
	// not 0.
	Failed string
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
func Detect(f *os.File, getenv func(string) string) Options {
	fd := int(f.Fd())
	terminal := term.IsTerminal(fd)
	o := Options{
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
