package doctest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/view"
)

// loadRun is what a short load run on the reference server prints. How late this
// machine sends is not what it is to show.
func loadRun(t *testing.T) string {
	t.Helper()
	all := scenario.Builtin()
	mixed := all[slices.IndexFunc(all, func(s scenario.Scenario) bool { return s.Name == "mixed" })]
	mixed.Duration = 5 * time.Second
	config := loadtest.Config{Target: reference(t), Scenarios: []scenario.Scenario{mixed}, ByName: true,
		Selection: "--scenario mixed --duration 5s", Seed: sampleSeed, Version: "(devel)", Terms: verdict.Terms{LagLimit: time.Minute}}
	if !*update { // figures are not compared, and a calibration takes all processors
		config.Calibrate = func(context.Context, generate.CalibrationOptions) (measure.Calibration, error) {
			return measure.Calibration{Ceiling: 10_000, Rate: 5000, CPU: 100 * time.Microsecond}, nil
		}
	}
	outcome, err := loadtest.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	switch outcome.Results.Verdict {
	case reports.Passed:
	case reports.Inconclusive:
		return unshowable(t, "not a run to show: %v", outcome.Results.Reasons)
	default:
		t.Fatalf("not a run to show: %v", outcome.Results.Reasons)
	}
	outcome.Results.Scenarios[0].Notes = nil
	var summary bytes.Buffer
	if err := view.Formats["console"].Load(&summary, outcome.Results, view.Options{ReportPath: "load-results/load.html", ResultsPath: "load-results/load.json"}); err != nil {
		t.Fatal(err)
	}
	return fenced(strings.Split(strings.TrimSpace(summary.String()), "\n"))
}
