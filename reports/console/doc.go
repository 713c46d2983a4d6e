// Package console shows results to a person at a terminal or in a CI log: a
// summary when a run or a load run has ended, and its progress while it lasts.
//
// It writes to the writer that it is given and decides nothing: whether there
// is colour, how wide a line may be and what a failure is, others say. It
// imports the results models and the catalogue, and is the only home of the
// table writer.
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
	// Width is the number of columns of a line; 0 means DefaultWidth. Lines
	// that are meant to be copied are never wrapped.
	Width int
	// Verbose shows everything that the results hold instead of the first few.
	Verbose bool
	// Announced says where the expected failure of a check is announced, such as
	// a file; nil says nothing.
	Announced func(reports.Check) string
	// ResultsPath is where the whole results are; empty if nowhere.
	ResultsPath string
	// ReportPath is the page to open in a browser; empty if there is none.
	ReportPath string
	// ExitCode is the code with which the process ends, which need not be that of
	// the results: what could not be written or put back is not in them.
	ExitCode int
}

// Widths, in columns.
const (
	DefaultWidth = 100 // where no terminal says how wide it is
	MinWidth     = 60  // narrower terminals wrap by themselves
)

// Live reports whether f can show a line that changes: a terminal that knows
// control sequences.
func Live(f *os.File, getenv func(string) string) bool {
	return term.IsTerminal(int(f.Fd())) && getenv("TERM") != "dumb"
}

// Detect returns options that suit f: as wide as its terminal, and in colour if
// it is a terminal whose TERM is not dumb. FORCE_COLOR (not empty or 0) turns
// colour on anywhere, NO_COLOR (see no-color.org) turns it off.
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
