package loadtest

import (
	"testing"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/prepare"
)

// Walks and probes keep to the profile's rate for load, not to its pace for
// conformance runs.
func TestBareClientsGoNoFasterThanLoadMay(t *testing.T) {
	for name, tc := range map[string]struct {
		load *profile.LoadUse
		want float64 // requests per second
	}{
		"not bounded":    {nil, client.Unpaced},
		"budget alone":   {&profile.LoadUse{Budget: 5}, client.Unpaced},
		"by the profile": {&profile.LoadUse{MaxRate: 30}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			got := bareOptions(&profile.Profile{Load: tc.load}, 1, prepare.NewBudget(0), 40)
			if got.RequestsPerSecond != tc.want || got.Concurrency != 40 {
				t.Errorf("%v requests a second, %d at once; want %v and 40", got.RequestsPerSecond, got.Concurrency, tc.want)
			}
		})
	}
}
