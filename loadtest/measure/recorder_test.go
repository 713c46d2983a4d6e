package measure

import (
	"maps"
	"runtime"
	"testing"
	"time"
)

func TestClass(t *testing.T) {
	for _, c := range []struct {
		s    Sample
		want Class
	}{
		{Sample{Status: 200}, Accepted},
		{Sample{Status: 299}, Accepted},
		{Sample{Status: 300}, Failed},
		{Sample{Status: 199}, Failed},
		{Sample{Status: 429}, Limited},
		{Sample{Status: 404}, Failed},
		{Sample{Status: 500}, Failed},
		{Sample{Status: 0, Failure: FailureTimeout}, Failed},
		{Sample{Status: 200, Failure: FailureReset}, Failed},
		{Sample{Status: 429, Failure: FailureReset}, Failed},
		{Sample{}, Failed},
	} {
		if got := c.s.Class(); got != c.want {
			t.Errorf("%+v is %s, want %s", c.s, got, c.want)
		}
	}
}

func TestRecorderCounts(t *testing.T) {
	ms := time.Millisecond
	r := newRecorder(Plan{Name: "x", Rate: 5, Duration: 2 * time.Second})
	for _, s := range []Sample{
		{Label: "a", Due: 0, Sent: 1 * ms, Done: 11 * ms, Status: 200, Bytes: 7},
		{Label: "a", Due: 900 * ms, Sent: 1100 * ms, Done: 2500 * ms, Status: 200, Bytes: 3},
		{Label: "b", Due: 1000 * ms, Sent: 1000 * ms, Done: 1001 * ms, Status: 429},
		{Label: "b", Due: 1200 * ms, Sent: 1200 * ms, Done: 1300 * ms, Status: 503, Bytes: 5},
		{Label: "b", Due: 1400 * ms, Sent: 1400 * ms, Done: 1500 * ms, Failure: "odd"},
	} {
		r.Add(s)
	}
	rec := r.Recording()

	if rec.Sent != 5 || rec.Dropped() != 5 || rec.Bytes != 15 {
		t.Errorf("sent %d, dropped %d, bytes %d: want 5, 5, 15", rec.Sent, rec.Dropped(), rec.Bytes)
	}
	for c, want := range map[Class]int64{Accepted: 2, Limited: 1, Failed: 2} {
		if rec.Count(c) != want {
			t.Errorf("%s: %d, want %d", c, rec.Count(c), want)
		}
	}
	if want := map[int]int64{200: 2, 429: 1, 503: 1, 0: 1}; !maps.Equal(rec.Statuses, want) {
		t.Errorf("statuses %v, want %v", rec.Statuses, want)
	}
	if want := map[string]int64{FailureOther: 1}; !maps.Equal(rec.Failures, want) {
		t.Errorf("failures %v, want %v", rec.Failures, want)
	}
	if got := rec.Response[Accepted].Max().Truncate(10 * ms); got != 1600*ms {
		t.Errorf("longest response %s, want it from the due time: 1.6s", got)
	}
	if got := rec.Service[Accepted].Max().Truncate(10 * ms); got != 1400*ms {
		t.Errorf("longest service %s, want it from the send time: 1.4s", got)
	}
	if got := rec.Lag.Max().Truncate(10 * ms); got != 200*ms {
		t.Errorf("largest lag %s, want 200ms", got)
	}
	if b := rec.Labels["b"]; b.Count(Accepted) != 0 || b.Count(Limited) != 1 || b.Count(Failed) != 2 {
		t.Errorf("label b: %v", b)
	}
	if a := rec.Labels["a"]; len(a) != 1 || a.Count(Accepted) != 2 || a[Accepted].Max().Truncate(10*ms) != 1600*ms {
		t.Errorf("label a: %v", a)
	}

	type row struct{ asked, sent, done, bytes, accepted, limited, failed int64 }
	want := []row{{5, 1, 1, 7, 2, 0, 0}, {5, 4, 3, 5, 0, 1, 2}, {0, 0, 1, 3, 0, 0, 0}}
	if len(rec.Series) != len(want) {
		t.Fatalf("%d seconds, want %d", len(rec.Series), len(want))
	}
	for i, s := range rec.Series {
		got := row{s.Asked, s.Sent, s.Done, s.BytesReceived, s.Response[Accepted].Count(), s.Response[Limited].Count(), s.Response[Failed].Count()}
		if s.T != int64(i) || got != want[i] {
			t.Errorf("second %d: %+v, want %+v", s.T, got, want[i])
		}
	}
	if got := rec.Series[0].Response[Accepted].Max().Truncate(10 * ms); got != 1600*ms {
		t.Errorf("the response due in second 0 took %s there, want 1.6s", got)
	}
}

