package measure

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The library's own reader reads the log back.
func TestHDRLog(t *testing.T) {
	samples := steady(100, 300, func(i int) time.Duration { return time.Duration(i+1) * time.Millisecond })
	samples[5].Status = 429
	start := time.UnixMilli(1_700_000_000_250)
	rec := record(Plan{Name: "mixed\n", Rate: 100, Duration: 3 * time.Second, Start: start}, samples)
	var log bytes.Buffer
	if err := rec.WriteHDRLog(&log); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(log.String(), `#[phase "mixed\n",`) || !strings.Contains(log.String(), "#[Histogram log format version 1.3]\n") {
		t.Errorf("header:\n%.300s", log.String())
	}

	counts := map[string]int64{}
	var p90 int64
	reader := hdr.NewHistogramLogReader(&log)
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		counts[h.Tag()] += h.TotalCount()
		if h.Tag() == "response.accepted" {
			p90 = h.ValueAtQuantile(90)
			if h.StartTimeMs() != start.UnixMilli() || h.EndTimeMs() != start.UnixMilli()+3000 {
				t.Errorf("the line spans %d to %d ms, want %d and three seconds", h.StartTimeMs(), h.EndTimeMs(), start.UnixMilli())
			}
		}
	}
	for tag, want := range map[string]int64{"response.accepted": 299, "service.accepted": 299, "interval.accepted": 299,
		"label.accepted.list": 299, "label.limited.list": 1, "response.limited": 1, "service.limited": 1, "interval.limited": 1, "lag": 300} {
		if counts[tag] != want {
			t.Errorf("%s: %d values, want %d", tag, counts[tag], want)
		}
		delete(counts, tag)
	}
	if len(counts) > 0 {
		t.Errorf("lines that nobody asked for: %v", counts)
	}
	if want := rec.Response[Accepted].Value(0.9); p90 != int64(want) {
		t.Errorf("p90 is %d in the log, %d in the recording", p90, want)
	}
}

// sample is a recording with something in every field.
func sample(t interface{ Fatal(...any) }) string {
	samples := steady(50, 100, func(i int) time.Duration { return time.Duration(i) * time.Millisecond })
	samples[7].Status = 429
	samples[8].Status, samples[8].Failure = 0, FailureTimeout
	samples[9].Label = "get, all limit=1"
	samples[10].Done = time.Hour
	return encoded(t, record(Plan{Name: "x", Rate: 50, Duration: 2 * time.Second, Start: time.UnixMilli(1_700_000_000_123)}, samples))
}

func TestReadRefuses(t *testing.T) {
	good := sample(t)
	if _, err := read(good); err != nil {
		t.Fatal(err)
	}
	histogram := func(i int, key string, value any) func(map[string]any) {
		return func(f map[string]any) { f["Histograms"].([]any)[i].(map[string]any)[key] = value }
	}
	set := func(key string, value any) func(map[string]any) { return func(f map[string]any) { f[key] = value } }
	second := func(key string, value any) func(map[string]any) {
		return func(f map[string]any) { f["Seconds"].([]any)[0].(map[string]any)[key] = value }
	}
	long := hdr.New(1, math.MaxInt64, 3)
	_ = long.RecordValue(math.MaxInt64 / 2)
	wide, err := long.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(map[string]any)
		says   string
	}{
		"an unknown key":          {set("Lost", 1), `unknown field "Lost"`},
		"a status too many":       {set("Statuses", map[string]int{"200": 98, "429": 1, "0": 2}), "100 requests were sent, but 101 are accounted for"},
		"a negative status count": {set("Statuses", map[string]int{"200": -1, "201": 101}), "a count is negative"},
		"an unknown failure":      {set("Failures", map[string]int{"odd": 1}), `unknown failure "odd"`},
		"done by second":          {second("accepted", 51), "are accounted for"},
		"no plan":                 {set("Plan", nil), "no segments"},
		"one twice":               {func(f map[string]any) { f["Histograms"] = append(f["Histograms"].([]any), f["Histograms"].([]any)[0]) }, "is there twice"},
		"an interval too late":    {histogram(0, "At", 1<<40), "too late"},
		"a broken histogram":      {histogram(0, "HDR", "AAAA"), "phase "},
		"another range":           {histogram(0, "HDR", string(wide)), "unsupported buckets"},
	} {
		var f map[string]any
		if err := json.Unmarshal([]byte(good), &f); err != nil {
			t.Fatal(err)
		}
		tc.change(f)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(string(text)); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: error %v, want %q in it", name, err, tc.says)
		}
	}
}

// Whatever is read is consistent, is written as what is read as the same, and can be
// asked everything.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sample(f)))
	f.Add([]byte(encoded(f, newRecorder(Plan{Duration: time.Second}).Recording())))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := read(string(data))
		if err != nil {
			return
		}
		text := encoded(t, rec)
		again, err := read(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if encoded(t, again) != text {
			t.Fatalf("read again, it differs:\n%s", text)
		}
		for _, c := range classes {
			rec.Response[c].Quantile(0.99)
		}
		rec.Share("", Failed)
		rec.Drifts()
		rec.Late()
		_, _ = Merge(rec, rec)
	})
}

func read(text string) (Recording, error) {
	var r Recording
	err := json.Unmarshal([]byte(text), &r)
	return r, err
}
