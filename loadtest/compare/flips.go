package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
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

// effect is the mean of the pairs' differences, with the means over sets of pairs.
type effect struct {
	value float64
	means []float64 // ascending
	zero  float64   // means this close to 0 count as 0, because of rounding
}

func effectOf(differences []float64, seed uint64) effect {
	e := effect{value: stat.Mean(differences, nil)}
	for _, d := range differences {
		e.zero = max(e.zero, math.Abs(d)*1e-12)
	}
	if len(differences) <= mostExact {
		e.means = allMeans(differences)
	} else {
		e.means = someMeans(differences, rand.New(rand.NewPCG(seed, flips)))
	}
	slices.Sort(e.means)
	return e
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
func (e effect) chance() float64 {
	atMost, atLeast := 1, 1 // the measured order counts too
	for _, m := range e.means {
		if m <= e.zero {
			atMost++
		}
		if m >= -e.zero {
			atLeast++
		}
	}
	return min(1, 2*float64(min(atMost, atLeast))/float64(len(e.means)+1))
}

// interval returns the differences that the test does not reject at the level. There must
// be enough pairs to reject any. The test never rejects the measured value, but rounding may
// exclude it if all pairs differ by the same amount.
func (e effect) interval(level float64) (low, high float64) {
	k := int(level / 2 * float64(len(e.means)+1))
	return min(e.means[k-1], e.value), max(e.means[len(e.means)-k], e.value)
}
