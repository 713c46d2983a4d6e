package measure

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

func TestDecodedIsTheSame_long(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, parts := phases(t)
		rec := record(shardOf(plan, 0, len(parts)), parts[0])
		text := encoded(t, rec)
		got, err := decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := all(got), all(rec); got != want {
			t.Fatalf("decoded:\n%s\nencoded:\n%s", got, want)
		}
		if got, want := got.Response[Accepted].Quantile(0.9), rec.Response[Accepted].Quantile(0.9); got != want {
			t.Fatalf("p90 decoded %+v, recorded %+v", got, want)
		}
	})
}

// The histograms of a recording are in the standard encoding.
func TestStandardEncoding(t *testing.T) {
	rec := record(Plan{}, steady(100, 500, func(i int) time.Duration { return time.Duration(i) * time.Millisecond }))
	var w wire
	if err := json.Unmarshal([]byte(encoded(t, rec)), &w); err != nil {
		t.Fatal(err)
	}
	h, err := hdr.Decode([]byte(w.Response[Accepted].HDR))
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != 500 || time.Duration(h.ValueAtQuantile(90)) != rec.Response[Accepted].Value(0.9) {
		t.Errorf("%d values, p90 %d: want 500, %d", h.TotalCount(), h.ValueAtQuantile(90), rec.Response[Accepted].Value(0.9))
	}
}

