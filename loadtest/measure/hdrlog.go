package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// A file holds a Recording as JSON of its counters and an HdrHistogram log, so that
// the recordings of several processes can be merged.

// Limits of a file: far more than a week of load needs, and small enough that no file
// exhausts memory or overflows a sum.
const (
	maxCount   = int64(1e14)
	maxBytes   = int64(1) << 49
	maxBuckets = 8 << 20 // of all histograms together: a few bytes of a log can stand for many
)

// counters are a Recording without its methods.
type counters Recording

type file struct {
	counters
	// Exact holds what the buckets of each line of the log lack: the shortest and the
	// longest duration, and how many were clipped.
	Exact [][3]int64
	Log   string
}

// MarshalJSON writes the recording as UnmarshalJSON reads it: nothing is lost.
func (r Recording) MarshalJSON() ([]byte, error) {
	f := file{counters: counters(r)}
	var log bytes.Buffer
	err := r.WriteHDRLog(&log)
	for line := range r.lines {
		f.Exact = append(f.Exact, [3]int64{int64(line.min), int64(line.max), line.clipped})
	}
	if f.Log = log.String(); err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads the output of MarshalJSON. It does not trust the input:
// unknown keys, contradictory counts and sizes out of bounds are errors.
func (r *Recording) UnmarshalJSON(data []byte) error {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	var f file
	if err := strict.Decode(&f); err != nil {
		return err
	}
	got := Recording(f.counters)
	if got.Duration < 0 || got.seconds() > maxSeconds {
		return fmt.Errorf("phase %q: a duration of %s", got.Name, got.Duration)
	}
	if err := got.readLog(f.Log, f.Exact); err != nil {
		return fmt.Errorf("phase %q: %w", got.Name, err)
	}
	if err := got.check(); err != nil {
		return fmt.Errorf("phase %q: %w", got.Name, err)
	}
	*r = got.finished()
	return nil
}

// line is one histogram in the log.
type line struct {
	Histogram
	tag      string
	from, to time.Duration
}

// The tags of histograms that span the whole phase are such a word and the class, or
// lagTag. That of a label is followed by the label, escaped as in a query.
const (
	responseTag = "response"
	serviceTag  = "service"
	lagTag      = "lag"
	labelTag    = "label"
	intervalTag = "interval" // one line for each interval
)

// lines calls yield with each histogram that is not empty.
func (r Recording) lines(yield func(line) bool) {
	all := []line{{r.Lag, lagTag, 0, r.Duration}}
	add := func(of map[Class]Histogram, word, label string, from, to time.Duration) {
		for _, c := range classes {
			all = append(all, line{of[c], word + "." + string(c) + label, from, to})
		}
	}
	add(r.Response, responseTag, "", 0, r.Duration)
	add(r.Service, serviceTag, "", 0, r.Duration)
	for _, name := range r.LabelNames() {
		add(r.Labels[name], labelTag, "."+url.QueryEscape(name), 0, r.Duration)
	}
	for _, s := range r.Series {
		add(s.Response, intervalTag, "", r.Begins(s), r.Begins(s)+r.Width)
	}
	for _, l := range all {
		if l.count > 0 && !yield(l) {
			return
		}
	}
}

// WriteHDRLog writes the histograms as an HdrHistogram log (.hlog). Lines tagged
// response.accepted, service.accepted, lag, label.accepted.campaigns.list and so on span
// the whole phase. Lines tagged interval.accepted and so on span one interval each and
// hold response times by the due time, with two significant figures. Values are
// nanoseconds, maxima milliseconds.
func (r Recording) WriteHDRLog(w io.Writer) error {
	log := hdr.NewHistogramLogWriter(w)
	start := r.startMS()
	base := start - start%1000 // the log's header has whole seconds only
	log.SetBaseTime(base)
	for _, err := range []error{
		log.OutputComment(fmt.Sprintf("[phase %q, response times from the due time, in nanoseconds]", r.Name)),
		log.OutputLogFormatVersion(),
		log.OutputBaseTime(base),
		log.OutputStartTime(base),
		log.OutputLegend(),
	} {
		if err != nil {
			return fmt.Errorf("measure: HDR log of phase %q: %w", r.Name, err)
		}
	}
	for l := range r.lines {
		b := l.buckets.Clone() // the tag and the times are the line's, not the histogram's
		b.SetTag(l.tag)
		b.SetStartTimeMs(start + l.from.Milliseconds())
		b.SetEndTimeMs(start + l.to.Milliseconds())
		if err := log.OutputIntervalPackedHistogram(b); err != nil {
			return fmt.Errorf("measure: HDR log of phase %q: %w", r.Name, err)
		}
	}
	return nil
}

// startMS returns the start in milliseconds since 1970; 0 if it is unknown.
func (r Recording) startMS() int64 {
	if r.Start.IsZero() {
		return 0
	}
	return r.Start.UnixMilli()
}

// readLog adds the histograms of a log to a recording of counters.
func (r *Recording) readLog(text string, exact [][3]int64) error {
	r.Width, r.Response, r.Service, r.Labels = r.width(), map[Class]Histogram{}, map[Class]Histogram{}, map[string]Label{}
	lag, series := map[Class]Histogram{}, map[int]map[Class]Histogram{}
	for i, s := range r.Series {
		if s.At < 0 || s.At >= maxSeconds/int(r.Width/time.Second) || i > 0 && s.At <= r.Series[i-1].At {
			return fmt.Errorf("interval %d is out of order or beyond %d s", s.At, maxSeconds)
		}
		series[s.At] = map[Class]Histogram{}
		r.Series[i].Response = series[s.At]
	}
	log := hdr.NewHistogramLogReader(strings.NewReader(text))
	budget := maxBuckets
	for n := 0; ; n++ {
		read, err := log.NextIntervalHistogram()
		if err != nil {
			return fmt.Errorf("histogram %d: %w", n+1, err)
		}
		if read == nil || n >= len(exact) {
			if read != nil || n < len(exact) {
				return fmt.Errorf("the log has more or less than %d histograms", len(exact))
			}
			r.Lag = lag[""]
			return nil
		}
		word, rest, _ := strings.Cut(read.Tag(), ".")
		class, name, _ := strings.Cut(rest, ".")
		name, err = url.QueryUnescape(name)
		at := math.Round(float64(read.StartTimeMs()-r.startMS()) / float64(r.Width.Milliseconds()))
		to, figures := map[Class]Histogram(nil), wholeFigures
		switch {
		case err != nil || word != lagTag && !slices.Contains(classes[:], Class(class)):
		case word == responseTag:
			to = r.Response
		case word == serviceTag:
			to = r.Service
		case word == lagTag:
			to = lag
		case word == labelTag:
			if r.Labels[name] == nil {
				r.Labels[name] = Label{}
			}
			to = r.Labels[name]
		case word == intervalTag:
			to, figures = series[int(at)], intervalFigures
		}
		if _, twice := to[Class(class)]; to == nil || twice {
			return fmt.Errorf("histogram %d, tagged %q, is unknown or there twice", n+1, read.Tag())
		}
		h, err := histogramOf(read, figures, exact[n])
		if err != nil {
			return fmt.Errorf("histogram %s: %w", read.Tag(), err)
		}
		if budget -= int(h.buckets.Populated()); budget < 0 {
			return fmt.Errorf("more than %d buckets in all histograms", maxBuckets)
		}
		to[Class(class)] = h
	}
}

// histogramOf returns a histogram of our own range and precision with its exact values,
// which must be within the outermost buckets.
func histogramOf(read *hdr.Histogram, figures int, exact [3]int64) (Histogram, error) {
	h := Histogram{buckets: newBuckets(figures), count: read.TotalCount(), min: time.Duration(exact[0]), max: time.Duration(exact[1]), clipped: exact[2]}
	if read.LowestTrackableValue() != int64(Shortest) || read.HighestTrackableValue() != int64(Longest) || read.SignificantFigures() != int64(figures) {
		return h, fmt.Errorf("unsupported buckets: want %s to %s with %d significant figures", Shortest, Longest, figures)
	}
	outer := newBuckets(figures)
	if h.buckets.MergeFrom(read) != 0 || h.count < 1 || h.count > maxCount || outer.RecordValue(exact[0]) != nil || outer.RecordValue(exact[1]) != nil ||
		h.max > Longest || outer.Min() != h.buckets.Min() || outer.Max() != h.buckets.Max() || h.clipped < 0 || h.clipped > h.buckets.CountAtValue(int64(Longest)) {
		return h, fmt.Errorf("its %d durations do not lie between %s and %s", h.count, h.min, h.max)
	}
	return h, nil
}

// check returns an error if counts that were read contradict each other or exceed their
// bounds.
func (r Recording) check() error {
	var wrong error
	total := func(what string, most int64, counts []int64) (sum int64) {
		for _, n := range counts {
			if n < 0 || n > most-sum {
				wrong = fmt.Errorf("%s: %d is negative or raises the total above %d", what, n, most)
				return 0
			}
			sum += n
		}
		return sum
	}
	equal := func(what string, got, want int64) {
		if got != want && wrong == nil {
			wrong = fmt.Errorf("%d %s, but %d requests sent", got, what, want)
		}
	}
	var done, bytes, other []int64
	inSeries := map[Class][]int64{}
	for _, s := range r.Series {
		done, bytes, other = append(done, s.Done), append(bytes, s.Bytes), append(other, s.Limited, s.Failed, s.Done-s.Limited-s.Failed)
		for c, h := range s.Response {
			inSeries[c] = append(inSeries[c], h.count)
		}
	}
	var ended []int64
	for _, c := range classes {
		var labels []int64
		for _, l := range r.Labels {
			labels = append(labels, l[c].count)
		}
		n := r.Count(c)
		ended = append(ended, n)
		equal(string(c)+" service times", r.Service[c].count, n)
		equal(string(c)+" response times by label", total("labels", maxCount, labels), n)
		equal(string(c)+" response times by interval", total("intervals", maxCount, inSeries[c]), n)
	}
	for status := range r.Statuses {
		if status < 0 || status > maxStatus {
			wrong = fmt.Errorf("status %d: want 0 to %d", status, maxStatus)
		}
	}
	for word, n := range r.Failures {
		if failureWord(word) != word || n < 0 || n > r.Count(Failed) {
			wrong = fmt.Errorf("%d failures of the kind %q, but %d failed requests", n, word, r.Count(Failed))
		}
	}
	for _, t := range []Third{r.First, r.Last} {
		most := float64(r.Count(Accepted)) * Longest.Seconds()
		if t.Count < 0 || t.Count > r.Count(Accepted) || t.Took < 0 || t.Took > most || t.Squares < 0 || t.Squares > most*Longest.Seconds() {
			wrong = fmt.Errorf("the sums of a third of the phase are out of bounds: %+v", t)
		}
	}
	if r.Planned < 0 || r.Planned > maxCount || r.Rate < 0 || r.Rate > float64(maxCount) || max(len(r.Asked), len(r.SentIn)) > maxSeconds {
		wrong = fmt.Errorf("%d requests planned at %v/s in %d s: out of bounds", r.Planned, r.Rate, max(len(r.Asked), len(r.SentIn)))
	}
	total("bytes", maxBytes, bytes)
	total("requests asked by second", maxCount, r.Asked)
	total("requests by class and interval", maxCount, other)
	equal("response times", total("response times", maxCount, ended), r.Sent)
	equal("send lags", r.Lag.count, r.Sent)
	equal("responses by status", total("statuses", maxCount, slices.Collect(maps.Values(r.Statuses))), r.Sent)
	equal("requests by second", total("sent by second", maxCount, r.SentIn), r.Sent)
	equal("requests done by interval", total("done", maxCount, done), r.Sent)
	return wrong
}
