package compare

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestJudge(t *testing.T) {
	clear := Figure{Name: "p99", Unit: "ms", Pairs: pairsOf(12, func(i int) Pair { return Pair{10 + float64(i%3), 20 + float64(i%2)} })}
	same := Figure{Name: "p50", Unit: "ms", Pairs: pairsOf(12, func(i int) Pair { return Pair{10 + float64(i%3), 10 + float64((i+1)%3)} })}
	zeros := Figure{Name: "errors", Unit: "%", Pairs: pairsOf(12, func(int) Pair { return Pair{0, 0} })}
	got := Judge(1, clear, same, zeros)

	if r := got[0]; r.Verdict != Different || r.Name != "p99" || r.Unit != "ms" || r.Pairs != 12 || r.A != 11 || r.B != 20.5 {
		t.Errorf("clear: %+v", r)
	}
	if r := got[0]; math.Abs(r.P-2.0/4096) > 1e-12 || math.Abs(r.Adjusted-6.0/4096) > 1e-12 || math.Abs(r.Confidence-(1-Level/3)) > 1e-12 {
		t.Errorf("clear: %+v, want P 2/4096, thrice that adjusted, and an interval of the first step's level", r)
	}
	if r := got[0]; math.Abs(r.Difference.Value-9.5) > 1e-9 || r.Difference.Low <= 8 || r.Difference.High >= 11 || r.Ratio.Low <= 1.7 || r.Ratio.High >= 2.1 {
		t.Errorf("clear: difference %+v, ratio %+v", r.Difference, *r.Ratio)
	}
	if r := got[1]; r.Verdict != NotShown || r.Ratio.Low > 1 || r.Ratio.High < 1 || r.Confidence != 1-Level/2 {
		t.Errorf("same: %+v %+v", r, r.Ratio)
	}
	if r := got[2]; r.Verdict != NotShown || r.Ratio != nil || r.P != 1 || r.Difference != (Effect{}) {
		t.Errorf("zeros: %+v", r)
	}
}

// Holm's method ends at the first figure that is not rejected: those after it
// are not, though their own level is wider, and all have the interval of that one.
func TestOneDoubtEndsTheRejecting(t *testing.T) {
	clear := Figure{Name: "clear"}
	for i := range 10 {
		clear.Pairs = append(clear.Pairs, Pair{A: 10, B: 20 + float64(i)})
	}
	doubtful := Figure{Name: "doubtful", Pairs: append([]Pair{{10, 9.999}, {10, 9.9985}}, clear.Pairs[2:]...)}
	for _, c := range []struct {
		figures  []Figure
		verdicts []Verdict
		adjusted []float64
	}{
		// Of the ten pairs two are a little on the other side: P is 8 of 1024.
		{[]Figure{doubtful}, []Verdict{Different}, []float64{8.0 / 1024}},
		{[]Figure{doubtful, doubtful}, []Verdict{NotShown, NotShown}, []float64{16.0 / 1024, 16.0 / 1024}},
		{[]Figure{doubtful, clear}, []Verdict{Different, Different}, []float64{8.0 / 1024, 4.0 / 1024}},
	} {
		for i, r := range Judge(1, c.figures...) {
			if r.Verdict != c.verdicts[i] || math.Abs(r.Adjusted-c.adjusted[i]) > 1e-9 {
				t.Errorf("%s of %d: %s, adjusted %g; want %s, %g", r.Name, len(c.figures), r.Verdict, r.Adjusted, c.verdicts[i], c.adjusted[i])
			}
			if holds := r.Ratio.Low <= 1 && 1 <= r.Ratio.High; holds != (r.Verdict == NotShown) {
				t.Errorf("%s of %d: %s, and the ratio is %g to %g", r.Name, len(c.figures), r.Verdict, r.Ratio.Low, r.Ratio.High)
			}
		}
	}
}

