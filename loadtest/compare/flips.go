package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The test: if A and B are the same, each pair's difference had its sign from the
// coin. Flipping the signs of the pairs in a set S changes the mean difference
// from what was measured to something at least as large just if the mean over S
// is not positive. So the means over all non-empty sets of pairs hold both the
// chance of what was measured and, as differences that would not be rejected,
// the interval of the difference.

const (
	mostExact = 20        // pairs of which all sets are looked at
	drawn     = 1<<17 - 1 // sets that are drawn by lot when there are more
)

// sets are the means of the differences over sets of pairs, ascending.
type sets struct {
	means []float64
	zero  float64 // means this near to 0 are 0: what is left is rounding
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

// allMeans are those over all non-empty sets.
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

// someMeans are those over sets that are drawn by lot.
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

// chance is the two-sided P: how often the coins alone give a mean difference as
// far from 0 as that measured.
func (s sets) chance() float64 {
	atMost, atLeast := 1, 1 // what was measured counts too
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

// interval holds the differences that the test does not reject at the level. There
// must be enough pairs for it to reject any.
func (s sets) interval(level float64) (low, high float64) {
	k := int(level / 2 * float64(len(s.means)+1))
	return s.means[k-1], s.means[len(s.means)-k]
}
