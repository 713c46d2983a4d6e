package verdict_test

import (
	"os"
	"outreach.example/conformance/loadtest/schedule"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// recorded is a phase of a second, made up, whose answers took so long.
func recorded(name, label string, rate int, took time.Duration) measure.Recording {
	r := measure.NewRecorder(name, time.Unix(1e9, 0), schedule.Constant(float64(rate), time.Second))
	for i := range rate {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		r.Add(measure.Sample{Seq: uint64(i), Label: label, Due: due, Sent: due, Done: due + took, Status: 200})
	}
	return r.Recording()
}

// changes holds the phases against the results of an earlier run.
func changes(t *testing.T, earlier load.Results, phases ...measure.Recording) verdict.Outcome {
	t.Helper()
	bound, err := threshold.Parse("worse<10%")
	if err != nil {
		t.Fatal(err)
	}
	s := scenario.Scenario{Name: "lists", About: "It is made up.", Kind: scenario.Steady, Mix: map[string]int{spec.ListLeadLists: 1}, Rate: 1000, Duration: time.Second}
	share := verdict.Outcome{Recordings: phases, Traffic: load.Traffic{Statuses: map[string]int64{}}}
	return verdict.Join(s, []verdict.Outcome{share}, verdict.Terms{LagLimit: time.Hour,
		Thresholds: []threshold.Threshold{bound}, Baselines: map[string]*verdict.Baseline{"": {Name: "old.json", Results: earlier}}})
}

// A baseline must have the same plan and figures of the target. A reason names the
// phase and both figures.
func TestChangesSinceABaselineThatIsNoMeasure(t *testing.T) {
	const list = "lead-lists.list limit=10"
	before := recorded("limit=10", list, 1000, 10*time.Millisecond)
	earlier := func(change func(*load.Results)) load.Results {
		share := verdict.Outcome{Recordings: []measure.Recording{before}, Traffic: load.Traffic{Statuses: map[string]int64{}}}
		s := scenario.Scenario{Name: "lists", About: "It is made up.", Kind: scenario.Steady, Mix: map[string]int{spec.ListLeadLists: 1}, Rate: 1000, Duration: time.Second}
		r := load.Results{Scenarios: []load.Scenario{verdict.Join(s, []verdict.Outcome{share}, verdict.Terms{LagLimit: time.Hour}).Scenario}}
		r.Run.Selection = "--scenario lists"
		change(&r)
		return r
	}
	same := func(*load.Results) {}
	const again = "; run both with the same settings (the baseline's: --scenario lists)"
	for name, tc := range map[string]struct {
		earlier load.Results
		now     measure.Recording
		want    reports.Verdict
		says    string
	}{
		"as before": {earlier(same), before, reports.Passed, ""},
		"slower": {earlier(same), recorded("limit=10", list, 1000, 20*time.Millisecond), reports.Failed,
			"limit=10 p50: worse<10% missed: 20 ms, was 10 ms in old.json; the change is 100 % (99.84 to 100.2), not below 10 %; and 1 more: limit=10 p99 (20 ms, was 10 ms)"},
		"another rate": {earlier(same), recorded("limit=10", list, 500, 10*time.Millisecond), reports.Inconclusive,
			"old.json is not comparable: 1,000/s then, 500/s now" + again},
		"another page size": {earlier(same), recorded("limit=10", "lead-lists.list limit=11", 1000, 10*time.Millisecond), reports.Inconclusive,
			"old.json is not comparable: lead-lists.list limit=10 was requested then, not now" + again},
		"another phase": {earlier(same), recorded("limit=11", list, 1000, 10*time.Millisecond), reports.Inconclusive,
			"old.json is not comparable: it has no phase limit=11"},
		"another scenario": {earlier(func(r *load.Results) { r.Scenarios[0].Name = "others" }), before, reports.Inconclusive,
			"old.json has no comparable results for scenario lists"},
		"interrupted": {earlier(func(r *load.Results) { r.Run.Interrupted = true }), before, reports.Inconclusive,
			"old.json cannot be the baseline: its run was interrupted; use a complete"},
		"void": {earlier(func(r *load.Results) {
			r.Scenarios[0].Verdict, r.Scenarios[0].Reasons = reports.Inconclusive, []string{"rate not reached"}
		}), before, reports.Inconclusive,
			"old.json cannot be the baseline: lists is inconclusive (rate not reached); use a complete"},
	} {
		o := changes(t, tc.earlier, tc.now)
		if reasons := strings.Join(o.Reasons, "\n"); o.Verdict != tc.want || !strings.Contains(reasons, tc.says) || (tc.says == "") != (reasons == "") {
			t.Errorf("%s: %s: %s\nwant %s: %s", name, o.Verdict, reasons, tc.want, tc.says)
		}
	}
}

// A run must not replace the results that it is compared with, under any name.
func TestABaselineIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	results, other, link := filepath.Join(dir, "load.json"), filepath.Join(dir, "other.json"), filepath.Join(dir, "link.json")
	for _, file := range []string{results, other} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(results, link); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		results, own, named string
		refused             bool
	}{
		"none":                    {results, "", "", false},
		"another":                 {results, other, other, false},
		"the run's own":           {results, results, "", true},
		"a threshold's":           {results, other, results, true},
		"by another name":         {results, link, "", true},
		"its directory":           {results, dir, "", true},
		"a threshold's directory": {results, "", dir, true},
		"another directory":       {results, t.TempDir(), "", false},
		"not there yet":           {filepath.Join(dir, "new.json"), filepath.Join(dir, "new.json"), "", false},
	} {
		err := verdict.CheckOverwrite(tc.results, tc.own, []threshold.Threshold{{Baseline: tc.named}})
		if refused := err != nil; refused != tc.refused || refused && !strings.Contains(err.Error(), "this run would overwrite it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
