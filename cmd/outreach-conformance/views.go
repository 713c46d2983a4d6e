package main

import (
	"errors"
	"io"
	"os"
	"slices"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

func ofRun(f view.Format) view.View[reports.Results]        { return f.Run }
func ofLoad(f view.Format) view.View[load.Results]          { return f.Load }
func ofDifference(f view.Format) view.View[diff.Difference] { return f.Difference }

// formatNames returns the formats that show one kind of results, console first.
func formatNames[T any](kind func(view.Format) view.View[T]) []string {
	var others []string
	for name, f := range view.Formats {
		if kind(f) != nil && name != consoleFormat {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return append([]string{consoleFormat}, others...)
}

// viewsOf returns the views of results of one kind.
func viewsOf[T any](results T, kind func(view.Format) view.View[T], options view.Options) views {
	all := views{}
	for name, f := range view.Formats {
		if show := kind(f); show != nil {
			all[name] = func(w io.Writer, code int) error { return show(w, results, on(w, options, code)) }
		}
	}
	return all
}

// then returns the views with those formats followed by the other's, that both have and
// a person reads as one text. Annotations stay as they are: the verdict's has the reasons.
func (v views) then(other views) views {
	for _, name := range []string{consoleFormat, "markdown"} {
		first, second := v[name], other[name]
		v[name] = func(w io.Writer, code int) error { return errors.Join(first(w, code), second(w, code)) }
	}
	return v
}

// on returns the options for a view on w. Code is the exit code of the process.
func on(w io.Writer, options view.Options, code int) view.Options {
	if out, ok := terminalOf(w); ok {
		detected := console.Detect(out, os.Getenv)
		options.Color, options.Width = detected.Color, detected.Width
	}
	options.ExitCode = code
	return options
}