func TestSecondsWithoutRequestsAreShown(t *testing.T) {
	rec := record(Plan{Rate: 100, Duration: 3 * time.Second},
		[]Sample{{Due: 0, Sent: 0, Done: time.Millisecond, Status: 200}})
	if len(rec.Series) != 3 || rec.Series[2].Asked != 100 || rec.Series[2].Sent != 0 {
		t.Errorf("series %+v, want three seconds that asked for 100 each", rec.Series)
	}
}

func TestTimesOutOfBounds(t *testing.T) {
	rec := record(Plan{}, []Sample{
		{Due: 5, Sent: 3, Done: 4, Status: 200, Bytes: -1}, // sent early, clock went back
		{Due: 0, Sent: 0, Done: time.Hour, Status: 200},
		{Due: -time.Hour, Sent: -time.Hour, Done: 1 << 62, Status: 4711},
	})
	h := rec.Response[Accepted]
	if h.Min() != 0 || h.Max() < Longest || h.Max() > Longest+Longest/1000 || h.Clipped() != 1 {
		t.Errorf("min %s, max %s, clipped %d: want 0, %s, 1", h.Min(), h.Max(), h.Clipped(), Longest)
	}
	if last := rec.Series[len(rec.Series)-1].T; last != int64(maxSeconds-1) {
		t.Errorf("the last second is %d, want %d", last, maxSeconds-1)
	}
	if err := rec.check(); err != nil {
		t.Error(err)
	}
}

func TestLateFollowsTheResponseTime(t *testing.T) {
	late := func(response time.Duration) int64 {
		var samples []Sample
		for i := range 100 {
			due := time.Duration(i) * 10 * time.Millisecond
			lag := time.Duration(i) * 100 * time.Microsecond // up to 9.9 ms
			samples = append(samples, Sample{Due: due, Sent: due + lag, Done: due + response, Status: 200})
		}
		return record(Plan{}, samples).Late()
	}
	if got := late(12 * time.Millisecond); got != 89 {
		t.Errorf("%d late above 1 ms, want 89", got)
	}
	if got := late(100 * time.Millisecond); got != 49 {
		t.Errorf("%d late above 5 ms, a twentieth of the response time, want 49", got)
	}
}

func TestDropped(t *testing.T) {
	two := steady(1, 2, func(int) time.Duration { return time.Millisecond })
	for planned, want := range map[float64]int64{5: 3, 2: 0, 1: 0} {
		if got := record(Plan{Rate: planned, Duration: time.Second}, two).Dropped(); got != want {
			t.Errorf("2 sent of %v planned: %d dropped, want %d", planned, got, want)
		}
	}
}

func TestClosedLoopDropsNothing(t *testing.T) {
	if got := record(Plan{Duration: time.Second}, steady(1, 2, func(int) time.Duration { return 0 })).Dropped(); got != 0 {
		t.Errorf("%d dropped, want 0", got)
	}
}

func TestLive(t *testing.T) {
	r := newRecorder(Plan{Rate: 100, Duration: 10 * time.Second})
	for _, s := range steady(100, 250, func(int) time.Duration { return 4 * time.Millisecond }) {
		r.Add(s)
	}
	l := r.Live(2500 * time.Millisecond)
	if l.Planned != 1000 || l.Sent != 250 || l.Count[Accepted] != 250 || l.Last.T != 1 || l.Last.Sent != 100 || l.Last.Asked != 100 {
		t.Errorf("live %+v", l)
	}
	if l := newRecorder(Plan{}).Live(time.Second); l.Sent != 0 || l.Lag != 0 {
		t.Errorf("live of nothing: %+v", l)
	}
}

