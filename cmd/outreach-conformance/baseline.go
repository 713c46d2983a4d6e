package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/internal/inputfile"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
)

// differenceFile is the difference from the baseline in the output directory.
const differenceFile = "difference.json"

// readBaseline reads the file of --baseline. The run must not replace it: the next run
// would be compared with this one, however bad it was.
func (f runFlags) readBaseline() (*reports.Results, error) {
	if f.baseline == "" {
		return nil, nil
	}
	file := f.baseline
	before, err := os.Stat(file)
	if err == nil && before.IsDir() { // the output directory of an earlier run
		file = filepath.Join(file, resultsFile)
		before, err = os.Stat(file)
	}
	if err != nil && !inputfile.IsStdin(file) {
		return nil, fmt.Errorf("--baseline: %w (name the results.json of an earlier run)", err)
	}
	if written, err := os.Stat(filepath.Join(f.output, resultsFile)); err == nil && os.SameFile(before, written) {
		return nil, fmt.Errorf("--baseline %s: this run would replace it (copy it, or choose another --output)", file)
	}
	results, err := jsonfile.Run.Read(file)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	return &results, nil
}

// compared compares the results with the baseline. Results that are worse do not pass,
// and results that have nothing in common with the baseline are inconclusive. So are those
// that lack only what keys could not be made for.
func (f runFlags) compared(results *reports.Results) diff.Difference {
	part := diff.Runs(f.baseline, f.selected(*f.before), filepath.Join(f.output, resultsFile), *results)
	if len(part.LostCoverage) > 0 && len(part.NewlyFailing) == 0 && len(f.unminted) > 0 && results.Verdict == reports.Passed {
		results.Verdict, results.Reasons = reports.Inconclusive, slices.Concat(f.unminted[:1], results.Reasons)
	}
	judge.Compared(results, part.Regressions())
	if part.Outcome == diff.Inconclusive && results.Verdict == reports.Passed {
		results.Verdict, results.Reasons = reports.Inconclusive, slices.Concat(part.Reasons, results.Reasons)
	}
	part.New.Verdict = results.Verdict
	return diff.Join(thisTool(), part)
}

// selected returns the results without the checks that the filters of this run leave out:
// the user knows that they are not assessed. Those that the target profile leaves out
// stay, because a change to the profile must not open a gate.
func (f runFlags) selected(before reports.Results) reports.Results {
	pairs, _ := f.selection().Pairs() // run has reported an error
	chosen := map[spec.Pair]bool{}
	for _, p := range pairs {
		chosen[p] = true
	}
	before.Checks = slices.DeleteFunc(slices.Clone(before.Checks), func(c reports.Check) bool {
		p := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
		return spec.Has(p) && !chosen[p]
	})
	return before
}

// thisTool identifies this program.
func thisTool() reports.Tool {
	return reports.Tool{Name: reports.ToolName, Version: version(), Go: runtime.Version(), Commit: commit(debug.ReadBuildInfo())}
}

// writeDifference replaces the file with the JSON form of the difference.
func writeDifference(path string, d diff.Difference) error {
	body, err := diff.Encode(d)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, body)
}
