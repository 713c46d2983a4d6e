package scenario

import (
	"testing"
	"time"

	"outreach.example/conformance/loadtest/measure"
)

// A held rate is achieved, whether or not its phase ends at a full second.
func TestKneePointOfARateThatWasHeld(t *testing.T) {
	for _, tc := range []struct {
		took     time.Duration // by each answer
		low, top float64
	}{
		{time.Millisecond, 99.9, 100},
		{500 * time.Millisecond, 74, 76}, // the last answer comes half a second after the schedule's end
		{2500 * time.Millisecond, 37, 38},
	} {
		const rate = 100
		plan := measure.Plan{Name: "100/s", Planned: 150, Rate: rate, Duration: 1500 * time.Millisecond}
		recorder := measure.NewRecorder(plan)
		for i := range plan.Planned {
			due := time.Duration(i) * time.Second / rate
			recorder.Add(measure.Sample{Seq: uint64(i), Label: "x", Due: due, Sent: due, Done: due + tc.took, Status: 200})
		}
		if got := kneePoint(recorder.Recording(), true, "").AchievedPerSecond; got < tc.low || got > tc.top {
			t.Errorf("answers after %s: %.2f/s achieved, want %v to %v", tc.took, got, tc.low, tc.top)
		}
	}
}
