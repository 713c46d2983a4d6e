package compare

import (
	"math"
	"slices"
)

// test is the sign-flip test of one figure.
type test struct {
	a, b        []float64
	differences []float64
	ratios      []float64 // logarithms; nil unless all figures are positive

	byDifference, byRatio sets
}

func (f Figure) test(seed uint64) test {
	t := test{ratios: []float64{}}
	for _, p := range f.Pairs {
		t.a, t.b = append(t.a, p.A), append(t.b, p.B)
		t.differences = append(t.differences, p.B-p.A)
		if t.ratios != nil && p.A > 0 && p.B > 0 {
			t.ratios = append(t.ratios, math.Log(p.B/p.A))
		} else {
			t.ratios = nil
		}
	}
	t.byDifference = setsOf(t.differences, seed)
	if t.ratios != nil {
		t.byRatio = setsOf(t.ratios, seed)
	}
	return t
}

// describe fills in everything but the intervals and the verdict.
func (t test) describe(r *Result) {
	r.A, r.B = median(t.a), median(t.b)
	r.Difference.Value = mean(t.differences)
	r.P = t.byDifference.chance()
	if t.ratios != nil {
		r.Ratio = &Effect{Value: math.Exp(mean(t.ratios))}
		r.P = t.byRatio.chance()
	}
}

// intervals fills in the intervals at the level.
func (t test) intervals(r *Result, level float64) {
	r.Confidence = 1 - level
	r.Difference.bound(t.byDifference.interval(level))
	if r.Ratio != nil {
		low, high := t.byRatio.interval(level)
		r.Ratio.bound(math.Exp(low), math.Exp(high))
	}
}

// bound sets the effect's interval. The test never rejects the measured value,
// but rounding may exclude it if all pairs differ by the same amount.
func (e *Effect) bound(low, high float64) {
	e.Low, e.High = min(low, e.Value), max(high, e.Value)
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
