package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Limits of a recording file: far more than a week of load needs, and small
// enough that no file exhausts memory or overflows a sum.
const (
	MaxEncoded = 256 << 20 // bytes
	maxCount   = int64(1e14)
	maxBytes   = int64(1) << 49
	maxShards  = 10_000
	maxName    = 1_000    // bytes of a phase's name, and of a label's
	maxBuckets = 32 << 20 // of all histograms together
)

// UnmarshalJSON reads the output of MarshalJSON. It does not trust the input:
// unknown keys, contradictory counts and sizes out of bounds are errors.
func (r *Recording) UnmarshalJSON(data []byte) error {
	if len(data) > MaxEncoded {
		return fmt.Errorf("longer than %d bytes", MaxEncoded)
	}
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	var w wire
	if err := strict.Decode(&w); err != nil {
		return err
	}
	if w.Format != format {
		return fmt.Errorf("format is %q: want %q", w.Format, format)
	}
	d := decoder{buckets: maxBuckets}
	got, err := d.recording(w)
	if err != nil {
		return err
	}
	if err := got.consistent(); err != nil {
		return err
	}
	*r = got.linked()
	return nil
}

// decoder converts the wire format within a budget of buckets, because a few
// bytes of a compressed histogram can stand for many buckets.
type decoder struct{ buckets int }

func (d *decoder) histogram(w *wireHistogram, figures int) (Histogram, error) {
	if w == nil {
		return Histogram{}, nil
	}
	h, err := histogramOf(*w, figures)
	if err != nil {
		return h, err
	}
	if d.buckets -= int(h.buckets.Populated()); d.buckets < 0 {
		return h, fmt.Errorf("more than %d buckets in all", maxBuckets)
	}
	return h, nil
}

func (d *decoder) classes(of map[Class]wireHistogram, figures int) (map[Class]Histogram, error) {
	out := make(map[Class]Histogram, len(of))
	for c, w := range of {
		if index(c) < 0 {
			return nil, fmt.Errorf("unknown class %q: want one of %v", c, classes)
		}
		h, err := d.histogram(&w, figures)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
		out[c] = h
	}
	return out, nil
}

func (d *decoder) recording(w wire) (Recording, error) {
	if len(w.SentIn) > maxSeconds || len(w.Plan.Asked) > maxSeconds {
		return Recording{}, fmt.Errorf("more than %d seconds", maxSeconds)
	}
	r := Recording{SentIn: w.SentIn, Sent: w.Sent, Bytes: w.Bytes, Statuses: filled(w.Statuses), Failures: filled(w.Failures), Labels: map[string]Label{}}
	if w.First != nil {
		r.First = Third(*w.First)
	}
	if w.Last != nil {
		r.Last = Third(*w.Last)
	}
	var err error
	if r.Plan, err = w.Plan.plan(); err != nil {
		return r, fmt.Errorf("plan: %w", err)
	}
	if r.Width = r.width(); w.Width != r.Width {
		return r, fmt.Errorf("intervals of %s: want %s", w.Width, r.Width)
	}
	if r.Response, err = d.classes(w.Response, wholeFigures); err != nil {
		return r, fmt.Errorf("response: %w", err)
	}
	if r.Service, err = d.classes(w.Service, wholeFigures); err != nil {
		return r, fmt.Errorf("service: %w", err)
	}
	if r.Lag, err = d.histogram(w.Lag, wholeFigures); err != nil {
		return r, fmt.Errorf("lag: %w", err)
	}
	for name, l := range w.Labels {
		if len(name) > maxName {
			return r, fmt.Errorf("a label of %d bytes: want at most %d", len(name), maxName)
		}
		if r.Labels[name], err = d.classes(l, wholeFigures); err != nil {
			return r, fmt.Errorf("label %q: %w", name, err)
		}
	}
	for i, s := range w.Series {
		if s.At < 0 || s.At >= maxSeconds/int(r.Width/time.Second) || i > 0 && s.At <= w.Series[i-1].At {
			return r, fmt.Errorf("interval %d is out of order or beyond %d s", s.At, maxSeconds)
		}
	}
	asked, sent := func(i int) int64 { return nth(r.Asked, i) }, func(i int) int64 { return nth(r.SentIn, i) }
	for _, s := range w.Series {
		response, err := d.classes(s.Response, intervalFigures)
		if err != nil {
			return r, fmt.Errorf("interval %d: %w", s.At, err)
		}
		for c, h := range response {
			response[c] = h.seal()
		}
		interval := Interval{At: s.At, Done: s.Done, Bytes: s.Bytes, Statuses: filled(s.Statuses), Response: response}
		r.Series = append(r.Series, interval.counted(r.Width, asked, sent))
	}
	return r, nil
}

func filled[K comparable](m map[K]int64) map[K]int64 {
	if m == nil {
		return map[K]int64{}
	}
	return m
}

func (w wirePlan) plan() (Plan, error) {
	p := Plan{Name: w.Name, Planned: w.Planned, Rate: w.Rate, Duration: w.Duration, Start: w.Start,
		ClosedLoop: w.ClosedLoop, Asked: w.Asked, Shard: Shard{Index: w.Shard, Of: w.Shards}}
	switch {
	case len(p.Name) > maxName:
		return p, fmt.Errorf("a name of %d bytes: want at most %d", len(p.Name), maxName)
	case p.Planned < 0 || p.Planned > maxCount:
		return p, fmt.Errorf("%d requests planned: want 0 to %d", p.Planned, maxCount)
	case p.Rate < 0 || math.IsNaN(p.Rate) || math.IsInf(p.Rate, 0):
		return p, fmt.Errorf("a rate of %v/s", p.Rate)
	case p.Duration < 0 || p.Duration > time.Duration(maxSeconds)*time.Second:
		return p, fmt.Errorf("a duration of %s", p.Duration)
	case p.Shard.Of < 0 || p.Shard.Of > maxShards || p.Shard.Index < 0 || p.Shard.Index >= max(p.Shard.Of, 1):
		return p, fmt.Errorf("there is no shard %d of %d: shards count from 0, at most %d", p.Shard.Index, p.Shard.Of, maxShards)
	}
	return p, nil
}
