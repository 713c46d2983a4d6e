package truth

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func fixedClock() time.Time { return time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC) }

func TestCountsByOperationStatusAndKey(t *testing.T) {
	c := New(fixedClock)
	for _, r := range []struct {
		request Request
		took    time.Duration
	}{
		{Request{"b.list", 200, "main"}, 3 * time.Millisecond},
		{Request{"b.list", 200, "main"}, 9 * time.Millisecond},
		{Request{"b.list", 429, "main"}, time.Millisecond},
		{Request{"b.list", 200, "second"}, 2 * time.Millisecond},
		{Request{"a.get", 404, "main"}, time.Millisecond},
	} {
		c.Begin(time.Now())(r.request, r.took)
	}
	got := c.Report()
	want := []RequestCount{
		{"a.get", 404, "main", 1, 1e6, 1e6},
		{"b.list", 200, "main", 2, 12e6, 9e6},
		{"b.list", 200, "second", 1, 2e6, 2e6},
		{"b.list", 429, "main", 1, 1e6, 1e6},
	}
	if len(got.Requests) != len(want) || got.Total != 5 {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got.Requests[i] != want[i] {
			t.Errorf("requests[%d] = %+v, want %+v", i, got.Requests[i], want[i])
		}
	}
	if lists := got.Latency[1]; lists.Operation != "b.list" || lists.Status != 200 || lists.Count != 3 || len(lists.Buckets) != 3 {
		t.Errorf("latency of b.list 200 = %+v, want three requests of both keys in three buckets", lists)
	}
}

func TestInFlightAndReset(t *testing.T) {
	c := New(fixedClock)
	c.Connection(+1)
	end := c.Begin(time.Now())
	if r := c.Report(); r.InFlight != 1 || r.OpenConnections != 1 || r.Total != 0 {
		t.Errorf("during the request: %+v", r)
	}
	end(Request{}, 0)
	c.Reset()
	if r := c.Report(); r.InFlight != 0 || r.OpenConnections != 1 || r.Total != 0 || len(r.Latency) != 0 {
		t.Errorf("after the reset: %+v", r)
	}
}

func TestNothingIsLostConcurrently(t *testing.T) {
	c := New(fixedClock)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 500 {
				c.Begin(time.Now())(Request{"op", 200, "key"}, time.Millisecond)
			}
		})
	}
	workers.Wait()
	if r := c.Report(); r.Total != 2000 || r.Requests[0].SumNS != int64(2*time.Second) || r.Latency[0].Count != 2000 {
		t.Errorf("got %+v", r)
	}
}

func TestBucketHoldsItsLatencyAndIsNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, 1<<maxBits-1)).Draw(t, "us")
		bucket := bucketOf(us)
		from, to := lowerBound(bucket), lowerBound(bucket+1)
		if us < from || us >= to {
			t.Fatalf("%d µs is in bucket %d, which goes from %d to %d", us, bucket, from, to)
		}
		if width := to - from; width > 1 && width*subBuckets > from {
			t.Fatalf("bucket %d from %d µs is %d µs wide", bucket, from, width)
		}
	})
}

func TestLatenciesOutOfRangeAreCounted(t *testing.T) {
	var h histogram
	h.add(-time.Second)
	h.add(100 * time.Hour)
	if got := h.buckets(); len(got) != 2 || got[0].FromNS != 0 || got[1].FromNS != 1000*lowerBound(allBuckets-1) {
		t.Errorf("buckets = %+v", got)
	}
}

// The busiest window is found wherever it lies.
func TestBusiestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(fixedClock)
		var at []time.Time
		now := fixedClock()
		for _, gap := range rapid.SliceOfN(rapid.IntRange(0, 12_000), 1, 60).Draw(t, "gaps in µs") {
			now = now.Add(time.Duration(gap) * time.Microsecond)
			at = append(at, now)
			c.Begin(now)
		}
		want := 0
		for i := range at {
			n := 0
			for _, later := range at[i:] {
				if later.Sub(at[i]) <= paceWindow {
					n++
				}
			}
			want = max(want, n)
		}
		if got := c.Report().Arrivals; got.Busiest != want || !got.First.Equal(at[0]) {
			t.Fatalf("busiest window %d, first %v; want %d, %v", got.Busiest, got.First, want, at[0])
		}
	})
}

