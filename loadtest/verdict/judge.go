package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"outreach.example/conformance/reports/load"
)

// ComparisonLevel is the probability that comparing a target with itself reports any
// difference, over all its figures. It is low because comparisons are repeated:
// more than two false alarms in 40 comparisons have a probability below 1 %.
const ComparisonLevel = 0.01

// Figure holds the values of one figure, e.g. the p99 of each block. More is worse.
type Figure struct {
	Name, Unit   string
	A, B         []float64 // by pair; NaN if a block has none
	AOpen, BOpen bool      // a block's value is a lower bound
}

// effect is a mean over the pairs.
type effect struct {
	mean, err float64 // err is the standard error of the mean
	freedom   float64 // degrees, of Student's distribution
}

func effectOf(values []float64) effect {
	n := float64(len(values))
	mean := floats.Sum(values) / n
	rest := slices.Clone(values)
	floats.AddConst(-mean, rest)
	return effect{mean, floats.Norm(rest, 2) / math.Sqrt(n*(n-1)), n - 1}
}

// p returns the two-sided P value of the mean, if its true value is 0.
func (e effect) p() float64 {
	if e.mean == 0 {
		return 1
	}
	t := e.mean / e.err
	return mathext.RegIncBeta(e.freedom/2, 0.5, e.freedom/(e.freedom+t*t))
}

// interval returns the values that the test does not reject at the level.
func (e effect) interval(level float64) (low, high float64) {
	x := mathext.InvRegIncBeta(e.freedom/2, 0.5, level)
	reach := e.err * math.Sqrt(e.freedom*(1-x)/x) // the inverse of p
	return e.mean - reach, e.mean + reach
}

// test is the comparison of one figure.
type test struct {
	difference effect
	ratio      *effect // of the logarithms; nil unless all values are positive
	p          float64
}

func (f Figure) test() (t test) {
	var differences, ratios []float64
	for i, a := range f.A {
		differences = append(differences, f.B[i]-a)
		if a > 0 && f.B[i] > 0 {
			ratios = append(ratios, math.Log(f.B[i]/a))
		}
	}
	t.difference = effectOf(differences)
	t.p = t.difference.p()
	if len(ratios) == len(differences) {
		ratio := effectOf(ratios)
		t.ratio, t.p = &ratio, ratio.p()
	}
	return t
}

// judgePairs compares the figures of A and B with the paired t-test. It corrects for the
// number of figures by Holm's method. Each interval has the level at which its figure
// was tested, so it contains "no difference" exactly if none was shown. If there is a
// ratio, that holds for the ratio; the difference has an interval of the same level.
func judgePairs(figures ...Figure) []load.ComparedFigure {
	results, tests := make([]load.ComparedFigure, len(figures)), make([]test, len(figures))
	var tested []int
	for i, f := range figures {
		results[i] = load.ComparedFigure{Name: f.Name, Unit: f.Unit, Verdict: load.EffectNotKnown, Why: f.unfit(len(figures))}
		if results[i].Why == "" {
			tests[i] = f.test()
			tested = append(tested, i)
		}
	}
	slices.SortStableFunc(tested, func(i, j int) int { return cmp.Compare(tests[i].p, tests[j].p) })

	// Holm: compare the smallest P with the level divided by the number of
	// figures, the next with the level divided by one less, and stop at the
	// first that is too large. Unfit figures count, because they were meant to
	// be tested.
	var level, adjusted float64
	rejecting := true
	for k, i := range tested {
		left := float64(len(figures) - k)
		if rejecting {
			level = ComparisonLevel / left
			rejecting = tests[i].p <= level
		}
		adjusted = min(1, max(adjusted, tests[i].p*left))
		results[i].P = adjusted
		figures[i].report(tests[i], level, rejecting, &results[i])
	}
	return results
}

// report fills in the result of a figure that was tested at the level.
func (f Figure) report(t test, level float64, differs bool, r *load.ComparedFigure) {
	a, b := median(f.A), median(f.B)
	r.A, r.B, r.AOpen, r.BOpen, r.Confidence = &a, &b, f.AOpen, f.BOpen, 1-level
	low, high := t.difference.interval(level)
	r.Difference = &load.Estimate{Value: t.difference.mean, Low: low, High: high}
	more := t.difference.mean > 0
	if t.ratio != nil { // an outlier in one block may reverse the mean difference
		more = t.ratio.mean > 0
		low, high := t.ratio.interval(level)
		r.Ratio, r.RatioLow, r.RatioHigh = math.Exp(t.ratio.mean), math.Exp(low), math.Exp(high)
	}
	switch {
	case !differs:
		r.Verdict = load.NoDifference
	case more:
		r.Verdict = load.Worse
	default:
		r.Verdict = load.Better
	}
	if f.AOpen && r.Verdict != load.Better || f.BOpen && r.Verdict != load.Worse {
		r.Verdict, r.Why = load.EffectNotKnown, "so many requests failed that a figure is a lower bound"
	}
	if f.AOpen && f.BOpen {
		r.Difference, r.Ratio, r.RatioLow, r.RatioHigh = nil, 0, 0, 0
	}
}

// unfit returns why the figure cannot be tested; empty if it can.
func (f Figure) unfit(figures int) string {
	for i, a := range f.A {
		if d := f.B[i] - a; math.IsNaN(d) || math.IsInf(d, 0) {
			return fmt.Sprintf("a block of pair %d has no value", i+1)
		}
	}
	if least := LeastPairsOf(figures); len(f.A) < least {
		return fmt.Sprintf("%d pairs are too few: at least %d needed", len(f.A), least)
	}
	return ""
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
