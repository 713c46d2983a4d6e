// Package junit writes results as JUnit XML, for CI systems. Ginkgo's writer writes the
// XML from a Ginkgo report. The report has a testcase for each pair of requirement and
// operation, and one named "run" for the verdict. The report of a load run has a
// testcase for each scenario, for each threshold in each phase, and "run".
//
// It imports the results models, the catalogue, and Ginkgo's report types and writer.
// It must not import the suites.
package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/reports"
)

// Write replaces the file at path by the JUnit form of r, atomically. It creates
// missing directories.
//
// The testcase "run" is a failure or an error unless the verdict is pass and a check
// passed. A CI system that reads only JUnit is then never green about nothing.
func Write(path string, r reports.Results) error {
	return write(path, Report(r))
}

func write(path string, report types.Report) error {
	err := atomicfile.Replace(path, func(temporary string) error {
		if err := reporters.GenerateJUnitReportWithConfig(report, temporary, config()); err != nil {
			return err
		}
		return complete(temporary, len(report.SpecReports))
	})
	if err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	return nil
}

// config omits repetitions: the timeline repeats the failure, and the properties have
// the labels.
func config() reporters.JunitReportConfig {
	const every = types.SpecStatePassed | types.SpecStateSkipped | types.SpecStateFailed |
		types.SpecStatePanicked | types.SpecStateInterrupted | types.SpecStateAborted
	return reporters.JunitReportConfig{
		OmitTimelinesForSpecState: every,
		OmitLeafNodeType:          true,
		OmitSpecLabels:            true,
	}
}

// complete reads the file back, because Ginkgo's writer ignores write errors.
func complete(path string, testcases int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var suites reporters.JUnitTestSuites
	if err := xml.NewDecoder(f).Decode(&suites); err != nil {
		return fmt.Errorf("the written file is incomplete: %w", err)
	}
	if suites.Tests != testcases || len(suites.TestSuites) != 1 || len(suites.TestSuites[0].TestCases) != testcases {
		return errors.New("the written file is incomplete: testcases are missing")
	}
	return nil
}

// Report returns the Ginkgo report for r.
func Report(r reports.Results) types.Report {
	began := r.Run.Started
	took := time.Duration(r.Run.Seconds * float64(time.Second))
	run := verdict(r)
	report := types.Report{
		SuiteDescription: reports.Printable(r.Tool.Name),
		SuitePath:        reports.Printable(r.Target.BaseURL),
		SuiteLabels:      labels(r),
		SuiteSucceeded:   run.State.Is(types.SpecStatePassed),
		StartTime:        began,
		EndTime:          began.Add(took),
		RunTime:          took,
		SuiteConfig:      types.SuiteConfig{RandomSeed: r.Run.Seed, RandomizeAllSpecs: true},
	}
	if r.Run.Interrupted {
		report.SpecialSuiteFailureReasons = []string{"interrupted"}
	}
	report.SpecReports = append(report.SpecReports, run)
	for _, c := range r.Checks {
		report.SpecReports = append(report.SpecReports, check(r, c))
	}
	return ran(report)
}

// ran marks all testcases as run once.
func ran(report types.Report) types.Report {
	for i := range report.SpecReports {
		report.SpecReports[i].LeafNodeType = types.NodeTypeIt
		report.SpecReports[i].NumAttempts = 1
	}
	return report
}

// labels returns the properties of the report: target, run and harness.
func labels(r reports.Results) []string {
	return named([]label{
		{"target", r.Target.Name},
		{"target version", r.Target.Version},
		{"vendor", r.Target.Vendor},
		{"kind", r.Target.Kind},
		{"profile", r.Run.Profile},
		{"selection", r.Run.Selection},
		{"run", r.Run.ID},
		{"harness", r.Tool.Version},
	})
}

// label is a property of a report. Without a value it is omitted.
type label struct{ name, value string }

func named(all []label) []string {
	var texts []string
	for _, l := range all {
		if l.value != "" {
			texts = append(texts, l.name+": "+reports.Printable(l.value))
		}
	}
	return texts
}
