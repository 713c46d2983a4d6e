package infer

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestMonte(t *testing.T) {
	r := rand.New(rand.NewPCG(99, 5))
	var cases []gridCase
	for i := range 400 {
		w := time.Duration(200+r.IntN(30000)) * time.Millisecond
		if r.IntN(2) == 0 {
			w = []time.Duration{time.Second, 10 * time.Second, time.Minute, 500 * time.Millisecond}[r.IntN(4)]
		}
		cases = append(cases, gridCase{gridKinds[r.IntN(8)], 1 + r.IntN(150), w, time.Duration(200+r.IntN(4800)) * time.Microsecond, uint64(i)})
	}
	scores := runGrid(t, cases, nil)
	in := 0
	for _, s := range scores {
		if s.right && s.requests <= 25 && s.windows <= 10 {
			in++
		}
	}
	t.Log("within both budgets", in)
	goals{0.9, 0.95, 0.9, 0.9, 0.9, 0.01}.check(t, scores)
}
