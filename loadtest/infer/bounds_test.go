package infer

import (
	"encoding/json"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// TestUnboundedSidesStayOpen checks that a side without a bound is omitted and
// reported as open, because the ends of the search range say nothing about the
// limiter.
func TestUnboundedSidesStayOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		fit                family.Fit
		window, rate       [2]float64
		windowWhy, rateWhy string
	}{
		"open on both sides": {family.Fit{Kind: family.Bucket, Limit: 20, Low: time.Microsecond, High: family.Unbounded},
			[2]float64{}, [2]float64{}, "no observation bounds it", "no observation bounds it"},
		"open above": {family.Fit{Kind: family.Aligned, Limit: 20, Low: 2 * time.Second, High: family.Unbounded},
			[2]float64{2, 0}, [2]float64{0, 10}, "no observation bounds it from above", "no observation bounds it from below"},
		"open below": {family.Fit{Kind: family.Sliding, Limit: 20, High: 4 * time.Second},
			[2]float64{0, 4}, [2]float64{5, 0}, "no observation bounds it from below", "no observation bounds it from above"},
		"wide": {family.Fit{Kind: family.Sliding, Limit: 20, Low: 2 * time.Second, High: 4 * time.Second},
			[2]float64{2, 4}, [2]float64{5, 10}, "the interval is too wide for an estimate", "the interval is too wide for an estimate"},
	} {
		t.Run(name, func(t *testing.T) {
			l := layerOf([]family.Fit{tc.fit})
			if l.Window.Known || l.Window.Low != tc.window[0] || l.Window.High != tc.window[1] || l.Window.Why != tc.windowWhy {
				t.Errorf("window %+v, want %v: %s", l.Window, tc.window, tc.windowWhy)
			}
			if l.Rate.Known || l.Rate.Low != tc.rate[0] || l.Rate.High != tc.rate[1] || l.Rate.Why != tc.rateWhy {
				t.Errorf("rate %+v, want %v: %s", l.Rate, tc.rate, tc.rateWhy)
			}
			if _, err := json.Marshal(l); err != nil {
				t.Error(err)
			}
		})
	}
}
