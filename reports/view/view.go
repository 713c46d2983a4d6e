// Package view shows results, and the catalogue of requirements. Each format is a function from
// a model to a writer, and one line of Formats. Texts (*.tmpl) and pages (*.html) are templates.
//
// A view adds nothing to the model and judges nothing. It gets a copy of the model whose texts are
// printable, so that no template must remember it. Progress shows a run while
// it is under way. The package imports the models and the catalogue. It is the only home of the
// libraries of its formats.
package view

import (
	"io"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/load"
)

// Options say how to show results. Most are for the console.
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
	// ExitCode is the exit code of the process. It differs from the results' code if a file
	// could not be written or a change could not be rolled back.
	ExitCode int
	// Failed is the verdict that a difference stands below, if that is why the exit code is
	// not 0.
	Failed string
}

// View shows results of one kind.
type View[T any] func(w io.Writer, results T, o Options) error

// Write replaces the file at path with the results, atomically. It creates missing
// directories. Options are for people at a terminal, so that a file needs none.
func (v View[T]) Write(path string, results T) error {
	return disk.Stream(path, func(w io.Writer) error { return v(w, results, Options{}) })
}

// Format shows results in one form. A kind of results that it does not show is nil.
type Format struct {
	Run        View[reports.Results]
	Load       View[load.Results]
	Difference View[diff.Difference]
}

// Formats are the formats by name.
var Formats = map[string]Format{
	"console":     {textView[reports.Results]("console-run"), textView[load.Results]("console-load"), textView[diff.Difference]("console-difference")},
	"json":        {encoded(jsonfile.Run.Encode), encoded(load.Encode), encoded(diff.Encode)},
	"junit":       {safe(junitOfRun), safe(junitOfLoad), nil},
	"html":        {page(pageOfRun), page(pageOfLoad), page(pageOfDifference)},
	"markdown":    {textView[reports.Results]("markdown-run"), textView[load.Results]("markdown-load"), textView[diff.Difference]("markdown-difference")},
	"github":      {textView[reports.Results]("github-run"), textView[load.Results]("github-load"), textView[diff.Difference]("github-difference")},
	"gitlab":      {safe(qualityOfRun), safe(qualityOfLoad), nil},
	"sarif":       {safe(sarifOfRun), safe(sarifOfLoad), nil},
	"openmetrics": {nil, safe(metricsOfLoad), nil},
}

// encoded returns the view that writes what encode returns.
func encoded[T any](encode func(T) ([]byte, error)) View[T] {
	return func(w io.Writer, results T, _ Options) error {
		body, err := encode(results)
		if err == nil {
			_, err = w.Write(body)
		}
		return err
	}
}
