package measure

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// coverage is the share of simulated runs whose interval holds the true quantile.
// Times are lognormal around 10 ms at 50/s; a part of the logarithm's variance is
// common to requests near each other, within `fades` seconds.
func coverage(seed uint64, seconds int, p, common, fades float64) float64 {
	const rate, runs = 50, 100
	rng := seeded(seed)
	truth := time.Duration(10e6 * math.Exp(distuv.UnitNormal.Quantile(p)))
	held := 0
	for range runs {
		slow := noise(rng, fades*rate)
		e := record(Plan{}, steady(rate, rate*seconds, func(int) time.Duration {
			x := math.Sqrt(common)*slow() + math.Sqrt(1-common)*rng.NormFloat64()
			return time.Duration(10e6 * math.Exp(x))
		})).Response[Accepted].Quantile(p)
		if e.Low <= truth && (e.Open || truth <= e.High) {
			held++
		}
	}
	return float64(held) / runs
}

func TestIntervalsHoldTheTruth_long(t *testing.T) {
	for i, c := range []struct {
		seconds          int
		p, common, fades float64
		least            float64
	}{
		{10, 0.99, 0, 0, 0.95},
		{20, 0.9, 1, 1, 0.90},
		{20, 0.99, 0.3, 1, 0.90},
	} {
		got := coverage(uint64(i), c.seconds, c.p, c.common, c.fades)
		name := fmt.Sprintf("p%g of %d s, %g of the variance common within %g s", 100*c.p, c.seconds, c.common, c.fades)
		t.Logf("%s: %.3f", name, got)
		if got < c.least {
			t.Errorf("%s: %.3f of the intervals hold the truth, want %g", name, got, c.least)
		}
	}
}

// Without the design effect, the same intervals fail by far: the test above can fail.
func TestCorrelationMatters(t *testing.T) {
	const rate, runs = 100, 100
	rng := seeded(7)
	held := 0
	for range runs {
		slow := noise(rng, rate)
		h := record(Plan{}, steady(rate, rate*20, func(int) time.Duration {
			return time.Duration(10e6 * math.Exp(slow()))
		})).Response[Accepted]
		if e := h.Independent().Quantile(0.5); e.Low <= 10*time.Millisecond && 10*time.Millisecond <= e.High {
			held++
		}
	}
	if held > runs/2 {
		t.Errorf("%d of %d naive intervals hold the truth: the simulation is not correlated enough to test anything", held, runs)
	}
}

// A stall makes neighbours slow together: 200 slow requests of 6,000 say as
// little as one stall does.
func TestAStallIsOneEvent(t *testing.T) {
	h := record(Plan{}, steady(100, 6000, func(i int) time.Duration {
		if i >= 3000 && i < 3200 {
			return time.Duration(3200-i) * 10 * time.Millisecond
		}
		return 2 * time.Millisecond
	})).Response[Accepted]
	e := h.Quantile(0.98)
	if e.Design < 50 || e.Why == "" || e.Low > 3*time.Millisecond {
		t.Errorf("p98 within a single stall: %+v, want a large design effect and a flag", e)
	}
	if e := h.Quantile(0.5); e.Why != "" {
		t.Errorf("p50 is flagged although the stall is far from it: %+v", e)
	}
}

// Service times and labels borrow the correlation of their class; a label with a
// tenth of the samples is correlated less.
func TestBreakDownsBorrowTheDesign(t *testing.T) {
	rng := seeded(5)
	slow := noise(rng, 100)
	samples := steady(100, 6000, func(int) time.Duration { return time.Duration(10e6 * math.Exp(slow())) })
	for i := range samples {
		samples[i].Label = "common"
		if i%10 == 0 {
			samples[i].Label = "rare"
		}
	}
	rec := record(Plan{}, samples)
	whole := rec.Response[Accepted].Quantile(0.5).Design
	if got := rec.Service[Accepted].Quantile(0.5).Design; got != whole {
		t.Errorf("service: design effect %g, want that of the response times, %g", got, whole)
	}
	rare := rec.Labels["rare"][Accepted].Quantile(0.5).Design
	near(t, "the rare label's design effect", rare, whole/10, whole/20)
}

func TestDesignEffectOfBlocks(t *testing.T) {
	same := func(n int, b block) []block {
		out := make([]block, n)
		for i := range out {
			out[i] = b
		}
		return out
	}
	for _, c := range []struct {
		name      string
		blocks    []block
		low, high float64
	}{
		{"none", nil, 1, 1},
		{"too few", same(leastBlocks-1, block{100, 50}), 1, 1},
		{"no hits", same(20, block{100, 0}), 1, 1},
		{"only hits", same(20, block{100, 100}), 1, 1},
		{"perfectly even", same(20, block{100, 50}), 1, 1},
		// As uneven as chance has it, but from five blocks alone: Student's 2.776 over 1.960, squared.
		{"few blocks", []block{{100, 55}, {100, 45}, {100, 50}, {100, 55}, {100, 45}}, 2.006, 2.007},
		{"all or nothing, by blocks", append(same(10, block{100, 100}), same(10, block{100, 0})...), 100, 2000},
	} {
		if got := designEffect(c.blocks, 100*int64(len(c.blocks))); got < c.low || got > c.high {
			t.Errorf("%s: design effect %g, want %g to %g", c.name, got, c.low, c.high)
		}
	}
}
