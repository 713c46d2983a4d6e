package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/reports/load"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 99)) }

func TestPlan(t *testing.T) {
	order, first := PlanOrder(1, 1000), 0
	for i := 0; i < len(order); i += 2 {
		if order[i]+order[i+1] != 'A'+'B' {
			t.Fatalf("pair %d is %c%c", i/2, order[i], order[i+1])
		}
		if order[i] == 'A' {
			first++
		}
	}
	if len(order) != 2000 || first < 450 || first > 550 || order != PlanOrder(1, 1000) || order == PlanOrder(2, 1000) {
		t.Errorf("%d blocks, A first in %d of 1000 pairs: want 2000, about half, and an order for each seed", len(order), first)
	}
}

// world gives the figures of one block after the other, as one target gives them
// whose mood lasts for several blocks, which warms up, and whose second block of a
// pair suffers from the first. What B is slower by, it is slower by in all figures.
type world struct {
	rng    *rand.Rand
	mood   float64
	slower float64
}

func (w *world) compare(order string, names ...string) []Figure {
	figures := make([]Figure, len(names))
	for i, name := range names {
		figures[i] = Figure{Name: name, Unit: "ms", A: make([]float64, len(order)/2), B: make([]float64, len(order)/2)}
	}
	for block, side := range order {
		w.mood = 0.8*w.mood + 0.6*w.rng.NormFloat64()
		level := 0.1*w.mood + 0.3*math.Exp(-float64(block)/5) + 0.05*float64(block%2)
		if side == 'B' {
			level += math.Log(1 + w.slower)
		}
		for i := range figures {
			value := 10 * math.Exp(level+0.05*w.rng.NormFloat64())
			if side == 'A' {
				figures[i].A[block/2] = value
			} else {
				figures[i].B[block/2] = value
			}
		}
	}
	return figures
}

func differs(r load.ComparedFigure) bool { return r.Verdict == load.Worse || r.Verdict == load.Better }

func alarms(results []load.ComparedFigure) bool { return slices.ContainsFunc(results, differs) }

// 40 comparisons of a target with itself, and that 50 times: at most 5 % of the
// 40 raise an alarm, but for a round or so.
func TestFalseAlarms(t *testing.T) {
	const comparisons, pairs = 40, 10
	const rounds = 50
	total, bad, seed := 0, 0, uint64(0)
	rng := seeded(2)
	for range rounds {
		raised := 0
		for range comparisons {
			seed++
			w := world{rng: rng}
			if alarms(judgePairs(w.compare(PlanOrder(seed, pairs), "p50", "p90", "p99")...)) {
				raised++
			}
		}
		total += raised
		if raised > comparisons*5/100 {
			bad++
		}
	}
	t.Logf("%d alarms in %d comparisons; more than 5 %% in %d of %d rounds", total, rounds*comparisons, bad, rounds)
	if total > rounds*comparisons*15/1000 || bad > 2 {
		t.Errorf("%d alarms in %d comparisons, more than 5 %% in %d of %d rounds", total, rounds*comparisons, bad, rounds)
	}
}

// Pair holds the values of both blocks of a pair.
type Pair struct{ A, B float64 }

func figure(name, unit string, pairs ...Pair) Figure {
	f := Figure{Name: name, Unit: unit}
	for _, p := range pairs {
		f.A, f.B = append(f.A, p.A), append(f.B, p.B)
	}
	return f
}

func pairsOf(n int, f func(i int) Pair) []Pair {
	out := make([]Pair, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func TestJudge(t *testing.T) {
	clear := figure("p99", "ms", pairsOf(12, func(i int) Pair { return Pair{10 + float64(i%3), 20 + float64(i%2)} })...)
	same := figure("p50", "ms", pairsOf(12, func(i int) Pair { return Pair{10 + float64(i%3), 10 + float64((i+1)%3)} })...)
	zeros := figure("errors", "%", pairsOf(12, func(int) Pair { return Pair{0, 0} })...)
	got := judgePairs(clear, same, zeros)

	if r := got[0]; r.Verdict != load.Worse || r.Name != "p99" || r.Unit != "ms" || *r.A != 11 || *r.B != 20.5 {
		t.Errorf("clear: %+v", r)
	}
	if r := got[0]; r.P > 1e-9 || math.Abs(r.Confidence-(1-ComparisonLevel/3)) > 1e-12 {
		t.Errorf("clear: %+v, want a small P, and an interval of the first step's level", r)
	}
	if r := got[0]; math.Abs(r.Difference.Value-9.5) > 1e-9 || r.Difference.Low <= 8 || r.Difference.High >= 11 || r.RatioLow <= 1.7 || r.RatioHigh >= 2.1 {
		t.Errorf("clear: difference %+v: %+v", r.Difference, r)
	}
	if r := got[1]; r.Verdict != load.NoDifference || r.RatioLow > 1 || r.RatioHigh < 1 || r.Confidence != 1-ComparisonLevel/2 {
		t.Errorf("same: %+v", r)
	}
	if r := got[2]; r.Verdict != load.NoDifference || r.Ratio != 0 || r.P != 1 || *r.Difference != (load.Estimate{}) {
		t.Errorf("zeros: %+v", r)
	}
}

func TestInconclusive(t *testing.T) {
	good := func(n int) Figure { return figure("", "", pairsOf(n, func(int) Pair { return Pair{1, 2} })...) }
	broken := good(12)
	broken.B[3] = math.NaN()
	for name, c := range map[string]struct {
		figures []Figure
		why     string
	}{
		"no pairs":          {[]Figure{{}}, "0 pairs are too few"},
		"too few pairs":     {[]Figure{good(7)}, "7 pairs are too few: at least 8 needed"},
		"too few for three": {[]Figure{good(9), good(9), good(9)}, "at least 10 needed"},
		"a block without":   {[]Figure{broken}, "pair 4 has no value"},
	} {
		r := judgePairs(c.figures...)[0]
		if r.Verdict != load.EffectNotKnown || !strings.Contains(r.Why, c.why) || r.P != 0 || r.Ratio != 0 {
			t.Errorf("%s: %+v, want %q", name, r, c.why)
		}
	}
	if len(judgePairs()) != 0 {
		t.Error("no figures give results")
	}
	// A figure that is inconclusive still counts among those that were requested.
	noisy := figure("", "", pairsOf(12, func(i int) Pair { return Pair{1, 1.1 + float64(i%3)} })...)
	if r, alone := judgePairs(noisy, broken)[0], judgePairs(noisy)[0]; r.P != 2*alone.P {
		t.Errorf("P %g, want %g doubled", r.P, alone.P)
	}
}
