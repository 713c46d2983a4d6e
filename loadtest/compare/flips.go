package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// The test: if A and B are the same, each pair's difference had its sign from
// the coin. Flipping the signs of the pairs in a set S gives a mean difference
// at least as large as the measured one exactly if the mean over S is not
// positive. So the means over all non-empty sets give both the P value of the
// measured difference and the interval of differences that the test does not
// reject.

const (
	mostExact = 20        // up to this many pairs, all sets are evaluated
	drawn     = 1<<17 - 1 // random sets if there are more pairs
)

// sets holds the mean differences over sets of pairs, in ascending order.
type sets struct {
	means []float64
	zero  float64 // means this close to 0 count as 0, because of rounding
}

func setsOf(differences []float64, seed uint64) sets {
	var s sets
	for _, d := range differences {
		s.zero = max(s.zero, math.Abs(d)*1e-12)
	}
	if len(differences) <= mostExact {
		s.means = allMeans(differences)
	} else {
		s.means = someMeans(differences, rand.New(rand.NewPCG(seed, flips)))
	}
	slices.Sort(s.means)
	return s
}

// allMeans returns the means over all non-empty sets.
func allMeans(differences []float64) []float64 {
	sums, sizes := []float64{0}, []float64{0}
	for _, d := range differences {
		for i := range sums {
			sums, sizes = append(sums, sums[i]+d), append(sizes, sizes[i]+1)
		}
	}
	for i := range sums {
		sums[i] /= sizes[i]
	}
	return sums[1:] // the first set is empty
}

// someMeans returns the means over random sets.
func someMeans(differences []float64, rng *rand.Rand) []float64 {
	means := make([]float64, 0, drawn)
	for len(means) < drawn {
		var sum, size float64
		var coins uint64
		for i, d := range differences {
			if i%64 == 0 {
				coins = rng.Uint64()
			}
			if coins&1 == 1 {
				sum, size = sum+d, size+1
			}
			coins >>= 1
		}
		if size > 0 {
			means = append(means, sum/size)
		}
	}
	return means
}

// chance returns the two-sided P value: how often the coins alone give a mean
// difference at least as far from 0 as the measured one.
func (s sets) chance() float64 {
	atMost, atLeast := 1, 1 // the measured order counts too
	for _, m := range s.means {
		if m <= s.zero {
			atMost++
		}
		if m >= -s.zero {
			atLeast++
		}
	}
	return min(1, 2*float64(min(atMost, atLeast))/float64(len(s.means)+1))
}

// interval returns the differences that the test does not reject at the level.
// There must be enough pairs to reject any.
func (s sets) interval(level float64) (low, high float64) {
	k := int(level / 2 * float64(len(s.means)+1))
	return s.means[k-1], s.means[len(s.means)-k]
}

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

func mean(values []float64) float64 { return floats.Sum(values) / float64(len(values)) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
