package loadtest

import (
	"testing"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
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
			if got := bareRate(&profile.Profile{Load: tc.load}); got != tc.want {
				t.Errorf("%v requests a second; want %v", got, tc.want)
			}
		})
	}
}
