package compare

import (
	"math"
	"math/rand/v2"
	"slices"
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
