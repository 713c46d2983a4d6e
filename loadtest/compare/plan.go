package compare

import "math/rand/v2"

// Side is one of the two targets.
type Side byte

// The sides.
const (
	A Side = 'A'
	B Side = 'B'
)

// Order is a sequence of blocks. Two and two, from the start, are a pair.
type Order []Side

// String is such as ABBAAB.
func (o Order) String() string {
	text := make([]byte, len(o))
	for i, side := range o {
		text[i] = byte(side)
	}
	return string(text)
}

// Plan is the order in which the blocks of so many pairs run: each pair is one
// block of A and one of B, and a fair coin of its own says which comes first.
// The coins are what makes the test exact: whatever changes with time, warms up
// or lingers from block to block falls on either side with equal chance. The
// same seed gives the same order.
func Plan(seed uint64, pairs int) Order {
	rng := rand.New(rand.NewPCG(seed, plans))
	var order Order
	for range pairs {
		if rng.IntN(2) == 0 {
			order = append(order, A, B)
		} else {
			order = append(order, B, A)
		}
	}
	return order
}

// Streams of random numbers of one seed.
const (
	plans = iota
	flips
)

// LeastPairs is how many pairs are needed for any of so many figures to be called
// different: with fewer, even the clearest result has too good a chance to come
// about by the coins alone.
func LeastPairs(figures int) int {
	pairs := 1
	for chance := 1.0; chance > Level/float64(max(figures, 1)); chance /= 2 {
		pairs++ // all pairs on one side: two of 2ⁿ ways
	}
	return pairs
}
