package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
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
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w (name the results.json of an earlier run)", err)
	}
	if written, err := os.Stat(filepath.Join(f.output, resultsFile)); err == nil && os.SameFile(before, written) {
		return nil, fmt.Errorf("--baseline %s: this run would replace it (copy it, or choose another --output)", file)
	}
	results, err := reports.Read(file)
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	return &results, nil
}

// difference compares the results with the baseline.
func (f runFlags) difference(results reports.Results) diff.Difference {
	return diff.Join(thisTool(), diff.Runs(f.baseline, *f.before, filepath.Join(f.output, resultsFile), results))
}

// thisTool identifies this program.
func thisTool() reports.Tool {
	return reports.Tool{Name: reports.ToolName, Version: version(), Go: runtime.Version()}
}

// writeDifference replaces the file by the JSON form of the difference.
func writeDifference(path string, d diff.Difference) error {
	body, err := diff.Encode(d)
	if err != nil {
		return err
	}
	return atomicfile.Replace(path, func(temporary string) error { return os.WriteFile(temporary, body, 0o666) })
}
