package infer

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []gridCase{{gridKinds[1], 10, time.Second, 5 * ms, 32}, {gridKinds[1], 37, time.Minute, 300 * time.Microsecond, 45}, {gridKinds[2], 10, time.Second, ms, 61}, {gridKinds[3], 10, time.Second, ms, 61}, {gridKinds[4], 10, time.Second, ms, 61}, {gridKinds[5], 10, time.Second, ms, 61}, {gridKinds[6], 10, time.Second, ms, 61}, {gridKinds[7], 10, time.Second, ms, 61}} {
		w := newWorld(c.seed, c.config(t), c.trip)
		a := time.Now()
		o, _ := Options{MaxTime: 400 * c.window, Seed: c.seed}.withDefaults()
		s := newSearch(context.Background(), w.wire(), o)
		var last string
		lastN := 0
		lastT := time.Duration(0)
		s.options.Log = func(st string) {
			fmt.Printf("   %s: n %d t %.2fW cpu %s | fits %d", last, len(s.seen)-lastN, (s.now()-lastT).Seconds()/c.window.Seconds(), time.Since(a).Round(ms), len(s.fits))
			lastN = len(s.seen)
			lastT = s.now()
			last = st
			for i, f := range s.fits {
				if i < 4 {
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
		fmt.Println(c, err, len(s.seen), s.now(), time.Since(a))
	}
	_ = os.Args
}
