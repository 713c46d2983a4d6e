package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Level is the probability that comparing a target with itself reports any
// difference, over all its figures. It is low because comparisons are repeated:
// more than two false alarms in 40 comparisons have a probability below 1 %.
const Level = 0.01

// Verdict is the result of comparing one figure.
type Verdict string

// The verdicts.
const (
	Different    Verdict = "different"
	NotShown     Verdict = "no difference shown" // the interval bounds how large a difference may be
	Inconclusive Verdict = "inconclusive"        // too few pairs, or a block without the figure
)

// Figure holds the values of one figure, e.g. the p99 of each block.
type Figure struct {
	Name  string
	Unit  string
	Pairs []Pair
}

// Pair holds the figure of both blocks of a pair; NaN if a block has none.
type Pair struct{ A, B float64 }

// Effect is the difference of B from A and its interval.
type Effect struct{ Value, Low, High float64 }

// Result is the comparison of one figure.
type Result struct {
	Name, Unit string
	Pairs      int
	A, B       float64 // medians of the blocks

	AAtLeast, BAtLeast bool // the median is a lower bound, for the caller to set

	Difference Effect  // B − A, the mean of the pairs'
	Ratio      *Effect // B ÷ A, the geometric mean of the pairs'; nil unless all figures are positive
	Confidence float64 // of the intervals; 0 means none

	P        float64 // P value of the ratio if there is one, else of the difference
	Adjusted float64 // P corrected for the number of figures; at most Level if different
	Verdict  Verdict
	Why      string // the reason for an inconclusive verdict
}

// Judge compares the figures of A and B with the exact sign-flip test of the
// pairs: over all flips up to 20 pairs, over random flips drawn from the seed
// beyond. It corrects for the number of figures by Holm's method. Each interval
// has the level at which its figure was tested, so it contains "no difference"
// exactly if none was shown. If there is a ratio, that holds for the ratio; the
// difference has an interval of the same level.
func Judge(seed uint64, figures ...Figure) []Result {
	results := make([]Result, len(figures))
	tests := make([]test, len(figures))
	var tested []int
	for i, f := range figures {
		r := &results[i]
		*r = Result{Name: f.Name, Unit: f.Unit, Pairs: len(f.Pairs), P: 1, Adjusted: 1, Verdict: Inconclusive}
		if r.Why = f.unfit(len(figures)); r.Why != "" {
			continue
		}
		tests[i] = f.test(seed)
		tests[i].describe(r)
		tested = append(tested, i)
	}
	slices.SortStableFunc(tested, func(i, j int) int { return cmp.Compare(results[i].P, results[j].P) })

	// Holm: compare the smallest P with the level divided by the number of
	// figures, the next with the level divided by one less, and stop at the
	// first that is too large. Unfit figures count, because they were meant to
	// be tested.
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

// unfit returns why the figure cannot be tested; empty if it can.
func (f Figure) unfit(figures int) string {
	for i, p := range f.Pairs {
		if !finite(p.A) || !finite(p.B) {
			return fmt.Sprintf("a block of pair %d has no value", i+1)
		}
	}
	if least := LeastPairs(figures); len(f.Pairs) < least {
		return fmt.Sprintf("%d pairs are too few: at least %d needed", len(f.Pairs), least)
	}
	return ""
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
