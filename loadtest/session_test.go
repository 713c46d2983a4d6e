package loadtest

import (
	"testing"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/loadtest/scenario"
)

// What walks and probes keeps to the rate that the profile allows load, and not
// to the pace that it asks of a conformance run.
func TestBareClientsGoNoFasterThanLoadMay(t *testing.T) {
	for name, tc := range map[string]struct {
		load *profile.LoadUse
		want float64 // requests per second; 0 is no bound
	}{
		"not bounded":    {nil, 0},
		"budget alone":   {&profile.LoadUse{Budget: 5}, 0},
		"by the profile": {&profile.LoadUse{MaxRate: 30}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			at := &target.Target{BaseURL: "http://127.0.0.1:1", Profile: &profile.Profile{
				Load: tc.load, Pace: profile.Pace{RequestsPerSecond: 7, Concurrency: 2, Timeout: 3 * time.Second},
				Keys: []profile.Key{{Name: "main", Token: "a-token-of-main"}},
			}}
			got := bareOptions(at, 1, scenario.NewBudget(0), 40)
			if got.RequestsPerSecond != tc.want || got.Concurrency != 40 || got.Timeout != 3*time.Second || len(got.Keys) != 1 {
				t.Errorf("%v requests a second, %d at once, %s, %d keys; want %v, 40, 3s and 1", got.RequestsPerSecond, got.Concurrency, got.Timeout, len(got.Keys), tc.want)
			}
		})
	}
}
