package main

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"outreach.example/conformance/internal/disk"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/publish"
	"outreach.example/conformance/reports/view"
)

// The files in the output directory of a load run.
const (
	loadFile      = load.FileName
	pageFile      = "load.html"
	loadJUnitFile = "load-junit.xml" // beside the junit.xml of a run in the same directory
	hdrFile       = "latency.hlog"
	metricsFile   = "metrics.txt"
	partFile      = "part.json"
)

// loadViews are the files that show results, with their formats. The first two hold the verdict.
var loadViews = [][2]string{{loadFile, "json"}, {loadJUnitFile, "junit"}, {pageFile, "html"}, {metricsFile, "openmetrics"}}

var (
	// mergedFiles are the files that a merge writes, like every load run.
	mergedFiles = []string{loadFile, pageFile, loadJUnitFile, metricsFile, hdrFile, loadtest.RawFile, loadtest.RawLinesFile, publish.SummaryFile}
	// loadFiles are also the part of a shard, which a merge may read.
	loadFiles = append(slices.Clone(mergedFiles), partFile)
)

// reportLoad writes the files and the summary, and returns an error with the exit code of the
// verdict. Failed is an error after the load. Such a run does not pass, in any file
// that can be written.
func (f *loadOptions) reportLoad(o loadtest.Outcome, failed error) error {
	o.Results = doubted(o.Results, failed)
	written, unwritten := f.writeLoad(o)
	if again := doubted(o.Results, unwritten); again.Verdict != o.Results.Verdict {
		o.Results = again
		written, unwritten = f.writeLoad(o)
	}
	all := publish.OfLoad.Views(o.Results, view.Options{Verbose: f.Verbose, ResultsPath: written[loadFile], ReportPath: written[pageFile]})
	if f.PrintPart {
		all[publish.Console] = func(w io.Writer, _ int) error { return loadtest.WritePart(w, o, f.Scenarios, f.Terms) }
	}
	return f.conclude(all, o.Results.ExitCode(), errors.Join(failed, unwritten))
}

// doubted returns the results, without a pass if something failed after the load.
func doubted(r load.Results, failed error) load.Results {
	if failed != nil && r.Verdict == reports.Passed {
		r.Verdict, r.Reasons = reports.Inconclusive, append(slices.Clone(r.Reasons), "after the load: "+inBrief(failed))
	}
	return r
}

// inBrief returns the first line of an error, as a reason of results.
func inBrief(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(first, ":") + "; see standard error"
}

// write writes files that show results. It returns the paths of those that could be written.
func (f *loadOptions) write(results load.Results, views [][2]string) (written map[string]string, failed error) {
	written = map[string]string{}
	for _, v := range views {
		path := filepath.Join(f.Output, v[0])
		if err := view.Formats[v[1]].Load.Write(path, results); err != nil {
			failed = errors.Join(failed, err)
		} else {
			written[v[0]] = path
		}
	}
	return written, failed
}

// writeLoad writes all files of a load run.
func (f *loadOptions) writeLoad(o loadtest.Outcome) (written map[string]string, failed error) {
	written, failed = f.write(o.Results, loadViews)
	failed = errors.Join(failed, disk.Stream(filepath.Join(f.Output, hdrFile), o.WriteHDRLog))
	if o.Results.Run.Shard != nil {
		failed = errors.Join(failed, disk.Stream(filepath.Join(f.Output, partFile), func(w io.Writer) error {
			return loadtest.WritePart(w, o, f.Scenarios, f.Terms)
		}))
	}
	return written, failed
}
