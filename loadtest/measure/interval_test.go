package measure

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A phase of any length has at most mostIntervals intervals while it sends, and loses
// nothing: by second for what was sent, by interval for what came back.
func TestLongPhasesHaveLongIntervals_long(t *testing.T) {
	for _, c := range []struct{ lasts, width time.Duration }{
		{3 * time.Second, time.Second},
		{30 * time.Minute, time.Second},
		{30*time.Minute + 1, 2 * time.Second},
		{time.Hour, 2 * time.Second},
		{8 * time.Hour, 20 * time.Second},
		{24 * time.Hour, time.Minute},
		{7 * 24 * time.Hour, 10 * time.Minute},
	} {
		seconds := int(c.lasts / time.Second)
		r := newRecorder(Plan{Name: "soak", Rate: 1, Duration: c.lasts, Start: time.Unix(1e9, 0)})
		for i := range seconds {
			due := time.Duration(i) * time.Second
			r.Add(Sample{Seq: uint64(i), Label: "a", Due: due, Sent: due, Done: due + time.Duration(i%100)*time.Millisecond, Status: 200, Bytes: 1})
		}
		rec := r.Recording()
		if rec.Width != c.width || len(rec.Series) > mostIntervals {
			t.Errorf("%s: %d intervals of %s, want at most %d of %s", c.lasts, len(rec.Series), rec.Width, mostIntervals, c.width)
		}
		if len(rec.asked) < seconds || len(rec.Seconds) != seconds {
			t.Errorf("%s: %d seconds of requests due and %d of requests sent, want %d", c.lasts, len(rec.asked), len(rec.Seconds), seconds)
		}
		if err := rec.check(); err != nil {
			t.Errorf("%s: %v", c.lasts, err)
		}
		encoded, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		var back Recording
		if err := json.Unmarshal(encoded, &back); err != nil {
			t.Fatalf("%s: %v", c.lasts, err)
		}
		if all(back) != all(rec) {
			t.Errorf("%s: another recording after decoding", c.lasts)
		}
	}
}

// Requests that go out in another second than planned are another load, also in a phase
// whose intervals are longer.
func TestLongIntervalsDoNotHideBunches(t *testing.T) {
	const rate, seconds = 10, 3600
	r := newRecorder(Plan{Name: "soak", Rate: rate, Duration: seconds * time.Second, Start: time.Unix(1e9, 0)})
	for i := range rate * seconds {
		due := time.Duration(i) * time.Second / rate
		sent := due.Truncate(2*time.Second) + time.Second
		r.Add(Sample{Seq: uint64(i), Label: "a", Due: due, Sent: sent, Done: sent + time.Millisecond, Status: 200})
	}
	if said := r.Recording().OtherLoad(); !strings.HasPrefix(said, "50 % of the requests went out in another second") {
		t.Errorf("%q, want half", said)
	}
}
