package loadtest_test

import (
	"os/exec"
	"testing"
	"time"

	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// bound is a threshold, and whether the server meets it in truth.
type bound struct {
	text string
	met  bool
}

// boundCases are servers whose latencies are known, with bounds around them.
var boundCases = []struct {
	name, shape string
	lasts       time.Duration
	timeout     time.Duration // of the run; 0 is the usual one
	bounds      []bound
}{
	{"no response", "95%:2ms,5%:30s", 5 * time.Second, time.Second, []bound{
		{"p50<50ms", true}, {"p90<100ms", true}, {"p99<500ms", false}, {"p96<500ms", false}, {"max<800ms", false}}},
	{"mix", "98%:2ms,2%:250ms", 5 * time.Second, 0, []bound{
		{"p50<50ms", true}, {"p90<100ms", true}, {"p99<500ms", true}, {"p99<400ms", true},
		{"p99<150ms", false}, {"p99.5<200ms", false}, {"max<100ms", false}, {"p50<1ms", false}}},
	// A fifth of the requests wait, up to 2 s. One stall says nothing of quantiles below.
	{"stall", "stall=2s/10s", 10500 * time.Millisecond, 0, []bound{{"max<4s", true}, {"p99<500ms", false}, {"p99.9<1s", false}, {"max<1s", false}}},
	{"short stalls", "stall=200ms/1s", 10 * time.Second, 0, []bound{
		{"p50<100ms", true}, {"p99<500ms", true}, {"max<1s", true}, {"p90<30ms", false}, {"p99<100ms", false}, {"max<100ms", false}}},
}

// What TestVerdictsBesideABusyProgram asks for: no verdict is wrong, and at least this
// share is decided.
const leastDecided = 0.8

// burn is the role of the program that takes a core.
const burn = "burn"

// TestTruthOfVerdictsBesideABusyProgram compares the verdicts on thresholds with what is
// true, while another program takes a core.
func TestTruthOfVerdictsBesideABusyProgram(t *testing.T) {
	if !*full {
		t.Skip("it takes a minute and compares with a clock: make truth runs it")
	}
	const rounds = 3
	command := testbed.Again(t, burn)
	program := exec.Command(command[0], command[1:]...)
	stdin, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stdin.Close()
		_ = program.Wait()
	}()
	var right, wrong, open int
	for _, tc := range boundCases {
		for range rounds {
			server := within(t, tc.timeout, served(t, "", tc.shape))
			s := scenario.Scenario{Name: "truth", About: "A list whose latencies are known.", Kind: scenario.Steady,
				Mix: map[string]int{spec.ListLeadLists: 1}, Limits: []int{1}, Rate: 500, Duration: tc.lasts}
			config := loadtest.Config{Target: server, Scenarios: []scenario.Scenario{s}, ByName: true, Seed: 1, Calibrator: testbed.Again(t, nullServer)}
			truth := map[string]bool{}
			for _, b := range tc.bounds {
				parsed, err := threshold.Parse(b.text)
				if err != nil {
					t.Fatal(err)
				}
				config.Thresholds, truth[b.text] = append(config.Thresholds, parsed), b.met
			}
			o, err := loadtest.Run(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			result := o.Results.Scenarios[0]
			lag := o.Parts[0].Recordings[0].Lag.Value(0.99)
			t.Logf("%s: %s, send lag p99 %s, %q", tc.name, result.Verdict, lag, result.Notes)
			for _, held := range result.Thresholds {
				met, asked := truth[held.Text]
				switch {
				case !asked: // one of the scenario's own
				case held.Outcome == load.Inconclusive:
					open++
					t.Logf("%s: %s is inconclusive: %s", tc.name, held.Text, held.Why)
				case (held.Outcome == load.Met) == met:
					right++
				default:
					wrong++
					t.Errorf("%s: %s is %s: %s", tc.name, held.Text, held.Outcome, held.Why)
				}
			}
		}
	}
	all := right + wrong + open
	t.Logf("verdicts beside a busy program: %d right, %d wrong, %d inconclusive of %d", right, wrong, open, all)
	if float64(right+wrong) < leastDecided*float64(all) {
		t.Errorf("%d of %d verdicts are decided, want %.0f %%", right+wrong, all, 100*leastDecided)
	}
}
