package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/outputdir"
	"outreach.example/conformance/reports/view"
)

// The files in the output directory of a load run.
const (
	loadFile      = load.FileName
	pageFile      = "load.html"
	loadJUnitFile = "load-junit.xml" // beside the junit.xml of a run in the same directory
	metricsFile   = "metrics.txt"
	hdrFile       = "latency.hlog"
	rawFile       = "results.bin"
	rawLinesFile  = "results.jsonl"
	partFile      = "part.json"
)

// forgetLoad removes the results of an earlier load run from the directory: a run
// that ends before it has measured must not leave an old pass. Files that no load run
// wrote stay.
func forgetLoad(dir string) error {
	return errors.Join(forgetFiles(dir, partFile), forgetMerged(dir)) // load.json last: it marks the directory as ours
}

// forgetMerged is forgetLoad without the part of a shard, which a merge may read.
func forgetMerged(dir string) error { return forgetFiles(dir, mergedFiles...) }

// mergedFiles are the files that a merge writes, like every load run.
var mergedFiles = []string{pageFile, loadJUnitFile, metricsFile, hdrFile, rawFile, rawLinesFile, loadFile}

func forgetFiles(dir string, names ...string) error {
	if !outputdir.IsResults(filepath.Join(dir, loadFile)) {
		return nil
	}
	var failed []error
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = append(failed, fmt.Errorf("remove the results of an earlier run: %w", err))
		}
	}
	return errors.Join(failed...)
}

// reportLoad writes the files and the summary, and returns the exit code of the
// verdict. failed is an error after the load. Such a run does not pass, in any file
// that can be written.
func (f loadFlags) reportLoad(o loadtest.Outcome, scenarios []scenario.Scenario, stdout io.Writer, failed error) error {
	o.Results = doubted(o.Results, failed)
	written := f.writeLoad(o, scenarios)
	if again := doubted(o.Results, written.failed); again.Verdict != o.Results.Verdict {
		o.Results = again
		written = f.writeLoad(o, scenarios)
	}
	failed = errors.Join(failed, written.failed)
	all := viewsOf(o.Results, ofLoad, view.Options{Verbose: f.verbose, ResultsPath: written.results, ReportPath: written.page})
	code := o.Results.ExitCode()
	failed = errors.Join(failed, f.formats.write(all, despite(failed, code)))
	if err := f.jobSummary(all, despite(failed, code)); err != nil {
		failed = errors.Join(failed, fmt.Errorf("write the job summary: %w", err))
	}
	return end(code, failed, func(code int) error {
		if f.printPart {
			return loadtest.WritePart(stdout, o, scenarios, f.lagLimit)
		}
		return f.formats.show(stdout, all, code)
	})
}

// doubted returns the results, without a pass if something failed after the load.
func doubted(r load.Results, failed error) load.Results {
	if failed != nil && r.Verdict == reports.Passed {
		first, _, _ := strings.Cut(failed.Error(), "\n")
		r.Verdict = reports.Inconclusive
		r.Reasons = append(slices.Clone(r.Reasons), "after the load: "+strings.TrimSuffix(first, ":")+"; see standard error")
	}
	return r
}

// writtenLoad holds the files that the summary names.
type writtenLoad struct {
	results, page string // empty if they could not be written
	failed        error
}

func (f loadFlags) writeLoad(o loadtest.Outcome, scenarios []scenario.Scenario) writtenLoad {
	path := func(name string) string { return filepath.Join(f.output, name) }
	inJSON, inPage := load.Write(path(loadFile), o.Results), view.Formats["html"].Load.Write(path(pageFile), o.Results)
	w := writtenLoad{failed: errors.Join(inJSON, inPage,
		view.Formats["junit"].Load.Write(path(loadJUnitFile), o.Results),
		view.Formats["openmetrics"].Load.Write(path(metricsFile), o.Results),
		toFile(path(hdrFile), func(to io.Writer) error { return writeHDR(to, o) }),
	)}
	if o.Results.Run.Shard != nil {
		part := func(to io.Writer) error { return loadtest.WritePart(to, o, scenarios, f.lagLimit) }
		w.failed = errors.Join(w.failed, toFile(path(partFile), part))
	}
	if inJSON == nil {
		w.results = path(loadFile)
	}
	if inPage == nil {
		w.page = path(pageFile)
	}
	return w
}

// writeHDR writes the histograms of all phases, one log after the other.
func writeHDR(w io.Writer, o loadtest.Outcome) error {
	for _, part := range o.Parts {
		for _, rec := range part.Recordings {
			if err := rec.WriteHDRLog(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// toFile replaces the file with what write writes, once it is complete.
func toFile(path string, write func(io.Writer) error) error {
	return atomicfile.Replace(path, func(temporary string) error {
		file, err := os.Create(temporary)
		if err != nil {
			return err
		}
		buffered := bufio.NewWriter(file)
		return errors.Join(write(buffered), buffered.Flush(), file.Close())
	})
}
