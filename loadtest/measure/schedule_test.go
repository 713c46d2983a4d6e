package measure

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestValidate(t *testing.T) {
	long := make([]Segment, MaxSegments+1)
	for i := range long {
		long[i] = Segment{1, time.Second}
	}
	for _, c := range []struct {
		name string
		s    Schedule
		want string // part of the error; empty: valid
	}{
		{"one rate", Constant(500, time.Minute), ""},
		{"a shard", Constant(500, time.Minute).Shard(3, 8), ""},
		{"a shard without requests", Constant(1, time.Second).Shard(3, 8), ""},
		{"zero value", Schedule{}, "no segments"},
		{"too many segments", Schedule{Segments: long}, "1001 segments"},
		{"rate too high", Constant(2e6, time.Second), "rate 2e+06/s"},
		{"no rate at all", Constant(math.NaN(), time.Second), "rate NaN/s"},
		{"too long", Constant(1, math.MaxInt64), "duration 2562047h"},
		{"too long together", Schedule{Segments: []Segment{{1, MaxDuration}, {1, 1}}}, "up to 2 last longer"},
		{"only a pause", Constant(0, time.Second), "nothing to send"},
		{"shard beyond", Constant(500, time.Minute).Shard(8, 8), "no shard 8 of 8"},
	} {
		err := c.s.Validate()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
}

func schedules() *rapid.Generator[Schedule] {
	segment := rapid.Custom(func(t *rapid.T) Segment {
		return Segment{
			Rate:     rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(MinRate, 300)).Draw(t, "rate"),
			Duration: time.Duration(rapid.Int64Range(1, int64(3*time.Second)).Draw(t, "duration")),
		}
	})
	return rapid.Custom(func(t *rapid.T) Schedule {
		return Schedule{Segments: rapid.SliceOfN(segment, 1, 6).Draw(t, "segments")}
	}).Filter(func(s Schedule) bool { return s.Validate() == nil })
}

// The slow and obvious way: exact fractions.
func dueByFractions(s Schedule, k uint64) time.Duration {
	at, from := new(big.Rat), time.Duration(0)
	want := new(big.Rat).SetUint64(k)
	for _, g := range s.Segments {
		perNano := big.NewRat(int64(math.Round(g.Rate*1e6)), 1e6*int64(time.Second))
		end := new(big.Rat).Add(at, new(big.Rat).Mul(perNano, big.NewRat(int64(g.Duration), 1)))
		if want.Cmp(end) < 0 {
			wait := new(big.Rat).Quo(new(big.Rat).Sub(want, at), perNano)
			return from + time.Duration(new(big.Int).Quo(wait.Num(), wait.Denom()).Int64())
		}
		at, from = end, from+g.Duration
	}
	return from
}

func TestDueIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schedules().Draw(t, "schedule")
		n := uint64(s.Planned())
		k := rapid.Uint64Range(0, n).Draw(t, "k")
		if got, want := s.Due(k), dueByFractions(s, k); got != want {
			t.Fatalf("request %d is due at %d ns, want %d ns", k, got, want)
		}
		if last := dueByFractions(s, n-1); last >= s.Duration() {
			t.Fatalf("the last of %d planned requests is due at %s, after the end", n, last)
		}
		if next := dueByFractions(s, n); next != s.Duration() {
			t.Fatalf("%d requests are planned, but one more is due at %s", n, next)
		}
	})
}

func TestShardsAreTogetherThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schedules().Draw(t, "schedule")
		n := rapid.IntRange(1, 7).Draw(t, "shards")
		again := rapid.IntRange(1, 3).Draw(t, "shards of a shard")
		seen := map[uint64]bool{}
		perSecond := make([]int64, len(s.perSecond()))
		for i := range n * again {
			shard := s.Shard(i%n, n).Shard(i/n, again)
			for k := range uint64(shard.Planned()) {
				seq := shard.Seq(k)
				if seen[seq] {
					t.Fatalf("request %d is in two shards", seq)
				}
				seen[seq] = true
				if got, want := shard.Due(k), s.Due(seq); got != want {
					t.Fatalf("request %d is due at %s in its shard, at %s in the plan", seq, got, want)
				}
			}
			for at, asked := range shard.perSecond() {
				perSecond[at] += asked
			}
		}
		if got, want := int64(len(seen)), s.Planned(); got != want {
			t.Fatalf("the shards send %d requests, the plan %d", got, want)
		}
		for at, want := range s.perSecond() {
			if perSecond[at] != want {
				t.Fatalf("second %d: the shards ask for %d, the plan for %d", at, perSecond[at], want)
			}
		}
	})
}

// The schedule paces like the due times that it names.
func TestPace(t *testing.T) {
	s := Schedule{Segments: []Segment{{Rate: 10, Duration: time.Second}, {Rate: 0, Duration: time.Second}, {Rate: 40, Duration: time.Second}}}
	for hits := range uint64(s.Planned()) {
		if wait, stop := s.Pace(300*time.Millisecond, hits); stop || wait != s.Due(hits)-300*time.Millisecond {
			t.Errorf("hit %d: wait %s, stop %t", hits, wait, stop)
		}
	}
	if _, stop := s.Pace(0, uint64(s.Planned())); !stop {
		t.Error("no stop after the last request")
	}
	for at, want := range map[time.Duration]float64{0: 10, time.Second: 0, 2 * time.Second: 40, 3 * time.Second: 0} {
		if got := s.Rate(at); got != want {
			t.Errorf("rate %v at %s, want %v", got, at, want)
		}
	}
	if got := s.Shard(1, 4).Rate(0); got != 2.5 {
		t.Errorf("rate of a shard %v, want 2.5", got)
	}
}
