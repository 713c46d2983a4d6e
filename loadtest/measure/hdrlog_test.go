package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
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
		"first.accepted": 99, "last.accepted": 100, "label.accepted.list": 299, "label.limited.list": 1, "response.limited": 1, "service.limited": 1, "interval.limited": 1, "lag": 300} {
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

type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestHDRLogReportsWriteErrors(t *testing.T) {
	rec := record(Plan{Name: "x", Rate: 10}, steady(10, 20, func(int) time.Duration { return time.Millisecond }))
	for writes := range 10 {
		if err := rec.WriteHDRLog(&full{writes}); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("after %d writes: error %v, want it to say that the disk is full", writes, err)
		}
	}
}

func TestReadIsTheSame_long(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, parts := phases(t)
		rec := record(shardOf(plan, 0, len(parts)), parts[0])
		got, err := read(encoded(t, rec))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := all(got), all(rec); got != want {
			t.Fatalf("read:\n%s\nwritten:\n%s", got, want)
		}
		if got, want := got.Response[Accepted].Quantile(0.9), rec.Response[Accepted].Quantile(0.9); got != want {
			t.Fatalf("p90 read %+v, recorded %+v", got, want)
		}
	})
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

func logOf(t *testing.T, text string) string {
	var f struct{ Log string }
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return f.Log
}

func TestReadRefuses(t *testing.T) {
	good := sample(t)
	if _, err := read(good); err != nil {
		t.Fatal(err)
	}
	// withLog returns the file with a changed log.
	withLog := func(change func(lines []string) []string) func(map[string]any) {
		return func(f map[string]any) {
			lines := strings.SplitAfter(f["Log"].(string), "\n")
			f["Log"] = strings.Join(change(lines), "")
		}
	}
	var lag int // the line of the log with the send lags
	withLog(func(lines []string) []string {
		lag = slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Tag=lag") })
		return lines
	})(map[string]any{"Log": logOf(t, good)})
	one := func(i int, change func(string) string) func(map[string]any) {
		return withLog(func(lines []string) []string { lines[i] = change(lines[i]); return lines })
	}
	as := func(tag string) func(map[string]any) {
		return one(lag, func(line string) string { return strings.Replace(line, "Tag=lag", "Tag="+tag, 1) })
	}
	set := func(key string, value any) func(map[string]any) { return func(f map[string]any) { f[key] = value } }
	second := func(key string, value any) func(map[string]any) {
		return func(f map[string]any) { f["Seconds"].([]any)[0].(map[string]any)[key] = value }
	}
	plan := func(key string, value any) func(map[string]any) {
		return func(f map[string]any) { f["Plan"].(map[string]any)[key] = value }
	}
	wide, err := hdr.New(1, math.MaxInt64, 3).Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(map[string]any)
		says   string
	}{
		"an unknown key":          {set("Lost", 1), `unknown field "Lost"`},
		"a status too many":       {set("Statuses", map[string]int{"200": 98, "429": 1, "0": 2}), "statuses: 101, but 100 send lags"},
		"a negative status count": {set("Statuses", map[string]int{"200": -1, "201": 101}), "a count is negative"},
		"an unknown failure":      {set("Failures", map[string]int{"odd": 1}), `unknown failure "odd"`},
		"negative failures":       {set("Failures", map[string]int{"reset": -2}), "a count is negative"},
		"negative bytes":          {second("Bytes", -1), "a count is negative"},
		"done by second":          {second("Done", 51), "requests done by second"},
		"more failed than done":   {second("Failed", 60), "a count is negative"},
		"sent by second":          {second("Sent", 101), "requests sent by second"},
		"no plan":                 {set("Plan", nil), "no segments"},
		"a foreign shard":         {plan("Index", 7), "there is no shard 7"},
		"no log":                  {set("Log", ""), "but 0 send lags"},
		"a histogram less":        {withLog(func(l []string) []string { return l[:len(l)-2] }), "but 100 send lags"},
		"one twice":               {withLog(func(l []string) []string { return append(l, l[lag]) }), "is unknown or there twice"},
		"another class":           {as("service.odd"), `tagged "service.odd"`},
		"another word":            {as("odd.accepted"), `tagged "odd.accepted"`},
		"an odd label":            {as("label.accepted.%zz"), `tagged "label.accepted.%zz"`},
		"a label too many":        {as("label.failed.more"), "send lags"},
		"a broken histogram":      {one(lag, func(l string) string { return l[:len(l)/2] + "\n" }), "phase "},
		"another range":           {one(lag, func(string) string { return "Tag=lag,0.0,1.0,1.0," + string(wide) + "\n" }), "unsupported buckets"},
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
