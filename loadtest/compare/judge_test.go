package compare

import (
	"math"
	"strings"
	"testing"

	"outreach.example/conformance/reports/load"
)

func TestJudge(t *testing.T) {
	clear := figure("p99", "ms", pairsOf(12, func(i int) Pair { return Pair{10 + float64(i%3), 20 + float64(i%2)} })...)
	same := figure("p50", "ms", pairsOf(12, func(i int) Pair { return Pair{10 + float64(i%3), 10 + float64((i+1)%3)} })...)
	zeros := figure("errors", "%", pairsOf(12, func(int) Pair { return Pair{0, 0} })...)
	got := Judge(clear, same, zeros)

	if r := got[0]; r.Verdict != load.Worse || r.Name != "p99" || r.Unit != "ms" || *r.A != 11 || *r.B != 20.5 {
		t.Errorf("clear: %+v", r)
	}
	if r := got[0]; r.P > 1e-9 || math.Abs(r.Confidence-(1-Level/3)) > 1e-12 {
		t.Errorf("clear: %+v, want a small P, and an interval of the first step's level", r)
	}
	if r := got[0]; math.Abs(r.Difference.Value-9.5) > 1e-9 || r.Difference.Low <= 8 || r.Difference.High >= 11 || r.RatioLow <= 1.7 || r.RatioHigh >= 2.1 {
		t.Errorf("clear: difference %+v: %+v", r.Difference, r)
	}
	if r := got[1]; r.Verdict != load.NoDifference || r.RatioLow > 1 || r.RatioHigh < 1 || r.Confidence != 1-Level/2 {
		t.Errorf("same: %+v", r)
	}
	if r := got[2]; r.Verdict != load.NoDifference || r.Ratio != 0 || r.P != 1 || *r.Difference != (load.Estimate{}) {
		t.Errorf("zeros: %+v", r)
	}
}

// Holm's method ends at the first figure that is not rejected: those after it
// are not, though their own level is wider, and all have the interval of that one.
func TestOneDoubtEndsTheRejecting(t *testing.T) {
	pairs := pairsOf(10, func(i int) Pair { return Pair{10, 20 + float64(i)} })
	clear := figure("clear", "", pairs...)
	// The mean is 3.4 standard errors, which has a P of 0.79 % with 10 pairs.
	doubtful := figure("doubtful", "", pairsOf(10, func(i int) Pair { return Pair{10, 10 * math.Exp(1.133+[]float64{-1, 1}[i%2])} })...)
	for _, c := range []struct {
		figures  []Figure
		verdicts []load.Effect
		adjusted []float64
	}{
		{[]Figure{doubtful}, []load.Effect{load.Worse}, []float64{0.0079}},
		{[]Figure{doubtful, doubtful}, []load.Effect{load.NoDifference, load.NoDifference}, []float64{0.0158, 0.0158}},
		{[]Figure{doubtful, clear}, []load.Effect{load.Worse, load.Worse}, []float64{0.0079, 0}},
	} {
		for i, r := range Judge(c.figures...) {
			if r.Verdict != c.verdicts[i] || math.Abs(r.P-c.adjusted[i]) > 1e-4 {
				t.Errorf("%s of %d: %s, adjusted %g; want %s, %g", r.Name, len(c.figures), r.Verdict, r.P, c.verdicts[i], c.adjusted[i])
			}
			if holds := r.RatioLow <= 1 && 1 <= r.RatioHigh; holds != (r.Verdict == load.NoDifference) {
				t.Errorf("%s of %d: %s, and the ratio is %g to %g", r.Name, len(c.figures), r.Verdict, r.RatioLow, r.RatioHigh)
			}
		}
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
		r := Judge(c.figures...)[0]
		if r.Verdict != load.EffectNotKnown || !strings.Contains(r.Why, c.why) || r.P != 0 || r.Ratio != 0 {
			t.Errorf("%s: %+v, want %q", name, r, c.why)
		}
	}
	if len(Judge()) != 0 {
		t.Error("no figures give results")
	}
	// A figure that is inconclusive still counts among those that were requested.
	noisy := figure("", "", pairsOf(12, func(i int) Pair { return Pair{1, 1.1 + float64(i%3)} })...)
	if r, alone := Judge(noisy, broken)[0], Judge(noisy)[0]; r.P != 2*alone.P {
		t.Errorf("P %g, want %g doubled", r.P, alone.P)
	}
}

// The tested figure gives the direction of an effect. One slow block of A reverses
// the mean difference, but not the ratio.
func TestEffectsPointWhereTheTestDoes(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(i int) Pair
		want load.Effect
	}{
		"worse, with an outlier in A":  {func(i int) Pair { return []Pair{{10, 20}, {1000, 500}}[i/11] }, load.Worse},
		"better, with an outlier in B": {func(i int) Pair { return []Pair{{20, 10}, {500, 1000}}[i/11] }, load.Better},
		"worse, without a ratio":       {func(int) Pair { return Pair{0, 1} }, load.Worse},
		"better, without a ratio":      {func(int) Pair { return Pair{1, 0} }, load.Better},
	} {
		if got := Judge(figure("", "", pairsOf(12, c.of)...))[0].Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
