package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports/load"
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

// A quantile that lies on a jump of the distribution, or of too few samples, is flagged. Its
// interval names both sides of the jump.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		fast, slow int // samples of 2 ms and 250 ms
		p          float64
		why        string // part of it; empty: not flagged
	}{
		{9800, 200, 0.99, ""},
		{9800, 200, 0.98, "any value from 2 ms to 250.1 ms"},
		{9900, 100, 0.99, "any value from 2 ms to 250.1 ms"},
		{50, 0, 0.99, "no upper bound"},
	} {
		h := durations(append(slices.Repeat([]time.Duration{2 * time.Millisecond}, c.fast), slices.Repeat([]time.Duration{250 * time.Millisecond}, c.slow)...)...)
		if e := h.Quantile(c.p); (e.Why == "") != (c.why == "") || !strings.Contains(e.Why, c.why) {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}

// A failed request improves no figure, of no breakdown. The figures of accepted requests
// are those of the same phase without the failed ones, or larger.
func TestNoFailureImprovesAFigure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, parts := phases(t)
		samples := slices.Concat(parts...)
		with := record(plan, samples)
		without := record(plan, slices.DeleteFunc(samples, func(s Sample) bool { return s.Class() == Failed }))
		compare := func(of string, with, without Histogram) {
			if without.Count() == 0 {
				return
			}
			last := time.Duration(0)
			for _, p := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
				got := with.Value(p)
				if got < without.Value(p) || got < last {
					t.Fatalf("%s p%g: %s after %s, without the failed requests %s", of, 100*p, got, last, without.Value(p))
				}
				last = got
				e := with.Quantile(p)
				if e.Value != got || e.Low > got || e.High < got || e.AtLeast != with.AtLeast(p) || e.AtLeast && !e.Open {
					t.Fatalf("%s p%g: %s: %+v", of, 100*p, got, e)
				}
			}
			if with.Mean() < without.Mean() || with.Max() < without.Max() {
				t.Fatalf("%s: mean %s and max %s, without the failed requests %s and %s", of, with.Mean(), with.Max(), without.Mean(), without.Max())
			}
		}
		compare("response", with.Response[Accepted], without.Response[Accepted])
		compare("service", with.Service[Accepted], without.Service[Accepted])
	})
}

// Requests that go out in another second are another load; a lag within the second is not.
func TestOtherLoad(t *testing.T) {
	for name, tc := range map[string]struct {
		lag  func(due time.Duration) time.Duration
		want float64
	}{
		"in time":        {func(time.Duration) time.Duration { return 0 }, 0},
		"always late":    {func(time.Duration) time.Duration { return 50 * time.Millisecond }, 0.005},
		"a second late":  {func(time.Duration) time.Duration { return time.Second }, 0.1},
		"a pause of 2 s": {func(due time.Duration) time.Duration { return (4*time.Second - due) * step(due) }, 0.2},
	} {
		r := newRecorder(Plan{Name: name, Rate: 100, Duration: 10 * time.Second})
		for i := range 1000 {
			due := time.Duration(i) * 10 * time.Millisecond
			r.Add(Sample{Seq: uint64(i), Label: "list", Due: due, Sent: due + tc.lag(due), Done: due + tc.lag(due), Status: 200})
		}
		rec := r.Recording()
		if said := rec.OtherLoad(); (said != "") != (tc.want > mostDisplaced) || said != "" && !(strings.HasPrefix(said, fmt.Sprintf("%.0f %% of the requests went out in another second than planned", 100*tc.want)) && strings.Contains(said, "a longer --warmup for a cold target")) {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// step is 1 from 2 s to 4 s.
func step(due time.Duration) time.Duration {
	if due >= 2*time.Second && due < 4*time.Second {
		return 1
	}
	return 0
}

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

// A trend is told from chance, from correlated disturbances and from single stalls.
func TestDriftsOfASoak(t *testing.T) {
	const rate, seconds = 50, 120
	rng := seeded(4)
	slow := noise(rng, rate)
	for name, tc := range map[string]struct {
		sample   func(i int, s *Sample)
		p50, p99 load.Trend
		failed   load.Trend
	}{
		"steady": {func(int, *Sample) {}, load.Steady, load.Steady, load.Steady},
		"slower": {func(i int, s *Sample) { s.Done += time.Duration(i) * 2 * time.Microsecond }, load.Drifts, load.Drifts, load.Steady},
		"the slowest get slower": {func(i int, s *Sample) {
			if i%20 == 0 {
				s.Done += 100*time.Millisecond + time.Duration(i)*20*time.Microsecond
			}
		}, load.Steady, load.Drifts, load.Steady},
		"a stall at the end": {func(i int, s *Sample) {
			if i >= 100*rate && i < 101*rate {
				s.Done += time.Second
			}
		}, load.Steady, load.TrendNotKnown, load.Steady},
		"disturbances": {func(_ int, s *Sample) { s.Done += time.Duration(2e6 * math.Exp(slow())) }, load.TrendNotKnown, load.TrendNotKnown, load.Steady},
		"fails more and more": {func(i int, s *Sample) {
			if rng.IntN(rate*seconds*5) < i {
				s.Status = 500
			}
		}, load.Steady, load.Steady, load.Drifts},
	} {
		samples := steady(rate, rate*seconds, func(int) time.Duration { return 20*time.Millisecond + time.Duration(rng.ExpFloat64()*1e5) })
		for i := range samples {
			tc.sample(i, &samples[i])
		}
		want := map[string]load.Trend{"response p50": tc.p50, "response p99": tc.p99, "failed": tc.failed, "limited": load.Steady}
		for _, trend := range record(Plan{Rate: rate, Duration: seconds * time.Second}, samples).Drifts() {
			if trend.Verdict != want[trend.Name] {
				t.Errorf("%s: %+v, want %s", name, trend, want[trend.Name])
			}
		}
	}
}
