package doctest

import (
	"bytes"
	"context"
	"fmt"
	"outreach.example/conformance/loadtest/schedule"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/view"
)

var needs = regexp.MustCompile("(?m)^\\| (`[^|]+) \\| ([\\d,]+) \\|$")

// TestRequestsThatDecide: what docs/load.md says of how many requests decide a
// threshold is true, and one request fewer does not.
func TestRequestsThatDecide(t *testing.T) {
	rows := needs.FindAllStringSubmatch(read(t, "docs/load.md"), -1)
	if len(rows) < 3 {
		t.Fatalf("docs/load.md has no table of requests that decide: %q", rows)
	}
	for _, row := range rows {
		n, err := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(row[1], ", ") {
			limit, err := threshold.Parse(strings.Trim(text, "`"))
			if err != nil {
				t.Fatal(err)
			}
			t.Run(limit.Text, func(t *testing.T) {
				if few := limit.Hold(limit.Of(flawless(n - 1))); few.Verdict != threshold.Inconclusive {
					t.Errorf("%d requests: %s: %s", n-1, few.Verdict, few.Sentence)
				}
				if enough := limit.Hold(limit.Of(flawless(n))); enough.Verdict != threshold.Met {
					t.Errorf("%d requests: %s: %s", n, enough.Verdict, enough.Sentence)
				}
			})
		}
	}
}

// TestPairsThatDecide: docs/load.md says how many pairs of blocks a comparison needs.
func TestPairsThatDecide(t *testing.T) {
	if words := fmt.Sprintf("At least %d pairs are needed", verdict.LeastPairs()); !strings.Contains(read(t, "docs/load.md"), words) {
		t.Errorf("docs/load.md does not say: %s", words)
	}
}

// flawless is a phase in which so many requests were answered at once and alike.
func flawless(requests int) measure.Recording {
	const apart = 5 * time.Millisecond
	r := measure.NewRecorder("flawless", time.Time{}, schedule.Constant(200, time.Duration(requests)*apart))
	for i := range requests {
		due := time.Duration(i) * apart
		r.Add(measure.Sample{Seq: uint64(i), Due: due, Sent: due, Done: due + time.Millisecond, Status: 200})
	}
	return r.Recording()
}

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
