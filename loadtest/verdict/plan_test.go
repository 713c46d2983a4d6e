package verdict

import (
	"math"
	"testing"

	"outreach.example/conformance/loadtest/threshold"
)

func TestAgainst(t *testing.T) {
	fig := func(value, low, high float64, open bool) threshold.Figure {
		return threshold.Figure{Value: value, Low: low, High: high, Open: open, Known: true}
	}
	for _, c := range []struct {
		name        string
		now, before threshold.Figure
		higher      bool
		want        threshold.Figure
	}{
		{"twice as slow", fig(20, 18, 22, false), fig(10, 9, 11, false), true, fig(1, 18.0/11-1, 22.0/9-1, false)},
		{"as before", fig(10, 10, 10, false), fig(10, 10, 10, false), true, fig(0, 0, 0, false)},
		{"no upper bound now", fig(20, 18, 22, true), fig(10, 9, 11, false), true, fig(1, 18.0/11-1, 1, true)},
		{"no upper bound before", fig(20, 18, 22, false), fig(10, 9, 11, true), true, fig(1, -1, 22.0/9-1, false)},
		{"no lower bound before", fig(20, 18, 22, false), fig(10, 0, 11, false), true, fig(1, 18.0/11-1, 1, true)},
		{"half the rate", fig(400, 400, 440, false), fig(800, 800, 880, false), false, fig(0.5, 1-440.0/800, 1-400.0/880, false)},
		{"the search ended now", fig(900, 900, 0, true), fig(800, 800, 880, false), false, fig(-0.125, -1, 1-900.0/880, false)},
		{"the search ended before", fig(400, 400, 440, false), fig(800, 800, 0, true), false, fig(0.5, 1-440.0/800, 1, false)},
		{"the search ended at the generator's ceiling before", fig(400, 400, 440, false), fig(800, 800, 850, true), false, fig(0.5, 1-440.0/800, 1, false)},
		{"nothing now", threshold.Figure{}, fig(10, 9, 11, false), true, threshold.Figure{}},
		{"nothing before", fig(10, 9, 11, false), threshold.Figure{}, true, threshold.Figure{}},
		{"nought before", fig(10, 9, 11, false), fig(0, 0, 0, false), true, threshold.Figure{}},
	} {
		got := against(c.now, c.before, c.higher)
		if got.Known != c.want.Known || got.Open != c.want.Open || math.Abs(got.Value-c.want.Value) > 1e-9 ||
			math.Abs(got.Low-c.want.Low) > 1e-9 || math.Abs(got.High-c.want.High) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func total(requests map[string]float64) (n float64) {
	for _, count := range requests {
		n += count
	}
	return n
}

// Two runs are comparable only if they sent the same requests, within the
// tolerance for a partial round of the mix.
func TestPlansDiffer(t *testing.T) {
	steady := func(rate float64, requests map[string]float64) plan {
		return plan{rate: rate, mean: rate, peak: rate, requests: requests, all: total(requests)}
	}
	bursts := func(mean, peak float64) plan {
		return plan{mean: mean, peak: peak, requests: map[string]float64{"list": 1000}, all: 1000}
	}
	small, large := map[string]float64{"list limit=10": 1000}, map[string]float64{"list limit=100": 1000}
	for _, c := range []struct {
		name         string
		now, earlier plan
		want         string
	}{
		{"the same", steady(100, small), steady(100, small), ""},
		{"another rate", steady(200, small), steady(100, small), "100/s then, 200/s now"},
		{"another page size", steady(100, large), steady(100, small), "list limit=10 was requested then, not now"},
		{"one thing more", steady(100, map[string]float64{"list": 900, "get": 100}), steady(100, map[string]float64{"list": 1000}), "get is requested now, but was not then"},
		{"another mix", steady(100, map[string]float64{"list": 500, "get": 500}), steady(100, map[string]float64{"list": 800, "get": 200}), "the mix differs in 30 % of the requests"},
		{"longer", steady(100, map[string]float64{"list": 5030, "get": 2970}), steady(100, map[string]float64{"list": 62, "get": 38}), ""},
		{"what is rare and by chance in one", steady(100, map[string]float64{"list": 997, "get": 3}), steady(100, map[string]float64{"list": 1000}), ""},
		{"the same burst, of another length", bursts(200, 500), bursts(201, 498), ""},
		{"a higher burst", bursts(200, 700), bursts(200, 500), "up to 500/s then, up to 700/s now"},
		{"a busier quiet", bursts(300, 500), bursts(200, 500), "200/s on average then, 300/s now"},
		{"a burst and one rate", bursts(200, 500), steady(100, small), "100/s then, several rates now"},
		{"more walkers", plan{clients: 16, requests: small, all: 1000}, plan{clients: 4, requests: small, all: 1000}, "4 clients then, 16 now"},
		{"walkers do what they come to", plan{clients: 4, requests: map[string]float64{"a": 900, "b": 100}, all: 1000}, plan{clients: 4, requests: map[string]float64{"a": 500, "b": 500}, all: 1000}, ""},
		{"walkers and a rate", plan{clients: 4, requests: small, all: 1000}, steady(100, small), "only one of the two is a closed loop"},
	} {
		if got := c.now.differs(c.earlier); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
