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
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/junit"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/load/openmetrics"
	"outreach.example/conformance/reports/load/page"
	"outreach.example/conformance/reports/outputdir"
)

// The files in the output directory of a load run.
const (
	loadFile      = "load.json"
	pageFile      = "load.html"
	loadJUnitFile = "load-junit.xml" // beside the junit.xml of a run in the same directory
	metricsFile   = "metrics.txt"
	hdrFile       = "latency.hlog"
	rawFile       = "results.bin"
	partFile      = "part.json"
)

// forgetLoad removes the results that an earlier load run left in the directory:
// a run that ends before it has measured must not leave an old pass. Files that
// no load run wrote stay.
func forgetLoad(dir string) error {
	return errors.Join(forgetFiles(dir, partFile), forgetMerged(dir)) // load.json last: it says whose the files are
}

// forgetMerged leaves the part of a shard, which the merge may be about to read.
func forgetMerged(dir string) error { return forgetFiles(dir, mergedFiles...) }

// mergedFiles are those that a merge writes, and every load run.
var mergedFiles = []string{pageFile, loadJUnitFile, metricsFile, hdrFile, rawFile, loadFile}

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

// reportLoad writes the files and the summary, and turns the verdict into the
// exit code; failed is what went wrong before. A run after which something goes
// wrong is no pass, in whatever can be written.
func (f loadFlags) reportLoad(o loadtest.Outcome, scenarios []scenario.Scenario, stdout io.Writer, failed error) error {
	o.Results = doubted(o.Results, failed)
	written := f.writeLoad(o, scenarios)
	if again := doubted(o.Results, written.failed); again.Verdict != o.Results.Verdict {
		o.Results = again
		written = f.writeLoad(o, scenarios)
	}
	return end(o.Results.ExitCode(), errors.Join(failed, written.failed), func(code int) error {
		if f.printPart {
			return loadtest.WritePart(stdout, o, scenarios, f.lagLimit)
		}
		options := console.Options{Verbose: f.verbose, ExitCode: code, ResultsPath: written.results, ReportPath: written.page}
		return summarise(stdout, o.Results, options)
	})
}

// doubted is a pass no more if something failed after the load.
func doubted(r load.Results, failed error) load.Results {
	if failed != nil && r.Verdict == reports.Passed {
		first, _, _ := strings.Cut(failed.Error(), "\n")
		r.Verdict = reports.Inconclusive
		r.Reasons = append(slices.Clone(r.Reasons), "after the load: "+strings.TrimSuffix(first, ":")+"; see standard error")
	}
	return r
}

// writtenLoad says which of the files that people are told of are there.
type writtenLoad struct {
	results, page string // empty if they could not be written
	failed        error
}

func (f loadFlags) writeLoad(o loadtest.Outcome, scenarios []scenario.Scenario) writtenLoad {
	path := func(name string) string { return filepath.Join(f.output, name) }
	inJSON, inPage := load.Write(path(loadFile), o.Results), page.Write(path(pageFile), o.Results)
	w := writtenLoad{failed: errors.Join(inJSON, inPage,
		junit.WriteLoad(path(loadJUnitFile), o.Results),
		openmetrics.Write(path(metricsFile), o.Results),
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

// toFile lets write fill the file, which is replaced once it is whole.
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

// rawResults is the file that takes each single result while the load is on; nil
// takes none.
type rawResults struct {
	file     *os.File
	buffered *bufio.Writer
}

func openRaw(dir string, wanted bool) (*rawResults, error) {
	if !wanted {
		return nil, nil
	}
	file, err := os.Create(filepath.Join(dir, rawFile))
	if err != nil {
		return nil, err
	}
	return &rawResults{file, bufio.NewWriterSize(file, 1<<20)}, nil
}

func (r *rawResults) writer() io.Writer {
	if r == nil {
		return nil
	}
	return r.buffered
}

func (r *rawResults) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.buffered.Flush(), r.file.Close())
}

// summarise writes the results for people.
func summarise(w io.Writer, r load.Results, options console.Options) error {
	if out, ok := w.(*os.File); ok {
		detected := console.Detect(out, os.Getenv)
		options.Color, options.Width = detected.Color, detected.Width
	}
	return console.LoadSummary(w, r, options)
}

// discard removes the file.
func (r *rawResults) discard() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.file.Close(), os.Remove(r.file.Name()))
}