// sample is a recording with something in every field.
func sample(t interface{ Fatal(...any) }) wire {
	samples := steady(50, 100, func(i int) time.Duration { return time.Duration(i) * time.Millisecond })
	samples[7].Status = 429
	samples[8].Status, samples[8].Failure = 0, FailureTimeout
	samples[9].Label = "get"
	samples[10].Done = time.Hour
	rec := record(Plan{Name: "x", Planned: 100, Rate: 50, Duration: 2 * time.Second, Start: time.UnixMilli(1_700_000_000_000)}, samples)
	var w wire
	if err := json.Unmarshal([]byte(encoded(t, rec)), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestDecodeRefuses(t *testing.T) {
	good, err := json.Marshal(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(string(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, old, new, want string
	}{
		{"nothing", string(good), "", "unexpected end"},
		{"something after it", "}]}", "}]}{}", "after top-level value"},
		{"an unknown key", `"sent":100`, `"sent":100,"lost":1`, "lost"},
		{"an unknown key within", `"planned":100`, `"planned":100,"lost":1`, "lost"},
		{"another format", "recording 3", "recording 2", `want "outreach-conformance recording 3"`},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		if _, err := decode(text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}

	histogram := func(figures int, values ...int64) wireHistogram {
		b := newBuckets(figures)
		for _, v := range values {
			if err := b.RecordValue(v); err != nil {
				t.Fatal(err)
			}
		}
		text, err := b.EncodeV2()
		if err != nil {
			t.Fatal(err)
		}
		return wireHistogram{HDR: string(text), Min: time.Duration(values[0]), Max: time.Duration(values[len(values)-1])}
	}
	change := func(w *wire, f func(*wireHistogram)) {
		h := w.Response[Accepted]
		f(&h)
		w.Response[Accepted] = h
	}
	for _, c := range []struct {
		name   string
		change func(*wire)
		want   string
	}{
		{"more sent than answered", func(w *wire) { w.Sent++ }, "101 requests sent, but 100 send lags"},
		{"less sent than answered", func(w *wire) { w.Sent-- }, "99 requests sent"},
		{"a status too many", func(w *wire) { w.Statuses[200]++ }, "101 responses by status"},
		{"an overflowing status", func(w *wire) { w.Statuses[201] = 1 << 62; w.Statuses[202] = 1 << 62 }, "above"},
		{"a negative status count", func(w *wire) { w.Statuses[201] = -1 }, "negative"},
		{"a count of nothing", func(w *wire) { w.Statuses[201] = 0 }, "must be omitted"},
		{"an odd status", func(w *wire) { w.Statuses[4711] = w.Statuses[200]; delete(w.Statuses, 200) }, "status 4711"},
		{"a class too few", func(w *wire) { delete(w.Response, Limited) }, "limited response times"},
		{"an unknown class", func(w *wire) { w.Response["odd"] = w.Response[Limited] }, `unknown class "odd"`},
		{"no services", func(w *wire) { w.Service = nil }, "0 service times"},
		{"no lags", func(w *wire) { w.Lag = nil }, "0 send lags"},
		{"an unknown failure", func(w *wire) { w.Failures["odd"] = 1 }, `unknown failure "odd"`},
		{"more failures than failed", func(w *wire) { w.Failures[FailureReset] = 1 }, "2 failures, but 1 failed"},
		{"a label too few", func(w *wire) { delete(w.Labels, "get") }, "accepted requests"},
		{"a long label", func(w *wire) { w.Labels[strings.Repeat("x", 2000)] = nil }, "label of 2000 bytes"},
		{"an unknown class of a label", func(w *wire) { w.Labels["get"]["odd"] = w.Labels["get"][Accepted] }, `unknown class "odd"`},
		{"bytes", func(w *wire) { w.Bytes++ }, "bytes, but"},
		{"negative bytes", func(w *wire) { w.Bytes = -1 }, "negative"},
		{"too many bytes", func(w *wire) { w.Bytes = 1 << 62 }, "above"},
		{"a second twice", func(w *wire) { w.Series[1].At = 0 }, "out of order"},
		{"a second before the start", func(w *wire) { w.Series[0].At = -1 }, "out of order"},
		{"a second too far", func(w *wire) { w.Series[len(w.Series)-1].At = maxSeconds }, "beyond"},
		{"sent by second", func(w *wire) { w.SentIn[0]++ }, "101 by interval"},
		{"sent after the last interval", func(w *wire) { w.SentIn[0]--; w.SentIn = append(w.SentIn, 0, 0, 1) }, "99 by interval"},
		{"another width", func(w *wire) { w.Width *= 2 }, "intervals of"},
		{"done by second", func(w *wire) { w.Series[0].Done++ }, "done in interval 0"},
		{"a status by second", func(w *wire) { w.Series[1].Statuses[201] = 1; w.Series[1].Statuses[200]-- }, "answers 20"},
		{"response times by second", func(w *wire) { w.Series[0].Response = nil }, "by interval"},
		{"asked by second", func(w *wire) { w.Plan.Asked[0] = -5 }, "negative"},
		{"planned", func(w *wire) { w.Plan.Planned = -1 }, "-1 requests planned"},
		{"a negative rate", func(w *wire) { w.Plan.Rate = -1 }, "rate of -1/s"},
		{"a negative duration", func(w *wire) { w.Plan.Duration = -1 }, "duration of -1ns"},
		{"a long name", func(w *wire) { w.Plan.Name = strings.Repeat("x", 2000) }, "name of 2000 bytes"},
		{"a shard that cannot be", func(w *wire) { w.Plan.Shard, w.Plan.Shards = 2, 2 }, "no shard 2 of 2"},
		{"no histogram", func(w *wire) { change(w, func(h *wireHistogram) { h.HDR = "" }) }, "response: accepted"},
		{"a broken histogram", func(w *wire) { change(w, func(h *wireHistogram) { h.HDR = h.HDR[:40] }) }, "response: accepted"},
		{"another precision", func(w *wire) { change(w, func(h *wireHistogram) { *h = histogram(2, 1) }) }, "3 significant figures"},
		{"the bounds", func(w *wire) { change(w, func(h *wireHistogram) { h.Min = time.Second }) }, "first and last bucket"},
		{"a bound out of bounds", func(w *wire) { change(w, func(h *wireHistogram) { h.Max = time.Hour }) }, "bound 1h"},
		{"clipped", func(w *wire) { change(w, func(h *wireHistogram) { h.Clipped = 2 }) }, "2 durations were clipped"},
		{"too few in a histogram", func(w *wire) { change(w, func(h *wireHistogram) { *h = histogram(3, 1, 2) }) }, "service times"},
	} {
		w := sample(t)
		c.change(&w)
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(string(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
}

// Some bytes of a file must not stand for gigabytes of buckets.
func TestBucketsAreBudgeted(t *testing.T) {
	b := newBuckets(wholeFigures)
	for v := int64(0); v < int64(Longest); v += v/2048 + 512 {
		_ = b.RecordValue(v)
	}
	text, err := b.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	w := wireHistogram{HDR: string(text), Min: 0, Max: time.Duration(b.Max())}
	w.Max = min(w.Max, Longest)
	d := decoder{buckets: int(b.Populated())}
	if _, err := d.histogram(&w, wholeFigures); err != nil {
		t.Fatal(err)
	}
	if _, err := d.histogram(&w, wholeFigures); err == nil || !strings.Contains(err.Error(), "buckets in all") {
		t.Errorf("error %v, want one about the buckets", err)
	}
}

// Whatever Decode accepts is consistent, encodes to what decodes to the same,
// and can be asked everything.
func FuzzDecode(f *testing.F) {
	good, err := json.Marshal(sample(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"format":"outreach-conformance recording 2","plan":{"start":"0001-01-01T00:00:00Z"}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := decode(string(data))
		if err != nil {
			return
		}
		text := encoded(t, rec)
		again, err := decode(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if encoded(t, again) != text {
			t.Fatalf("decoded again, it differs:\n%s", text)
		}
		for _, c := range Classes() {
			rec.Response[c].Quantile(0.99)
		}
		rec.Share("", Failed)
		rec.Drifts()
		rec.Late()
		_, _ = Merge(rec)
	})
}

// decode reads a recording.
func decode(text string) (Recording, error) {
	var r Recording
	err := json.Unmarshal([]byte(text), &r)
	return r, err
}
