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
	}{{330, 3 * time.Second}, {330, 1500 * time.Millisecond}, {400, time.Second}, {450, 300 * time.Millisecond}, {468, 3 * time.Second}, {3000, 3 * time.Second}, {315, 30 * time.Second}, {305, 5 * time.Second}} {
		n := int(float64(tc.rate) * tc.lasts.Seconds())
		rec := record(Plan{Rate: float64(tc.rate), Duration: tc.lasts}, queue(tc.rate, 300, n))
		served := rec.Served()
		if math.Abs(served-300) > 3 {
			t.Errorf("%d/s for %s of a server that serves 300/s: %.1f/s", tc.rate, tc.lasts, served)
		}
	}
}

// Shards tell together what one process would tell.
func TestShardsFallBehindTogether(t *testing.T) {
	plan := Plan{Rate: 330, Duration: 3 * time.Second}
	parts := make([]*Recorder, 3)
	for i := range parts {
		parts[i] = newRecorder(shardOf(plan, i, len(parts)))
	}
	for i, s := range queue(330, 300, 990) {
		parts[i%len(parts)].Add(s)
	}
	var decoded []Recording
	for _, p := range parts {
		r, err := read(encoded(t, p.Recording()))
		if err != nil {
			t.Fatal(err)
		}
		decoded = append(decoded, r)
	}
	merged, err := Merge(decoded...)
	if err != nil {
		t.Fatal(err)
	}
	if served := merged.Served(); math.Abs(served-300) > 3 {
		t.Errorf("served %.1f/s", served)
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
		"just keeps up":         {3 * time.Second, func(int) time.Duration { return time.Second / rate }},
		"slower than the phase": {1500 * time.Millisecond, func(int) time.Duration { return 2 * time.Second }},
		"one in five in no time": {3 * time.Second, func(int) time.Duration {
			return []time.Duration{time.Millisecond, 2 * time.Second}[min(rng.IntN(5), 1)]
		}},
		"one in five takes long": {3 * time.Second, func(int) time.Duration {
			return []time.Duration{2 * time.Second, time.Millisecond}[min(rng.IntN(5), 1)]
		}},
		"a stall on the way":     {3 * time.Second, stall(1200*time.Millisecond, 1900*time.Millisecond)},
		"a stall near the end":   {3 * time.Second, stall(2100*time.Millisecond, 2700*time.Millisecond)},
		"slow at the start":      {3 * time.Second, stall(0, 800*time.Millisecond)},
		"slower by the minute":   {10 * time.Minute, func(i int) time.Duration { return time.Duration(i) * time.Second / 300 / 1000 }},
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

// Chance alone, of answers that take 1 to 100 ms, is hardly ever taken for a queue.
func TestChanceIsNoQueue(t *testing.T) {
	rng, wrong := seeded(6), 0
	for range 300 {
		for _, lasts := range []time.Duration{1500 * time.Millisecond, 3 * time.Second} {
			n := int(100 * lasts.Seconds())
			rec := record(Plan{Rate: 100, Duration: lasts}, steady(100, n, func(int) time.Duration {
				return time.Duration(math.Pow(100, rng.Float64()) * float64(time.Millisecond))
			}))
			if rec.Served() > 0 {
				wrong++
			}
		}
	}
	if wrong > 3 {
		t.Errorf("%d of 600 phases are said to be behind", wrong)
	}
}
