package main

import (
	"errors"
	"os"
	"path/filepath"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/bundle"
	"outreach.example/conformance/suites/runner"
)

// evidenceFile is the recording of a run in the output directory.
const evidenceFile = bundle.EvidenceFile

// recorded runs with a recording of the exchanges, if the user wants one.
func (f runFlags) recorded(config runner.Config, run func(runner.Config) (reports.Results, error)) (results reports.Results, err error) {
	if !f.evidence {
		return run(config)
	}
	file, err := os.Create(filepath.Join(f.output, evidenceFile))
	if err != nil {
		return results, err
	}
	config.Evidence = evidence.NewRecorder(file, reports.ToolName, config.Version, profile.Shape)
	results, err = run(config)
	return results, errors.Join(err, file.Close())
}
