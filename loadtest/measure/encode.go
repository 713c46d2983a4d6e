package measure

import (
	"encoding/json"
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// MarshalJSON writes the recording as Decode reads it: nothing is lost. The same
// recording always gives the same bytes.
func (r Recording) MarshalJSON() ([]byte, error) {
	w, err := r.wire()
	if err != nil {
		return nil, fmt.Errorf("measure: cannot encode phase %q: %w", r.Name, err)
	}
	return json.Marshal(w)
}

func (r Recording) wire() (wire, error) {
	e := encoder{}
	w := wire{
		Format: format,
		Plan: wirePlan{Name: r.Name, Planned: r.Planned, Rate: r.Rate, Duration: r.Duration,
			Start: r.Start.UTC().Round(0), ClosedLoop: r.ClosedLoop, Asked: r.Asked, Shard: r.Shard.Index, Shards: r.Shard.Of},
		Sent:     r.Sent,
		Bytes:    r.Bytes,
		First:    thirdOf(r.First),
		Last:     thirdOf(r.Last),
		Response: e.classes(r.Response),
		Service:  e.classes(r.Service),
		Lag:      e.optional(r.Lag),
		Statuses: r.Statuses,
		Failures: r.Failures,
		Labels:   make(map[string]map[Class]wireHistogram, len(r.Labels)),
		SentIn:   r.SentIn,
		Width:    r.Width,
		Series:   make([]wireInterval, 0, len(r.Series)),
	}
	for name, l := range r.Labels {
		w.Labels[name] = e.classes(l)
	}
	for _, s := range r.Series {
		w.Series = append(w.Series, wireInterval{At: s.At, Done: s.Done,
			Bytes: s.Bytes, Statuses: s.Statuses, Response: e.classes(s.Response)})
	}
	return w, e.err
}

func thirdOf(t Third) *wireThird {
	if t.Count == 0 {
		return nil
	}
	return &wireThird{t.Count, t.Took, t.Squares}
}

// encoder encodes histograms and keeps the first error.
type encoder struct{ err error }

func (e *encoder) histogram(h Histogram) wireHistogram {
	text, err := h.open().EncodeV2()
	if e.err == nil {
		e.err = err
	}
	return wireHistogram{HDR: string(text), Min: h.min, Max: h.max, Clipped: h.clipped}
}

func (e *encoder) optional(h Histogram) *wireHistogram {
	if h.Count() == 0 {
		return nil
	}
	w := e.histogram(h)
	return &w
}

func (e *encoder) classes(of map[Class]Histogram) map[Class]wireHistogram {
	out := make(map[Class]wireHistogram, len(of))
	for c, h := range of {
		if h.Count() > 0 {
			out[c] = e.histogram(h)
		}
	}
	return out
}

// histogramOf is what the wire says, checked: our own bucket layout, counts
// within bounds, and bounds that lie in the outermost buckets.
func histogramOf(w wireHistogram, figures int) (Histogram, error) {
	buckets, err := hdr.DecodePacked([]byte(w.HDR))
	if err != nil {
		return Histogram{}, err
	}
	if buckets.LowestTrackableValue() != int64(Shortest) || buckets.HighestTrackableValue() != int64(Longest) ||
		buckets.SignificantFigures() != int64(figures) {
		return Histogram{}, fmt.Errorf("unsupported buckets: want %s to %s with %d significant figures", Shortest, Longest, figures)
	}
	n := buckets.TotalCount()
	if n < 1 || n > maxCount {
		return Histogram{}, fmt.Errorf("%d durations: want 1 to %d", n, maxCount)
	}
	outer := newBuckets(figures)
	for _, d := range []time.Duration{w.Min, w.Max} {
		if d < 0 || d > Longest {
			return Histogram{}, fmt.Errorf("bound %s: want 0 to %s", d, Longest)
		}
		_ = outer.RecordValue(int64(d))
	}
	if outer.Min() != buckets.Min() || outer.Max() != buckets.Max() {
		return Histogram{}, fmt.Errorf("the bounds %s and %s are not in the first and last bucket", w.Min, w.Max)
	}
	if w.Clipped < 0 || w.Clipped > buckets.CountAtValue(int64(Longest)) {
		return Histogram{}, fmt.Errorf("%d durations were clipped to %s, but only %d are that long", w.Clipped, Longest,
			buckets.CountAtValue(int64(Longest)))
	}
	return Histogram{buckets: buckets, count: n, min: w.Min, max: w.Max, clipped: w.Clipped}, nil
}

// format names the recording file format. A change of meaning changes it.
const format = "outreach-conformance recording 3"

// wire is a Recording as a shard file holds it. Times are nanoseconds.
type wire struct {
	Format   string                  `json:"format"`
	Plan     wirePlan                `json:"plan"`
	Sent     int64                   `json:"sent"`
	Bytes    int64                   `json:"bytes"`
	Response map[Class]wireHistogram `json:"response,omitempty"`
	Service  map[Class]wireHistogram `json:"service,omitempty"`
	Lag      *wireHistogram          `json:"lag,omitempty"`
	Statuses map[int]int64           `json:"statuses,omitempty"`
	Failures map[string]int64        `json:"failures,omitempty"`
	First    *wireThird              `json:"first_third,omitempty"`
	Last     *wireThird              `json:"last_third,omitempty"`

	Labels map[string]map[Class]wireHistogram `json:"labels,omitempty"`

	SentIn []int64        `json:"sent_by_second,omitempty"`
	Width  time.Duration  `json:"interval_ns"`
	Series []wireInterval `json:"series,omitempty"`
}

type wireThird struct {
	Count   int64   `json:"count"`
	Took    float64 `json:"took_s"`
	Squares float64 `json:"squares_s2"`
}

type wirePlan struct {
	Name       string        `json:"name"`
	Planned    int64         `json:"planned"`
	Rate       float64       `json:"rate"`
	Duration   time.Duration `json:"duration_ns"`
	Start      time.Time     `json:"start"`
	ClosedLoop bool          `json:"closed_loop,omitempty"`
	Asked      []int64       `json:"asked_by_second,omitempty"`
	Shard      int           `json:"shard"`
	Shards     int           `json:"shards"`
}

// wireHistogram is a histogram in the HdrHistogram V2 encoding, compressed and
// in base64, with exact values that the buckets lack.
type wireHistogram struct {
	HDR     string        `json:"hdr"`
	Min     time.Duration `json:"min_ns"`
	Max     time.Duration `json:"max_ns"`
	Clipped int64         `json:"clipped,omitempty"`
}

type wireInterval struct {
	At       int                     `json:"at"`
	Done     int64                   `json:"done"`
	Bytes    int64                   `json:"bytes"`
	Statuses map[int]int64           `json:"statuses,omitempty"`
	Response map[Class]wireHistogram `json:"response,omitempty"`
}
