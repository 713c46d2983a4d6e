package scenario_test

import (
	"testing"
	"time"

	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports/load"
)

// printedFirst are the percentiles that the first table of a load run always shows.
var printedFirst = []float64{0.5, 0.95, 0.99}

// leastBeyond is how many planned requests lie beyond such a percentile. Its interval then
// ends well before the slowest response.
const leastBeyond = 10

// The default scenarios plan enough requests for each percentile of their first table.
func TestDefaultPlansAreConclusive(t *testing.T) {
	for _, s := range scenario.Builtin() {
		each, planned := s.Schedule()
		if !planned {
			continue
		}
		phase := load.Phase{Planned: each.Planned()}
		for _, p := range printedFirst {
			if beyond := int64((1 - p) * float64(phase.Planned)); !phase.Supports(p) || beyond < leastBeyond {
				t.Errorf("%s: %d of the %d planned requests lie beyond p%v, want at least %d", s.Name, beyond, phase.Planned, 100*p, leastBeyond)
			}
		}
	}
}

// usualSteps and usualConfirmations are how many rates a search tries on the reference
// server: 8 to double the rate, and a few around the capacity.
const (
	usualSteps         = 11
	usualConfirmations = 2
	calibrating        = 2 * time.Second
)

func TestDefaultPlansTakeTwoMinutes(t *testing.T) {
	all := calibrating
	for _, s := range scenario.Builtin() {
		all += s.Lasts()
		if s.Kind == scenario.Sustained {
			all += (usualSteps-1)*s.Duration + (usualConfirmations-1)*s.Confirm
		}
	}
	if all > 2*time.Minute {
		t.Errorf("the default scenarios take %s, want at most 2 minutes", all)
	}
}