// soak records samples at 2,500/s with response times over a decade and
// occasional stalls.
func soak(seconds int) *Recorder {
	const rate = 2500
	rng := seeded(1)
	r := newRecorder(Plan{Rate: rate, Duration: time.Duration(seconds) * time.Second})
	for i := range rate * seconds {
		due := time.Duration(i) * time.Second / rate
		takes := 300*time.Microsecond + time.Duration(rng.ExpFloat64()*float64(time.Millisecond))
		if due%(10*time.Second) < 200*time.Millisecond {
			takes += 200*time.Millisecond - due%(10*time.Second)
		}
		lag := time.Duration(rng.IntN(500_000))
		r.Add(Sample{Label: labels[i%len(labels)], Due: due, Sent: due + lag, Done: due + lag + takes, Status: 200, Bytes: 62_000})
	}
	return r
}

var labels = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r"}

// The intervals of a phase at 2,500/s, however long it is, must leave most of 32 MB to the
// generator. Their cost is measured without the histograms of the whole phase, which
// hardly grow.
func TestMemoryOfAPhase(t *testing.T) {
	const seconds = 40
	before := heap()
	r := soak(seconds)
	all := heap()
	maps.DeleteFunc(r.rec.histograms, func(k key, _ *Histogram) bool { return k.Kind == intervalKind })
	whole := float64(heap()-before) / (1 << 20)
	runtime.KeepAlive(r)
	intervals := (float64(all-before)/(1<<20) - whole) / seconds * mostIntervals
	t.Logf("whole phase %.2f MiB, its intervals %.1f MiB", whole, intervals)
	if whole > 1 || intervals > 7 {
		t.Errorf("whole phase %.2f MiB, its intervals %.1f MiB: want at most 1 and 7", whole, intervals)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestAddDoesNotAllocate(t *testing.T) {
	r := soak(2)
	s := Sample{Label: "a", Due: time.Second, Sent: time.Second, Done: time.Second + 3*time.Millisecond, Status: 200, Bytes: 1}
	if n := testing.AllocsPerRun(1000, func() { r.Add(s) }); n > 0 {
		t.Errorf("%v allocations a sample, want none", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	rng := seeded(1)
	samples := steady(2500, 1<<16, func(int) time.Duration {
		return 300*time.Microsecond + time.Duration(rng.ExpFloat64()*float64(time.Millisecond))
	})
	for i := range samples {
		samples[i].Label = labels[i%len(labels)]
	}
	r := newRecorder(Plan{})
	for _, s := range samples {
		r.Add(s)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Add(samples[i%len(samples)])
	}
}

// An operation covers all labels that begin with it; an exact label covers only
// itself.
func TestLabelCoversItsPageSizes(t *testing.T) {
	r := newRecorder(Plan{Name: "mixed", Rate: 6, Duration: time.Second, Start: time.Unix(1e9, 0)})
	for i, label := range []string{"list limit=1", "list limit=10", "list limit=10", "lists", "get", "get all"} {
		at := time.Duration(i) * 100 * time.Millisecond
		r.Add(Sample{Seq: uint64(i), Label: label, Due: at, Sent: at, Done: at + time.Duration(i+1)*time.Millisecond, Status: 200})
	}
	rec := r.Recording()
	for label, want := range map[string]int64{"list": 3, "list limit=1": 1, "lists": 1, "get": 1, "limit": 0} {
		if got := rec.Label(label).Count(Accepted); got != want {
			t.Errorf("%s: %d requests, want %d", label, got, want)
		}
	}
	if got := rec.Label("list")[Accepted].Max().Truncate(time.Millisecond); got != 3*time.Millisecond {
		t.Errorf("the longest of list took %s, want 3ms", got)
	}
	if share := rec.Share("list", Failed); share.Of != 3 {
		t.Errorf("a share of %d requests, want 3", share.Of)
	}
}
