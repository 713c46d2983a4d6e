package truth

import (
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
		c.Begin()(r.request, r.took)
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
	end := c.Begin()
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
				c.Begin()(Request{"op", 200, "key"}, time.Millisecond)
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

func BenchmarkCount(b *testing.B) {
	c := New(fixedClock)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Begin()(Request{"webhook-events.list", 200, "main"}, 80*time.Microsecond)
		}
	})
}
