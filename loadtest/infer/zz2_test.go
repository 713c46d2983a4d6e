package infer

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []gridCase{{gridKinds[2], 10, time.Second, ms, 37}, {gridKinds[2], 37, time.Second, ms, 61}, {gridKinds[5], 37, time.Second, 5 * ms, 61}, {gridKinds[1], 37, time.Second, 5 * ms, 66}} {
		w := newWorld(c.seed, c.config(t), c.trip)
		o, _ := Options{MaxTime: 400 * c.window, Seed: c.seed}.withDefaults()
		s := newSearch(context.Background(), w.wire(), o)
		var last string
		lastN := 0
		lastT := time.Duration(0)
		s.options.Log = func(st string) {
			fmt.Printf("   %s: n %d t %.2fW scale %s | fits %d", last, len(s.seen)-lastN, (s.now()-lastT).Seconds()/c.window.Seconds(), s.scale, len(s.fits))
			lastN = len(s.seen)
			lastT = s.now()
			last = st
			for i, f := range s.fits {
				if i < 5 {
					lo, hi := f.Window()
					if hi > 1<<60 {
						hi = -1
					}
					fmt.Printf(" [%s %v %d %.4f..%.4f]", f.Kind, f.Counting, f.Limit, lo.Seconds(), hi.Seconds())
				}
			}
			fmt.Println()
		}
		err := s.run()
		s.options.Log("end")
		fmt.Println(c, err, len(s.seen), s.now())
	}
}
