package shape

// sequence deals requests out to shares: in each block of consecutive requests
// every share gets exactly its part. Where in the block depends on the seed and
// on the block, so that nothing that is asked at regular intervals always meets
// the same latency.
type sequence struct {
	seed  uint64
	ends  []int // of the shares within a block, ascending; the last one is its length
	steps []int // that visit every place of a block once: coprime to its length
}

// newSequence deals out shares that add up to Whole, in blocks that are as short
// as the shares allow.
func newSequence(seed uint64, shares ...Share) sequence {
	divisor := Whole
	for _, share := range shares {
		divisor = gcd(divisor, share)
	}
	s := sequence{seed: seed}
	end := 0
	for _, share := range shares {
		end += int(share / divisor)
		s.ends = append(s.ends, end)
	}
	for step := 1; step <= end; step++ {
		if gcd(step, end) == 1 {
			s.steps = append(s.steps, step)
		}
	}
	return s
}

// of returns which of the shares the n-th request belongs to.
func (s *sequence) of(n uint64) int {
	length := uint64(s.ends[len(s.ends)-1])
	block, place := n/length, n%length
	mixed := mix(s.seed ^ mix(block))
	step := uint64(s.steps[mixed>>32%uint64(len(s.steps))])
	at := int((place*step + mixed&0xffffffff) % length)
	share := 0
	for at >= s.ends[share] {
		share++
	}
	return share
}

// mix scatters the bits of x: the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func gcd[T ~int](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
