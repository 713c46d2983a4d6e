package measure

import (
	"testing"
	"time"
)

func TestShareBounds(t *testing.T) {
	for _, c := range []struct {
		count, of int64
		design    float64
		low, high float64
	}{
		// Clopper and Pearson's own figures, as tables give them.
		{0, 10, 1, 0, 0.3085},
		{5, 10, 1, 0.1871, 0.8129},
		{10, 10, 1, 0.6915, 1},
		{1, 1000, 1, 0.0000253, 0.005558},
		{9, 10, 1, 0.5550, 0.9975},
		{0, 100_000, 1, 0, 0.0000369},
		{50, 100, 10, 0.1871, 0.8129}, // ten of them are worth one
		{500_000_000, 1_000_000_000, 1, 0.499969, 0.500031},
	} {
		s := shareOf(block{hits: c.count, n: c.of}, c.design)
		near(t, "low", s.Low, c.low, 0.0001*max(c.low, 0.01))
		near(t, "high", s.High, c.high, 0.0002*max(c.high, 0.01))
	}
	if s := shareOf(block{}, 1); s.Of != 0 || s.Low != 0 || s.High != 1 {
		t.Errorf("the share of nothing is %+v, want anything from 0 to 1", s)
	}
}

// Errors in bursts carry less information than the same number of single ones.
func TestBurstsOfErrorsWidenTheInterval(t *testing.T) {
	const runs = 200
	rng := seeded(11)
	held, naive := 0, 0
	for range runs {
		bad := noise(rng, 100)
		samples := steady(100, 3000, func(int) time.Duration { return time.Millisecond })
		for i := range samples {
			if bad() > 1.2816 { // a tenth of the time
				samples[i].Status = 500
			}
		}
		s := record(Plan{}, samples).Share("", Failed)
		if s.Low <= 0.1 && 0.1 <= s.High {
			held++
		}
		if s.Alone.Low <= 0.1 && 0.1 <= s.Alone.High {
			naive++
		}
	}
	t.Logf("%d of %d intervals hold the truth, %d of the naive ones", held, runs, naive)
	if held < runs*88/100 {
		t.Errorf("%d of %d intervals hold the truth", held, runs)
	}
	if naive > runs/2 {
		t.Errorf("%d of %d naive intervals hold it: nothing is tested", naive, runs)
	}
}
