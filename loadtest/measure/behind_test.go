package measure

import (
	"math"
	"testing"
	"time"
)

// queue is a server that serves so many requests a second, one after the other.
func queue(rate, capacity, n int) []Sample {
	var free time.Duration
	return steady(rate, n, func(i int) time.Duration {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		free = max(free, due) + time.Second/time.Duration(capacity)
		return free - due
	})
}

func TestServedIsTheCapacity(t *testing.T) {
	for _, tc := range []struct {
		rate  int
		lasts time.Duration
	}{{330, 3 * time.Second}, {450, 300 * time.Millisecond}, {3000, 3 * time.Second}, {305, 5 * time.Second}} {
		n := int(float64(tc.rate) * tc.lasts.Seconds())
		rec := record(Plan{Rate: float64(tc.rate), Duration: tc.lasts}, queue(tc.rate, 300, n))
		served := rec.Served()
		if math.Abs(served-300) > 3 {
			t.Errorf("%d/s for %s of a server that serves 300/s: %.1f/s", tc.rate, tc.lasts, served)
		}
	}
}

// What is slow, uneven, or stands still for a while keeps up.
func TestWhatKeepsUpIsNotBehind(t *testing.T) {
	const rate = 300
	rng := seeded(5)
	stall := func(from, to time.Duration) func(i int) time.Duration {
		return func(i int) time.Duration {
			due := time.Duration(i) * time.Second / rate
			if due >= from && due < to {
				return to - due + time.Millisecond
			}
			return time.Millisecond
		}
	}
	for name, tc := range map[string]struct {
		lasts time.Duration
		takes func(i int) time.Duration
	}{
		"just keeps up": {3 * time.Second, func(int) time.Duration { return time.Second / rate }},
		"one in five in no time": {3 * time.Second, func(int) time.Duration {
			return []time.Duration{time.Millisecond, 2 * time.Second}[min(rng.IntN(5), 1)]
		}},
		"a stall on the way":     {3 * time.Second, stall(1200*time.Millisecond, 1900*time.Millisecond)},
		"slow at the start":      {3 * time.Second, stall(0, 800*time.Millisecond)},
		"a stall of a short one": {time.Second, stall(700*time.Millisecond, 800*time.Millisecond)},
	} {
		n := int(rate * tc.lasts.Seconds())
		rec := record(Plan{Rate: rate, Duration: tc.lasts}, steady(rate, n, tc.takes))
		if served := rec.Served(); served > 0 {
			t.Errorf("%s: said to serve %.1f of %d/s", name, served, rate)
		}
	}
	pieces := []Recording{record(Plan{Rate: 330, Duration: 3 * time.Second}, queue(330, 300, 990)), record(Plan{Rate: 330, Duration: 3 * time.Second}, queue(330, 300, 990))}
	if InTurn(pieces...).Served() > 0 {
		t.Error("pieces have no common beginning to fall behind from")
	}
	if record(Plan{Duration: 3 * time.Second}, queue(330, 300, 990)).Served() > 0 {
		t.Error("a closed loop has no rate to fall behind")
	}
}
