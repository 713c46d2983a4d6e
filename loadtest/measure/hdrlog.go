package measure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
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

// file holds a Recording as JSON of its counters and an HdrHistogram log, so that the
// recordings of several processes can be merged.
type file struct {
	Counters
	Log string
}

// MarshalJSON writes the recording as UnmarshalJSON reads it: nothing is lost.
func (r Recording) MarshalJSON() ([]byte, error) {
	var log bytes.Buffer
	if err := r.WriteHDRLog(&log); err != nil {
		return nil, err
	}
	return json.Marshal(file{r.Counters, log.String()})
}

// UnmarshalJSON reads the output of MarshalJSON. Unknown keys, contradictory counts and a
// plan out of bounds are errors.
func (r *Recording) UnmarshalJSON(data []byte) error {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	var f file
	if err := strict.Decode(&f); err != nil {
		return err
	}
	if err := f.Plan.Validate(); err != nil {
		return fmt.Errorf("phase %q: %w", f.Name, err)
	}
	got := Recording{Counters: f.Counters}.empty()
	err := got.readLog(f.Log)
	if err == nil {
		*r = got.finished()
		err = r.check()
	}
	if err != nil {
		return fmt.Errorf("phase %q: %w", f.Name, err)
	}
	return nil
}

// tag returns the tag of a histogram in a log.
func (k key) tag() string {
	switch k.kind {
	case lagKind:
		return k.kind
	case labelKind:
		return k.kind + "." + string(k.class) + "." + url.QueryEscape(k.label)
	default:
		return k.kind + "." + string(k.class)
	}
}

// keyOf returns the key of a histogram with the tag.
func keyOf(tag string) (k key, ok bool) {
	parts := strings.SplitN(tag, ".", 3)
	label, err := url.QueryUnescape(strings.Join(parts[min(len(parts), 2):], ""))
	k = key{kind: parts[0], label: label}
	if len(parts) > 1 {
		k.class = Class(parts[1])
	}
	known := []string{serviceKind, lagKind, labelKind, intervalKind, firstKind, lastKind, responseKind}
	return k, err == nil && slices.Contains(known, k.kind) && (k.kind == lagKind) == !slices.Contains(classes[:], k.class) && k.tag() == tag
}

// WriteHDRLog writes the histograms as an HdrHistogram log (.hlog). Lines tagged
// response.accepted, service.accepted, lag, label.accepted.campaigns.list and so on span
// the whole phase, and first.accepted and last.accepted a third of it. Lines tagged
// interval.accepted and so on span one interval each and hold response times by the due
// time, with two significant figures. Values are nanoseconds, maxima milliseconds.
func (r Recording) WriteHDRLog(w io.Writer) error {
	all := maps.Clone(r.histograms)
	for c, h := range r.Response {
		all[key{kind: responseKind, class: c}] = &h
	}
	log := hdr.NewHistogramLogWriter(w)
	start := r.startMS()
	base := start - start%1000 // the log's header has whole seconds only
	log.SetBaseTime(base)
	err := cmp.Or(log.OutputComment(fmt.Sprintf("[phase %q, response times from the due time, in nanoseconds]", r.Name)),
		log.OutputLogFormatVersion(), log.OutputBaseTime(base), log.OutputStartTime(base), log.OutputLegend())
	order := func(a, b key) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tag(), b.tag())) }
	for _, k := range slices.SortedFunc(maps.Keys(all), order) {
		if all[k].Count() == 0 || err != nil {
			continue
		}
		from, lasts := time.Duration(0), r.Duration()
		if k.kind == intervalKind {
			from, lasts = time.Duration(k.at)*r.Width, r.Width
		}
		b := all[k].buckets.Clone() // the tag and the times are the line's, not the histogram's
		b.SetTag(k.tag())
		b.SetStartTimeMs(start + from.Milliseconds())
		b.SetEndTimeMs(start + (from + lasts).Milliseconds())
		err = log.OutputIntervalPackedHistogram(b)
	}
	if err != nil {
		return fmt.Errorf("measure: HDR log of phase %q: %w", r.Name, err)
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

// readLog adds the histograms of a log.
func (r *Recording) readLog(text string) error {
	log := hdr.NewHistogramLogReader(strings.NewReader(text))
	for {
		read, err := log.NextIntervalHistogram()
		if err != nil || read == nil {
			return err
		}
		k, ok := keyOf(read.Tag())
		if k.kind == intervalKind {
			k.at = int(math.Round(float64(read.StartTimeMs()-r.startMS()) / float64(r.Width.Milliseconds())))
		}
		if !ok || r.histograms[k] != nil || k.at < 0 || k.at > r.intervalOf(maxSeconds) {
			return fmt.Errorf("the histogram tagged %q is unknown or there twice", read.Tag())
		}
		if read.LowestTrackableValue() != int64(Shortest) || read.HighestTrackableValue() != int64(Longest) || read.SignificantFigures() != int64(k.figures()) {
			return fmt.Errorf("the histogram tagged %q has unsupported buckets", read.Tag())
		}
		if k.kind != responseKind {
			r.histogram(k).buckets.MergeFrom(read)
		}
	}
}

// check returns an error if counts that were read contradict each other.
func (r Recording) check() error {
	var statuses, sent, done, negative int64
	count := func(sum *int64, n int64) { *sum, negative = *sum+n, min(negative, n) }
	for _, n := range r.Statuses {
		count(&statuses, n)
	}
	for word, n := range r.Failures {
		if count(new(int64), n); failureWord(word) != word {
			return fmt.Errorf("unknown failure %q", word)
		}
	}
	for _, s := range r.Seconds {
		count(&sent, s.Sent)
		count(&done, s.Done)
		negative = min(negative, s.Limited, s.Failed, s.Done-s.Limited-s.Failed, s.Bytes)
	}
	kinds := map[string]int64{"statuses": statuses, "requests sent by second": sent, "requests done by second": done, serviceKind: 0, labelKind: 0, intervalKind: 0}
	for k, h := range r.histograms {
		if _, summed := kinds[k.kind]; summed {
			kinds[k.kind] += h.Count()
		}
	}
	for what, n := range kinds {
		if n != r.Lag.Count() {
			return fmt.Errorf("%s: %d, but %d send lags", what, n, r.Lag.Count())
		}
	}
	if negative < 0 {
		return errors.New("a count is negative")
	}
	return nil
}