func TestBothEndsOfTheBusiestWindowCount(t *testing.T) {
	c := New(fixedClock)
	c.Begin(fixedClock())
	c.Begin(fixedClock().Add(paceWindow))
	c.Begin(fixedClock().Add(2*paceWindow + 1))
	if got := c.Report().Arrivals.Busiest; got != 2 {
		t.Errorf("busiest window %d, want 2", got)
	}
}

func TestSecondsCountWhatCameAndWent(t *testing.T) {
	c := New(fixedClock)
	begin := fixedClock()
	for _, request := range []struct{ at, took time.Duration }{
		{0, 10 * time.Millisecond}, {900 * time.Millisecond, 200 * time.Millisecond}, {3500 * time.Millisecond, time.Millisecond},
	} {
		c.Begin(begin.Add(request.at))(Request{"op", 200, "key"}, request.took)
	}
	want := []Second{{0, 2, 1}, {1, 0, 1}, {2, 0, 0}, {3, 1, 1}}
	if got := c.Report().Arrivals.Seconds; !slices.Equal(got, want) {
		t.Errorf("seconds %+v, want %+v", got, want)
	}

	late := c.Begin(begin)
	c.Reset()
	late(Request{"op", 200, "key"}, time.Hour)
	if got := c.Report().Arrivals; got.First != nil || len(got.Seconds) != 0 || got.Busiest != 0 {
		t.Errorf("after the reset: %+v", got)
	}
}

func TestSecondsAreBounded(t *testing.T) {
	c := New(fixedClock)
	c.Begin(fixedClock())
	c.Begin(fixedClock().Add(1000 * time.Hour))
	if got := c.Report().Arrivals.Seconds; len(got) != maxSeconds || got[maxSeconds-1].Arrived != 1 {
		t.Errorf("%d seconds, the last one %+v", len(got), got[len(got)-1])
	}
}

// What the server knows of a mix is exact enough to judge others by it.
func TestQuantilesOfAKnownMix(t *testing.T) {
	c := New(fixedClock)
	for n := range 10_000 {
		took := 2*time.Millisecond + time.Duration(rand.IntN(1000))
		if n%50 == 0 {
			took = 250 * time.Millisecond
		}
		c.Begin(fixedClock())(Request{[]string{"a", "b"}[n/2%2], 200, "key"}, took)
	}
	c.Begin(fixedClock())(Request{"a", 429, "key"}, time.Hour)
	accepted := func(l Latency) bool { return l.Status == 200 }
	r := c.Report()
	for p, want := range map[float64]time.Duration{0: 2 * time.Millisecond, 0.5: 2 * time.Millisecond, 0.98: 2 * time.Millisecond, 0.981: 250 * time.Millisecond, 0.99: 250 * time.Millisecond, 1: 250 * time.Millisecond} {
		b, ok := r.Quantile(p, accepted)
		if !ok || b.FromNS > int64(want)+1000 || b.ToNS <= int64(want) || float64(b.ToNS-b.FromNS) > 0.008*float64(b.ToNS) {
			t.Errorf("p%v = %+v, %v; want a narrow bucket with %v", 100*p, b, ok, want)
		}
	}
	if b, ok := r.Quantile(1, func(Latency) bool { return true }); !ok || b.ToNS < int64(30*time.Minute) {
		t.Errorf("of all, the slowest is %+v", b)
	}
	if _, ok := r.Quantile(0.5, func(Latency) bool { return false }); ok {
		t.Error("a quantile of nothing")
	}
}

func TestHolds(t *testing.T) {
	b := Bucket{FromNS: 250e6, ToNS: 251e6}
	for ms, want := range map[float64]bool{244.9: false, 245.1: true, 250.5: true, 256: true, 256.1: false} {
		if got := b.Holds(time.Duration(ms*1e6), 0.02, time.Millisecond); got != want {
			t.Errorf("%v ms: %v, want %v", ms, got, want)
		}
	}
	if !(Bucket{FromNS: 2e6, ToNS: 2e6 + 1e4}).Holds(3*time.Millisecond, 0.02, time.Millisecond) {
		t.Error("within the time, beyond the share")
	}
}

func TestMemoryIsSeen(t *testing.T) {
	ballast := make([]byte, 32<<20)
	if m := New(fixedClock).Report().Memory; m.HeapBytes < int64(len(ballast)) {
		t.Errorf("%+v, with %d bytes held", m, len(ballast))
	}
	for i := range ballast {
		ballast[i]++
	}
}

func BenchmarkCount(b *testing.B) {
	c := New(fixedClock)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Begin(time.Now())(Request{"webhook-events.list", 200, "main"}, 80*time.Microsecond)
		}
	})
}
