package scenario

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// serves simulates a target that meets every rate up to its capacity, and a
// generator that reaches every rate up to its ceiling.
func serves(capacity, ceiling float64) func(float64, bool) (tried, error) {
	return func(rate float64, _ bool) (tried, error) {
		return tried{met: rate <= capacity, ceiling: rate > ceiling}, nil
	}
}

func TestSearchFindsTheCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(2.5, 50_000).Draw(t, "capacity")
		start := rapid.Float64Range(1, 20_000).Draw(t, "start")
		f, err := search(start, 1e6, serves(capacity, 1e6))
		if err != nil || !f.confirmed || f.ceiling || f.most {
			t.Fatalf("%+v, %v", f, err)
		}
		if f.rate > capacity || f.above < capacity || f.above/f.rate > narrow {
			t.Fatalf("capacity %v: found %+v", capacity, f)
		}
	})
}

func TestSearchStopsAtTheGenerator(t *testing.T) {
	f, err := search(100, 1e6, serves(1e9, 3000))
	if err != nil || !f.confirmed || !f.ceiling || f.rate > 3000 || f.rate < 3000/narrow {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestSearchStopsAtTheHighestRateAllowed(t *testing.T) {
	f, err := search(100, 700, serves(1e9, 1e9))
	if err != nil || !f.confirmed || !f.most || f.rate != 700 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestSearchGivesUpOnATargetThatMeetsNothing(t *testing.T) {
	f, err := search(100, 700, serves(0, 1e9))
	if err != nil || f.confirmed || f.rate != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A rate that is met only briefly is not the sustained rate.
func TestSearchConfirms(t *testing.T) {
	long := 0
	f, err := search(100, 1e6, func(rate float64, confirm bool) (tried, error) {
		if confirm {
			long++
			return tried{met: rate <= 800}, nil
		}
		return tried{met: rate <= 1000}, nil
	})
	if err != nil || !f.confirmed || f.rate > 800 || f.rate < 640 || long < 2 {
		t.Errorf("%+v after %d confirmations, %v", f, long, err)
	}
}

func TestSearchEndsWithTheErrorOfAStep(t *testing.T) {
	broken := errors.New("broken")
	if _, err := search(100, 200, func(float64, bool) (tried, error) { return tried{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
