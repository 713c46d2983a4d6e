package threshold

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAgainst(t *testing.T) {
	fig := func(value, low, high float64, open bool) Figure {
		return Figure{Value: value, Low: low, High: high, Open: open, Known: true}
	}
	for _, c := range []struct {
		name        string
		now, before Figure
		higher      bool
		want        Figure
	}{
		{"twice as slow", fig(20, 18, 22, false), fig(10, 9, 11, false), true, fig(1, 18.0/11-1, 22.0/9-1, false)},
		{"as before", fig(10, 10, 10, false), fig(10, 10, 10, false), true, fig(0, 0, 0, false)},
		{"no upper bound now", fig(20, 18, 22, true), fig(10, 9, 11, false), true, fig(1, 18.0/11-1, 22.0/9-1, true)},
		{"no upper bound before", fig(20, 18, 22, false), fig(10, 9, 11, true), true, fig(1, -1, 22.0/9-1, false)},
		{"no lower bound before", fig(20, 18, 22, false), fig(10, 0, 11, false), true, fig(1, 18.0/11-1, 1, true)},
		{"half the rate", fig(400, 400, 440, false), fig(800, 800, 880, false), false, fig(0.5, 1-440.0/800, 1-400.0/880, false)},
		{"the search ended now", fig(900, 900, 0, true), fig(800, 800, 880, false), false, fig(-0.125, -1, 1-900.0/880, false)},
		{"the search ended before", fig(400, 400, 440, false), fig(800, 800, 0, true), false, fig(0.5, 1-440.0/800, 1, false)},
		{"nothing now", Figure{}, fig(10, 9, 11, false), true, Figure{}},
		{"nothing before", fig(10, 9, 11, false), Figure{}, true, Figure{}},
		{"nought before", fig(10, 9, 11, false), fig(0, 0, 0, false), true, Figure{}},
	} {
		got := Against(c.now, c.before, c.higher)
		if got.Known != c.want.Known || got.Open != c.want.Open || math.Abs(got.Value-c.want.Value) > 1e-9 ||
			math.Abs(got.Low-c.want.Low) > 1e-9 || math.Abs(got.High-c.want.High) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Whatever the truth is within both intervals, the change lies within its own.
func TestAgainstHoldsAllThatBothAllow(t *testing.T) {
	draw := rapid.Float64Range(0.01, 100)
	rapid.Check(t, func(t *rapid.T) {
		figure := func(name string) (Figure, float64) {
			low, high := draw.Draw(t, name), draw.Draw(t, name)
			low, high = min(low, high), max(low, high)
			truth := rapid.Float64Range(low, high).Draw(t, name+" in truth")
			return Figure{Value: (low + high) / 2, Low: low, High: high, Known: true}, truth
		}
		now, n := figure("now")
		before, b := figure("before")
		higher := rapid.Bool().Draw(t, "higher is worse")
		truth := n/b - 1
		if !higher {
			truth = 1 - n/b
		}
		f := Against(now, before, higher)
		if truth < f.Low-1e-9 || truth > f.High+1e-9 {
			t.Fatalf("the change %g is not in %g to %g", truth, f.Low, f.High)
		}
	})
}

func TestMissing(t *testing.T) {
	var none *Baseline
	if got := none.Missing("mixed"); !strings.Contains(got, "vs baseline.json") {
		t.Error(got)
	}
	if got := (&Baseline{Name: "old.json"}).Missing("mixed"); !strings.Contains(got, "old.json holds nothing of the scenario mixed") {
		t.Error(got)
	}
}
