package measure

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func durations(values ...time.Duration) Histogram {
	h := Histogram{buckets: newBuckets(wholeFigures)}
	for _, v := range values {
		h.add(v)
	}
	return h
}

func TestQuantileIsThatOfTheSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(Longest)), 1, 300).Draw(t, "values")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		h := durations()
		for _, v := range values {
			h.add(time.Duration(v))
		}
		slices.Sort(values)
		e := h.Quantile(p)

		rank := min(max(int(p*float64(len(values))+0.5), 1), len(values))
		want := float64(values[rank-1])
		if got := float64(e.Value); math.Abs(got-want) > max(want/1000, 1024) {
			t.Fatalf("p%g is %s, want %s", 100*p, e.Value, time.Duration(want))
		}
		if e.Low > e.Value || e.Value > e.High || e.High > h.Max() {
			t.Fatalf("%+v: the interval does not hold the value, or reaches beyond %s", e, h.Max())
		}
		first, last := time.Duration(values[0]), time.Duration(values[len(values)-1])
		if h.Min() > first || h.Min() < first-max(first/1000, 1024) || h.Max() < last || h.Max() > last+max(last/1000, 1024) {
			t.Fatalf("min %s and max %s are not those of the buckets", h.Min(), h.Max())
		}
	})
}

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		n         int64
		p, design float64
		low, high int64
	}{
		// Tables of distribution-free intervals for the median have these.
		{10, 0.5, 1, 2, 9},
		{20, 0.5, 1, 6, 15},
		{100, 0.5, 1, 40, 61},
		{5, 0.5, 1, 0, 6},       // 95 % cannot be reached with five
		{100, 0.99, 1, 97, 101}, // no upper bound
		{1000, 0.99, 1, 983, 997},
		{1000, 0.5, 10, 400, 610}, // as if there were 100
		{1000, 0.5, 1e9, 0, 2000}, // as if there were one
		{1000, 0, 1, 0, 1},
		{1000, 1, 1, 1000, 1001},
		{1e10, 0.5, 1, 4_999_902_002, 5_000_097_999}, // the normal law: 1.96 × 50,000
	} {
		low, high := ranks(c.n, c.p, c.design)
		if low != c.low || high != c.high {
			t.Errorf("p%g of %d, design effect %g: ranks %d to %d, want %d to %d", 100*c.p, c.n, c.design, low, high, c.low, c.high)
		}
	}
}

func TestFlags(t *testing.T) {
	mix := func(fast, slow int) Histogram {
		h := durations()
		for range fast {
			h.add(2 * time.Millisecond)
		}
		for range slow {
			h.add(250 * time.Millisecond)
		}
		return h
	}
	for _, c := range []struct {
		name string
		h    Histogram
		p    float64
		why  string // part of it; empty: not flagged
	}{
		{"p50 of a mix", mix(980, 20), 0.5, ""},
		{"p99 of a mix, on its plateau", mix(9800, 200), 0.99, ""},
		{"p98 of a mix, on the jump", mix(9800, 200), 0.98, "any value from 2 ms to 250.1 ms"},
		{"p98 of a mix, just above the jump", mix(9799, 201), 0.98, "any value from 2 ms to 250.1 ms"},
		{"p99 of a 99/1 mix, on the jump", mix(9900, 100), 0.99, "any value from 2 ms to 250.1 ms"},
		{"p99 of too few", mix(50, 0), 0.99, "no upper bound"},
		{"the maximum", mix(9800, 200), 1, "no upper bound"},
	} {
		e := c.h.Quantile(c.p)
		if (e.Why == "") != (c.why == "") || !strings.Contains(e.Why, c.why) {
			t.Errorf("%s: %q, want %q: %+v", c.name, e.Why, c.why, e)
		}
	}
	// The interval of p99 of a 99/1 mix must name both sides, not a value between.
	if e := mix(9900, 100).Quantile(0.99); e.Low > 2*time.Millisecond || e.High < 250*time.Millisecond {
		t.Errorf("interval %s to %s, want 2ms to 250ms", e.Low, e.High)
	}
}
