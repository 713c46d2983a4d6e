package main

import (
	"errors"
	"io"
	"os"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/github"
	"outreach.example/conformance/reports/gitlab"
	"outreach.example/conformance/reports/junit"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/page/diffpage"
	"outreach.example/conformance/reports/page/loadpage"
	"outreach.example/conformance/reports/page/runpage"
	"outreach.example/conformance/reports/sarif"
)

// viewsOf returns the views of the results of a run. Options are those of the console.
func viewsOf(r reports.Results, options console.Options) views {
	all := casesIn(func() junit.List { return junit.Cases(r) })
	all[consoleFormat] = func(w io.Writer, code int) error { return console.Summary(w, r, on(w, options, code)) }
	all["json"] = encoded(func() ([]byte, error) { return reports.Encode(r) })
	all["html"] = encoded(func() ([]byte, error) { return runpage.Render(r) })
	all["markdown"] = func(w io.Writer, code int) error { return github.Summary(w, r, code) }
	all[githubFormat] = func(w io.Writer, code int) error { return github.Annotate(w, r, code) }
	all["gitlab"] = func(w io.Writer, _ int) error { return gitlab.Write(w, r) }
	all["sarif"] = func(w io.Writer, code int) error { return sarif.Write(w, r, code) }
	return all
}

// viewsOfLoad returns the views of the results of a load run.
func viewsOfLoad(r load.Results, options console.Options) views {
	all := casesIn(func() junit.List { return junit.LoadCases(r) })
	all[consoleFormat] = func(w io.Writer, code int) error { return console.LoadSummary(w, r, on(w, options, code)) }
	all["json"] = encoded(func() ([]byte, error) { return load.Encode(r) })
	all["html"] = encoded(func() ([]byte, error) { return loadpage.Render(r) })
	all["markdown"] = func(w io.Writer, code int) error { return github.SummaryLoad(w, r, code) }
	all[githubFormat] = func(w io.Writer, code int) error { return github.AnnotateLoad(w, r, code) }
	all["gitlab"] = func(w io.Writer, _ int) error { return gitlab.WriteLoad(w, r) }
	all["sarif"] = func(w io.Writer, code int) error { return sarif.WriteLoad(w, r, code) }
	return all
}

// viewsOfDifference returns the views of the difference between two runs.
func viewsOfDifference(d diff.Difference, options console.Options) views {
	return views{
		consoleFormat: func(w io.Writer, code int) error { return console.Difference(w, d, on(w, options, code)) },
		"json":        encoded(func() ([]byte, error) { return diff.Encode(d) }),
		"html":        encoded(func() ([]byte, error) { return diffpage.Render(d) }),
		"markdown":    func(w io.Writer, _ int) error { return github.SummaryDifference(w, d) },
		githubFormat:  func(w io.Writer, _ int) error { return github.AnnotateDifference(w, d) },
	}
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

// casesIn returns the views of the testcases of a run.
func casesIn(cases func() junit.List) views {
	return views{
		"junit": encoded(func() ([]byte, error) { return junit.Encode(cases()) }),
	}
}

// on returns the options for a console summary on w. Code is the exit code of the process.
func on(w io.Writer, options console.Options, code int) console.Options {
	if out, ok := terminalOf(w); ok {
		detected := console.Detect(out, os.Getenv)
		options.Color, options.Width = detected.Color, detected.Width
	}
	options.ExitCode = code
	return options
}

// encoded returns the view that writes what encode returns.
func encoded(encode func() ([]byte, error)) view {
	return func(w io.Writer, _ int) error {
		body, err := encode()
		if err != nil {
			return err
		}
		_, err = w.Write(body)
		return err
	}
}
