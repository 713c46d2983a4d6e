package runner

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A search finds the capacity of a target, or the rate that is met for long. What a target
// that fell behind kept up with shortens the search, though it is not exact.
func TestSearchFindsTheCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(50, 5000).Draw(t, "capacity")
		off := rapid.SampledFrom([]float64{0, 0.3, 0.97, 1, 1.03}).Draw(t, "rate served, as a share; 0 if unknown")
		holds := rapid.Float64Range(0.97, 1).Draw(t, "share of the capacity that is met for long")
		tries := 0
		f, err := search(100, 1e6, func(rate float64, confirm bool) (verdict.Tried, error) {
			tries++
			if rate <= capacity && (!confirm || rate <= holds*capacity) {
				return verdict.Tried{Met: true}, nil
			}
			return verdict.Tried{Served: capacity * off}, nil
		})
		if err != nil || !f.Confirmed || f.Ceiling || f.Most || f.Rate > holds*capacity || f.Rate < 0.9*holds*capacity {
			t.Fatalf("capacity %v: %+v, %v", capacity, f, err)
		}
		doublings := int(math.Ceil(math.Abs(math.Log2(capacity/100)))) + 1
		if off > 0.9 && tries > doublings+10 {
			t.Fatalf("capacity %v: %d tries (%d to get there)", capacity, tries, doublings)
		}
	})
}

// A search ends at the generator's ceiling, at the highest rate allowed, at a target that
// meets nothing, and with the error of a step.
func TestEndsOfASearch(t *testing.T) {
	broken := fmt.Errorf("broken")
	for name, tc := range map[string]struct {
		capacity, ceiling float64
		err               error
		want              verdict.Found
	}{
		"the highest rate":  {1e9, 1e9, nil, verdict.Found{Rate: 700, Confirmed: true, Most: true}},
		"the ceiling":       {1e9, 400, nil, verdict.Found{Rate: 400, Above: 700, Confirmed: true, Ceiling: true}},
		"nothing met":       {0, 1e9, nil, verdict.Found{Above: 1}},
		"an error":          {1e9, 1e9, broken, verdict.Found{}},
		"the first rate is": {150, 1e9, nil, verdict.Found{Rate: 150, Above: 156, Confirmed: true}},
	} {
		f, err := search(100, 700, func(rate float64, _ bool) (verdict.Tried, error) {
			return verdict.Tried{Met: rate <= tc.capacity, Ceiling: rate > tc.ceiling}, tc.err
		})
		near := func(got, want float64) bool {
			return got <= want*1.05 && got >= want/1.05/narrow || want > 600 && got <= want
		}
		if err != tc.err || f.Confirmed != tc.want.Confirmed || f.Ceiling != tc.want.Ceiling || f.Most != tc.want.Most || !near(f.Rate, tc.want.Rate) {
			t.Errorf("%s: %+v, %v; want %+v", name, f, err, tc.want)
		}
	}
}

// The search finds at least 95 % of what a server with one queue can serve, and never more
// than it can serve for long. The time is simulated, so the machine does not matter.
func TestSustainedRateOfKnownCapacities(t *testing.T) {
	for _, capacity := range []int{90, 378} {
		t.Run(fmt.Sprint(capacity), inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), world(t, shaped(t, fmt.Sprintf("capacity=%d/1s", capacity))), builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
				s.Mix, s.Limits, s.Thresholds = map[string]int{spec.ListLeadLists: 1}, []int{1}, append(s.Thresholds, "sustained>=50/s")
			}))
			share := o.Sustained.RatePerSecond / float64(capacity)
			if o.Verdict != reports.Passed || share < 0.95 || share > 1.02 || o.Seconds > (45*time.Second).Seconds() {
				t.Errorf("%s: %.1f of %d/s found in %.0f s: %q", o.Verdict, o.Sustained.RatePerSecond, capacity, o.Seconds, o.Reasons)
			}
		}))
	}
}
