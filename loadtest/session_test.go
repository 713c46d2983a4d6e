package loadtest

import (
	"testing"
	"time"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/target"
)

// What walks and probes keeps to the rate that the profile allows load, and not
// to the pace that it asks of a conformance run.
func TestBareClientsGoNoFasterThanLoadMay(t *testing.T) {
	for name, tc := range map[string]struct {
		load *fixtures.LoadUse
		want float64 // requests per second; 0 is no bound
	}{
		"not bounded":    {nil, 0},
		"budget alone":   {&fixtures.LoadUse{Budget: 5}, 0},
		"by the profile": {&fixtures.LoadUse{MaxRate: 30}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			at := &target.Target{BaseURL: "http://127.0.0.1:1", Profile: &fixtures.Profile{
				Load: tc.load, Pace: fixtures.Pace{RequestsPerSecond: 7, Concurrency: 2, Timeout: 3 * time.Second},
				Keys: []fixtures.Key{{Name: "main", Token: "a-token-of-main"}},
			}}
			got := bareOptions(at, 1, scenario.NewBudget(0), 40)
			if got.RequestsPerSecond != tc.want || got.Concurrency != 40 || got.Timeout != 3*time.Second || len(got.Keys) != 1 {
				t.Errorf("%v requests a second, %d at once, %s, %d keys; want %v, 40, 3s and 1", got.RequestsPerSecond, got.Concurrency, got.Timeout, len(got.Keys), tc.want)
			}
		})
	}
}
