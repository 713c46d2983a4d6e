package infer

import (
	"context"
	"outreach.example/conformance/reports/load"
	"testing"
	"time"
)

// TestAShutSlowLayerIsNotPassedOver: where the time is over while a slower layer
// is shut, the fast one is not told as if it were all that there is.
func TestAShutSlowLayerIsNotPassedOver(t *testing.T) {
	config := mustParse(t, "fixed-window:10/1s,sliding-log:100/30s")
	contradicted := 0
	for seed := range uint64(6) {
		w := newWorld(seed, config, time.Millisecond)
		r, err := Run(context.Background(), w.wire(Others()...), Options{MaxTime: 30 * time.Second, Sustain: 5 * time.Second, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if shut := longestShut(r.Probes); shut < 5 {
			continue // it has not come to light
		}
		contradicted++
		if len(r.Layers) == 1 && r.Layers[0].Kind.Value != "" {
			t.Errorf("seed %d: only a %s of %g is told, although nothing passed for %.3g s", seed, r.Layers[0].Kind.Value, r.Layers[0].Limit.Value, longestShut(r.Probes))
		}
	}
	if contradicted == 0 {
		t.Error("the slow layer was never met with: the test says nothing")
	}
}

// longestShut is the longest time, in seconds, from a request that passed to the
// last refusal before the next one.
func longestShut(picture []load.Probe) float64 {
	longest, passed := 0.0, 0.0
	for _, p := range picture {
		switch {
		case p.Subject != string(Main):
		case p.Verdict == "accepted":
			passed = p.ReceivedSeconds
		case p.Verdict == "limited":
			longest = max(longest, p.Seconds-passed)
		}
	}
	return longest
}
