package measure

import (
	"maps"
	"testing"
	"time"
)

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

// A phase of any length has at most mostIntervals intervals, which bounds its memory.
func TestLongPhasesHaveLongIntervals(t *testing.T) {
	for lasts, want := range map[time.Duration]time.Duration{30 * time.Minute: time.Second, 8 * time.Hour: 20 * time.Second, 7 * 24 * time.Hour: 10 * time.Minute} {
		rec := record(Plan{Rate: 1, Duration: lasts}, nil)
		if rec.Width != want || len(rec.Series) > mostIntervals {
			t.Errorf("%s: %d intervals of %s, want %s", lasts, len(rec.Series), rec.Width, want)
		}
	}
}
