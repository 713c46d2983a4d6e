package measure

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"outreach.example/conformance/reports/load"
)

// Merge returns the Recording that one process running all shards would have
// made. It is exact: the same buckets with counts added. The order of the parts
// does not matter. There must be at least one; different plans are an error.
func Merge(parts ...Recording) (Recording, error) {
	first := parts[0]
	sum := newRecording(first.Name, first.Start, Schedule{Segments: first.Plan.Segments})
	for _, p := range parts {
		if p.Name != first.Name || !slices.Equal(p.Plan.Segments, first.Plan.Segments) {
			return Recording{}, fmt.Errorf("the shards had different plans: phase %s at %v/s for %s and phase %s at %v/s for %s",
				first.Name, first.Rate(), first.Duration(), p.Name, p.Rate(), p.Duration())
		}
		sum.join(p, 0)
	}
	return sum.finished(), nil
}

// InTurn returns the Recording of one phase made of consecutive pieces with the
// same rate and length. Its intervals are those of the pieces, one after the other, and
// pauses separate them.
func InTurn(pieces ...Recording) Recording {
	sum := newRecording(pieces[0].Name, pieces[0].Start, Schedule{})
	sum.Width = pieces[0].Width
	at := 0
	for _, p := range pieces {
		sum.join(p, at)
		next := at + int((p.Duration()+p.Width-1)/p.Width)
		if n := len(p.Series); n > 0 {
			next = max(next, at+p.intervalOf(int(p.Series[n-1].T))+1)
		}
		pause := time.Duration(next-at)*p.Width - p.Duration()
		sum.Plan.Segments = append(append(sum.Plan.Segments, p.Plan.Segments...), Segment{Duration: pause})
		at = next
	}
	sum.asked = sum.Plan.perSecond()
	maps.DeleteFunc(sum.histograms, func(k key, _ *Histogram) bool { return k.Kind == firstKind || k.Kind == lastKind })
	return sum.finished()
}

// join adds p, which began at an interval of r.
func (r *Recording) join(p Recording, at int) {
	for k, h := range p.histograms {
		if k.Kind == intervalKind {
			k.At += at
		}
		r.histogram(k).buckets.Merge(h.buckets)
	}
	began := at * int(r.Width/time.Second)
	if missing := began + len(p.Seconds) - len(r.Seconds); missing > 0 {
		r.Seconds = append(r.Seconds, make([]load.Interval, missing)...)
	}
	for i, s := range p.Seconds {
		add(&r.Seconds[began+i], s)
	}
	for status, n := range p.Statuses {
		r.Statuses[status] += n
	}
	for word, n := range p.Failures {
		r.Failures[word] += n
	}
}
