package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// steady returns samples of an accepted request every 1/rate seconds with the
// response time takes; nothing is sent late.
func steady(rate, n int, takes func(i int) time.Duration) []Sample {
	out := make([]Sample, n)
	for i := range out {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		out[i] = Sample{Seq: uint64(i), Label: "list", Due: due, Sent: due, Done: due + takes(i), Status: 200, Bytes: 100}
	}
	return out
}

// Plan is a phase of one rate.
type Plan struct {
	Name     string
	Rate     float64
	Duration time.Duration
	Start    time.Time
	shard    Schedule // its place among the shards
}

func newRecorder(p Plan) *Recorder {
	plan := Constant(p.Rate, p.Duration)
	plan.Index, plan.Of = p.shard.Index, p.shard.Of
	return NewRecorder(p.Name, p.Start, plan)
}

func record(p Plan, samples []Sample) Recording {
	r := newRecorder(p)
	for _, s := range samples {
		r.Add(s)
	}
	return r.Recording()
}

// seeded returns a random generator with a fixed seed.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// noise returns an autoregressive series of unit variance whose memory fades in
// this many steps; with 0 its values are independent.
func noise(rng *rand.Rand, fades float64) func() float64 {
	keep := 0.0
	if fades > 0 {
		keep = math.Exp(-1 / fades)
	}
	z := rng.NormFloat64()
	return func() float64 {
		z = keep*z + math.Sqrt(1-keep*keep)*rng.NormFloat64()
		return z
	}
}

// encoded returns everything in a recording, for comparison.
func encoded(t interface{ Fatal(...any) }, r Recording) string {
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// phases draws a plan of some shards and the samples of each of them.
func phases(t *rapid.T) (Plan, [][]Sample) {
	shards := rapid.IntRange(1, 5).Draw(t, "shards")
	n := rapid.IntRange(0, 200).Draw(t, "samples")
	plan := Plan{Name: "mixed", Rate: 20, Duration: 10 * time.Second, Start: time.UnixMilli(1_700_000_000_123)}
	wait := rapid.OneOf(
		rapid.Int64Range(0, int64(5*time.Millisecond)),
		rapid.Int64Range(0, int64(3*time.Second)),
		rapid.Int64Range(0, int64(2*Longest)),
	)
	parts := make([][]Sample, shards)
	for i := range n {
		due := time.Duration(i) * time.Second / 20
		sent := due + time.Duration(rapid.Int64Range(-1000, int64(20*time.Millisecond)).Draw(t, "lag"))
		s := Sample{
			Seq: uint64(i), Due: due, Sent: sent, Done: sent + time.Duration(wait.Draw(t, "service")),
			Label:  fmt.Sprint("operation ", i%3),
			Status: rapid.SampledFrom([]int{200, 200, 201, 429, 500, 0}).Draw(t, "status"),
			Bytes:  rapid.Int64Range(0, 70_000).Draw(t, "bytes"),
		}
		if s.Status == 0 {
			s.Failure = rapid.SampledFrom([]string{FailureTimeout, FailureRefused, FailureReset, "odd"}).Draw(t, "failure")
		}
		parts[i%shards] = append(parts[i%shards], s)
	}
	return plan, parts
}

// shardOf returns shard i of n of the plan.
func shardOf(p Plan, i, n int) Plan {
	p.shard = Schedule{Index: i, Of: n}
	return p
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
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

	if rec.Sent != 5 || rec.Dropped() != 5 || rec.Bytes != 15 || rec.Count(Accepted) != 2 || rec.Count(Limited) != 1 || rec.Count(Failed) != 2 {
		t.Errorf("sent %d, dropped %d, bytes %d: want 5, 5, 15; %v", rec.Sent, rec.Dropped(), rec.Bytes, rec.Response)
	}
	if want := map[int]int64{200: 2, 429: 1, 503: 1, 0: 1}; !maps.Equal(rec.Statuses, want) || !maps.Equal(rec.Failures, map[string]int64{FailureOther: 1}) {
		t.Errorf("statuses %v, want %v; failures %v", rec.Statuses, want, rec.Failures)
	}
	for of, got := range map[time.Duration]time.Duration{1600 * ms: rec.Response[Accepted].Max(), 1400 * ms: rec.Service[Accepted].Max(), 200 * ms: rec.Lag.Max()} {
		if got.Truncate(10*ms) != of {
			t.Errorf("longest %s, want %s: responses count from the due time, services from the sending", got, of)
		}
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

// Merging the shards of any split gives the recording of one process, to the
// last bucket of the last second.
func TestMergeOfAnySplitIsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, parts := phases(t)
		whole := newRecorder(plan)
		recordings := make([]Recording, len(parts))
		for i, samples := range parts {
			recordings[i] = record(shardOf(plan, i, len(parts)), samples)
			for _, s := range samples {
				whole.Add(s)
			}
		}
		order := rapid.Permutation(recordings).Draw(t, "order")
		merged, err := Merge(order...)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := encoded(t, merged), encoded(t, whole.Recording()); got != want {
			t.Fatalf("merged:\n%s\nwhole:\n%s", got, want)
		}
		for _, c := range classes {
			for _, p := range []float64{0.5, 0.99} {
				if got, want := merged.Response[c].Quantile(p), whole.Recording().Response[c].Quantile(p); got != want {
					t.Fatalf("%s p%g: merged %+v, whole %+v", c, 100*p, got, want)
				}
			}
		}
	})
}

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
	if want := map[string]int64{"response.accepted": 299, "service.accepted": 299, "interval.accepted": 299,
		"label.accepted.list": 299, "label.limited.list": 1, "response.limited": 1, "service.limited": 1, "interval.limited": 1, "lag": 300}; !maps.Equal(counts, want) {
		t.Errorf("%v, want %v", counts, want)
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

// queue is a server that serves so many requests a second, one after the other.
func queue(rate, capacity, n int) []Sample {
	var free time.Duration
	return steady(rate, n, func(i int) time.Duration {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		free = max(free, due) + time.Second/time.Duration(capacity)
		return free - due
	})
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
		"just keeps up": {3 * time.Second, func(int) time.Duration { return time.Second / rate }},
		"one in five in no time": {3 * time.Second, func(int) time.Duration {
			return []time.Duration{time.Millisecond, 2 * time.Second}[min(rng.IntN(5), 1)]
		}},
		"a stall on the way":     {3 * time.Second, stall(1200*time.Millisecond, 1900*time.Millisecond)},
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
