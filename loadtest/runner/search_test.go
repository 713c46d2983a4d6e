package runner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// serves simulates a target that meets every rate up to its capacity, and a
// generator that reaches every rate up to its ceiling.
func serves(capacity, ceiling float64) func(float64, bool) (verdict.Tried, error) {
	return func(rate float64, _ bool) (verdict.Tried, error) {
		return verdict.Tried{Met: rate <= capacity, Ceiling: rate > ceiling}, nil
	}
}

func TestSearchFindsTheCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(2.5, 50_000).Draw(t, "capacity")
		start := rapid.Float64Range(1, 20_000).Draw(t, "start")
		f, err := search(start, 1e6, serves(capacity, 1e6))
		if err != nil || !f.Confirmed || f.Ceiling || f.Most {
			t.Fatalf("%+v, %v", f, err)
		}
		if f.Rate > capacity || f.Above < capacity || f.Above/f.Rate > narrow {
			t.Fatalf("capacity %v: found %+v", capacity, f)
		}
	})
}

// What a target that fell behind kept up with shortens the search, though it is not exact.
func TestSearchUsesWhatTheTargetServed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(50, 5000).Draw(t, "capacity")
		off := rapid.Float64Range(0.97, 1.03).Draw(t, "off")
		holds := rapid.Float64Range(0.97, 1).Draw(t, "share of the capacity that is met for long")
		tries := 0
		f, err := search(100, 1e6, func(rate float64, confirm bool) (verdict.Tried, error) {
			tries++
			if rate <= capacity && (!confirm || rate <= holds*capacity) {
				return verdict.Tried{Met: true}, nil
			}
			return verdict.Tried{Served: capacity * off}, nil
		})
		doublings := int(math.Ceil(math.Abs(math.Log2(capacity/100)))) + 1
		if err != nil || !f.Confirmed || f.Rate > capacity || f.Rate < 0.95*holds*capacity || tries > doublings+10 {
			t.Fatalf("capacity %v: %+v after %d tries (%d to get there), %v", capacity, f, tries, doublings, err)
		}
	})
}

func TestSearchStopsAtTheGenerator(t *testing.T) {
	f, err := search(100, 1e6, serves(1e9, 3000))
	if err != nil || !f.Confirmed || !f.Ceiling || f.Rate > 3000 || f.Rate < 3000/narrow {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestSearchStopsAtTheHighestRateAllowed(t *testing.T) {
	f, err := search(100, 700, serves(1e9, 1e9))
	if err != nil || !f.Confirmed || !f.Most || f.Rate != 700 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestSearchGivesUpOnATargetThatMeetsNothing(t *testing.T) {
	f, err := search(100, 700, serves(0, 1e9))
	if err != nil || f.Confirmed || f.Rate != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A rate that is met only briefly is not the sustained rate.
func TestSearchConfirms(t *testing.T) {
	long := 0
	f, err := search(100, 1e6, func(rate float64, confirm bool) (verdict.Tried, error) {
		if confirm {
			long++
			return verdict.Tried{Met: rate <= 800}, nil
		}
		return verdict.Tried{Met: rate <= 1000}, nil
	})
	if err != nil || !f.Confirmed || f.Rate > 800 || f.Rate < 760 || long < 2 {
		t.Errorf("%+v after %d confirmations, %v", f, long, err)
	}
}

// The rate to confirm next is the next lower one that was met, whatever the target served at
// the rate that failed.
func TestSearchConfirmsTheNextLowerRateThatWasMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(50, 5000).Draw(t, "capacity")
		sustained := capacity * rapid.Float64Range(0.9, 1).Draw(t, "share of the capacity that is met for long")
		served := rapid.Float64Range(0.3, 0.98).Draw(t, "rate served, as a share")
		var met, failed []float64 // so far, and failed confirmations
		f, err := search(100, 1e6, func(rate float64, confirm bool) (verdict.Tried, error) {
			if confirm && len(failed) > 0 {
				for _, m := range met {
					if m > rate && m < slices.Min(failed) {
						t.Fatalf("confirming %v after %v failed, though %v was met", rate, failed, m)
					}
				}
			}
			if rate <= capacity && (!confirm || rate <= sustained) {
				met = append(met, rate)
				return verdict.Tried{Met: true}, nil
			}
			if confirm {
				failed = append(failed, rate)
			}
			return verdict.Tried{Served: rate * served}, nil
		})
		if err != nil || !f.Confirmed || f.Rate > sustained {
			t.Fatalf("capacity %v, sustained %v: %+v, %v", capacity, sustained, f, err)
		}
	})
}

// knownCapacities are capacities in requests per second of simulated servers.
var knownCapacities = []int{90, 150, 240, 378}

// The search finds at least 95 % of what a server with one queue can serve, and never more
// than it can serve for long. The time is simulated, so the machine does not matter.
func TestSustainedRateOfKnownCapacities_long(t *testing.T) {
	for _, capacity := range knownCapacities {
		t.Run(fmt.Sprint(capacity), inFakeTime(func(t *testing.T) {
			env := world(t, shaped(t, fmt.Sprintf("capacity=%d/1s", capacity)))
			o := Run(t.Context(), env, builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
				s.Mix, s.Limits = map[string]int{spec.ListLeadLists: 1}, []int{1}
			}))
			share := o.Sustained.RatePerSecond / float64(capacity)
			t.Logf("%.1f of %d/s in %.0f s, at %d rates", o.Sustained.RatePerSecond, capacity, o.Seconds, len(o.Sustained.Knee))
			if o.Verdict != reports.Passed || share < 0.95 || share > 1.02 || o.Seconds > mostSearch.Seconds() {
				t.Errorf("%s: %.1f of %d/s found in %.0f s: %q", o.Verdict, o.Sustained.RatePerSecond, capacity, o.Seconds, o.Reasons)
			}
		}))
	}
}

// mostSearch is how long a search on those servers may take.
const mostSearch = 45 * time.Second

func TestSearchEndsWithTheErrorOfAStep(t *testing.T) {
	broken := errors.New("broken")
	if _, err := search(100, 200, func(float64, bool) (verdict.Tried, error) { return verdict.Tried{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// Only the highest rate advises a duration. Each lower rate would need another one.
func TestASearchAdvisesOneDuration(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t)
		o := Run(t.Context(), env, builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
			s.Mix = map[string]int{spec.ListLeadLists: 1}
			s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup, s.Limits = 40, 40, 50*time.Millisecond, 100*time.Millisecond, 0, []int{1}
			s.Thresholds = []string{"errors<1%"}
		}))
		var advised, doubted []string
		for _, k := range o.Sustained.Knee {
			if _, duration, found := strings.Cut(k.Why, "--duration "); found {
				advised = append(advised, duration)
			}
			if strings.Contains(k.Why, "not enough data to decide errors<1%") {
				doubted = append(doubted, k.Why)
			}
		}
		// Which rate is the highest depends on the machine, and with it the duration.
		if len(doubted) < 2 || len(advised) != 1 || len(o.Reasons) != 1 || !strings.HasSuffix(o.Reasons[0], "(--duration "+advised[0]) {
			t.Errorf("%s: %q; %q", o.Verdict, o.Reasons, doubted)
		}
	})(t)
}
