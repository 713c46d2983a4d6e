package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Level is the chance that a comparison of a target with itself calls anything
// different, all its figures together. It is low because comparisons are
// repeated: of 40, more than two raise a false alarm less than once in a hundred.
const Level = 0.01

// Verdict says what a comparison has shown of a figure.
type Verdict string

// The verdicts.
const (
	Different    Verdict = "different"
	NotShown     Verdict = "no difference shown" // none that the test could see: the interval says how large one may be
	CouldNotTell Verdict = "could not tell"      // too few pairs, or blocks without the figure
)

// Figure is what the pairs measured of one thing, e.g. the p99 of each block.
type Figure struct {
	Name  string
	Unit  string
	Pairs []Pair
}

// Pair is the figure of the two blocks of a pair; NaN where a block has none.
type Pair struct{ A, B float64 }

// Effect is how far B is from A, with the interval of all that the test does not
// reject.
type Effect struct{ Value, Low, High float64 }

// Result is what the comparison says about one figure.
type Result struct {
	Name, Unit string
	Pairs      int
	A, B       float64 // medians of the blocks

	Difference Effect  // B − A, the mean of the pairs'
	Ratio      *Effect // B ÷ A, the geometric mean of the pairs'; nil unless all figures are positive
	Confidence float64 // of the intervals; 0: there are none

	P        float64 // the chance of so large an effect if there is none; of the ratio if there is one
	Adjusted float64 // P, corrected for the number of figures; at most Level if different
	Verdict  Verdict
	Why      string // it could not be told
}

// Judge compares the figures of A and B. The test is exact: the sign-flip test of
// the pairs, over all flips up to 20 pairs and over flips drawn from the seed
// beyond. The figures are corrected for their number by Holm's method, and each
// interval is that of the level at which its figure was tested, so that it holds
// "no difference" just if none was shown. (Where there is a ratio, that goes for
// the ratio; the difference has an interval of the same level.)
func Judge(seed uint64, figures ...Figure) []Result {
	results := make([]Result, len(figures))
	tests := make([]test, len(figures))
	var tested []int
	for i, f := range figures {
		r := &results[i]
		*r = Result{Name: f.Name, Unit: f.Unit, Pairs: len(f.Pairs), P: 1, Adjusted: 1, Verdict: CouldNotTell}
		if r.Why = f.unfit(len(figures)); r.Why != "" {
			continue
		}
		tests[i] = f.test(seed)
		tests[i].describe(r)
		tested = append(tested, i)
	}
	slices.SortStableFunc(tested, func(i, j int) int { return cmp.Compare(results[i].P, results[j].P) })

	// Holm: the smallest P is held against the level over the number of figures,
	// the next against that over one less, until one is too large; that one and
	// all that follow are not rejected. Figures that are unfit count: they were
	// meant to be tested.
	var level, adjusted float64
	rejecting := true
	for k, i := range tested {
		r, left := &results[i], float64(len(figures)-k)
		if rejecting {
			level = Level / left
			rejecting = r.P <= level
		}
		adjusted = min(1, max(adjusted, r.P*left))
		r.Adjusted, r.Verdict = adjusted, NotShown
		if rejecting {
			r.Verdict = Different
		}
		tests[i].intervals(r, level)
	}
	return results
}

// unfit says why the figure, one of so many, cannot be tested; empty if it can.
func (f Figure) unfit(figures int) string {
	for i, p := range f.Pairs {
		if !finite(p.A) || !finite(p.B) {
			return fmt.Sprintf("a block of pair %d has no such figure", i+1)
		}
	}
	if least := LeastPairs(figures); len(f.Pairs) < least {
		return fmt.Sprintf("%d pairs are too few: at least %d are needed", len(f.Pairs), least)
	}
	return ""
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
