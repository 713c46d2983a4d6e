package verdict

// This file tests whether two targets behave differently under load.
//
// The targets are loaded in turns, in pairs of blocks: one of A and one of B,
// in random order. Each block yields a few figures. Student's test of the pairs asks
// how often chance would give differences as large as the measured ones if A and B
// were the same. It holds however correlated the requests within a block are. Single
// requests are not compared: they are correlated, and tests that assume independence
// report false differences.

import "math/rand/v2"

// PlanOrder returns the order of the blocks for this many pairs, such as ABBAAB. Each pair is one
// block of A and one of B, and a fair coin decides which comes first: warm-up, drift
// and carry-over affect either side with equal probability. The same seed gives the
// same order.
func PlanOrder(seed uint64, pairs int) (order string) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range pairs {
		order += []string{"AB", "BA"}[rng.IntN(2)]
	}
	return order
}

// LeastPairsOf returns how many pairs are needed to call any of this many figures
// different. With fewer, all pairs differ in one direction too often by chance.
func LeastPairsOf(figures int) int {
	pairs := 1
	for chance := 1.0; chance > ComparisonLevel/float64(max(figures, 1)); chance /= 2 {
		pairs++ // all pairs in one direction: 2 of 2ⁿ outcomes
	}
	return pairs
}