// Nothing is a ratio of figures of which one is 0 or less, on either side.
func TestNoRatioWithoutPositiveFigures(t *testing.T) {
	for _, odd := range []Pair{{0, 1}, {1, 0}, {-1, 1}, {1, -1}} {
		f := Figure{Name: "share", Pairs: []Pair{odd}}
		for range 9 {
			f.Pairs = append(f.Pairs, Pair{A: 1, B: 3})
		}
		r := Judge(1, f)[0]
		if r.Ratio != nil || r.Verdict == Inconclusive || math.IsNaN(r.P) || r.Difference.Low > r.Difference.Value || r.Difference.High < r.Difference.Value {
			t.Errorf("with %v: %+v", odd, r)
		}
	}
}

func TestInconclusive(t *testing.T) {
	good := func(n int) []Pair { return pairsOf(n, func(int) Pair { return Pair{1, 2} }) }
	broken := good(12)
	broken[3].B = math.NaN()
	for name, c := range map[string]struct {
		figures []Figure
		why     string
	}{
		"no pairs":          {[]Figure{{}}, "0 pairs are too few"},
		"too few pairs":     {[]Figure{{Pairs: good(7)}}, "7 pairs are too few: at least 8 needed"},
		"too few for three": {[]Figure{{Pairs: good(9)}, {Pairs: good(9)}, {Pairs: good(9)}}, "at least 10 needed"},
		"a block without":   {[]Figure{{Pairs: broken}}, "pair 4 has no value"},
	} {
		r := Judge(1, c.figures...)[0]
		if r.Verdict != Inconclusive || !strings.Contains(r.Why, c.why) || r.P != 1 || r.Ratio != nil {
			t.Errorf("%s: %+v, want %q", name, r, c.why)
		}
	}
	if len(Judge(1)) != 0 {
		t.Error("no figures give results")
	}
	// A figure that is inconclusive still counts among those that were requested.
	if r := Judge(1, Figure{Pairs: good(12)}, Figure{Pairs: broken})[0]; r.Adjusted != 2*r.P {
		t.Errorf("adjusted %g of P %g, want it doubled", r.Adjusted, r.P)
	}
}

// The interval and the verdict never contradict each other.
func TestVerdictAndIntervalAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(LeastPairs(3), 12).Draw(t, "pairs")
		value := rapid.Float64Range(1, 3)
		var figures []Figure
		for range 3 {
			shift := rapid.Float64Range(0, 2).Draw(t, "shift")
			var f Figure
			for range n {
				f.Pairs = append(f.Pairs, Pair{value.Draw(t, "a"), shift + value.Draw(t, "b")})
			}
			figures = append(figures, f)
		}
		for _, r := range Judge(1, figures...) {
			outside := r.Ratio.Low > 1+1e-12 || r.Ratio.High < 1-1e-12
			if outside != (r.Verdict == Different) || (r.Adjusted <= Level) != (r.Verdict == Different) {
				t.Fatalf("%+v, ratio %+v", r, *r.Ratio)
			}
		}
	})
}

// However the values are rounded, an interval holds its own: where all pairs
// differ by the same, there is nothing but rounding between them.
func TestIntervalsHoldTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenths := rapid.Map(rapid.IntRange(1, 60), func(i int) float64 { return float64(i) / 10 })
		same := rapid.Bool().Draw(t, "all pairs alike")
		f := Figure{Pairs: []Pair{{tenths.Draw(t, "a"), tenths.Draw(t, "b")}}}
		for range rapid.IntRange(LeastPairs(1), 24).Draw(t, "pairs") {
			p := f.Pairs[0]
			if !same {
				p = Pair{tenths.Draw(t, "a"), tenths.Draw(t, "b")}
			}
			f.Pairs = append(f.Pairs, p)
		}
		r := Judge(1, f)[0]
		for _, e := range []Effect{r.Difference, *r.Ratio} {
			if e.Value < e.Low || e.Value > e.High {
				t.Fatalf("%v is not within %v to %v", e.Value, e.Low, e.High)
			}
		}
	})
}
