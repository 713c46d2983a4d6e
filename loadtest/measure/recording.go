// Package measure holds what a load run plans and measures. A Schedule says when each
// request is due, and thresholds bound the figures. Samples go into a Recorder
// and a Recording comes out. Recordings of the shards of one plan merge into
// the Recording that one process would have made, bucket by bucket.
//
// Three times are kept apart. Response time counts from the moment a request
// was due, so a server that stalls is charged for the requests that had to
// wait. Service time counts from the moment it was sent. Send lag is the
// difference: the generator's own delay. Accepted, limited and failed answers
// have separate histograms. Figures of the accepted ones also cover the failed requests
// that took longer than the figure, with the time that they took as a lower bound. Every
// quantile comes with the interval that the sample supports (see estimate.go).
//
// The package is pure: no clock, no network. It is the only user of hdrhistogram-go. Within
// this module it imports small helpers and the results model.
package measure

import (
	"maps"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/reports/load"
)

// Recording holds the measurements of a phase. It never changes.
type Recording struct {
	Counters
	histograms map[key]*Histogram
	Width      time.Duration // of each item of Series: whole seconds

	// Known from the fields above:
	Sent, Bytes int64 // requests, and bytes of responses' bodies
	Response    Label
	Service     map[Class]Histogram // from the send time
	Lag         Histogram           // of every request sent
	Labels      map[string]Label
	Series      []Interval // those in which something was due, sent or done
	asked       []int64    // requests due in each second
}

// Counters are what a Recording holds beside its histograms.
type Counters struct {
	Name     string           // of the phase
	Start    time.Time        // all times count from here; the same for all shards
	Plan     Schedule         // of this process; a closed loop has no rate
	Statuses map[int]int64    // 0: no answer
	Failures map[string]int64 // by Failure word
	Seconds  []load.Interval  // what was sent and done in each second
}

// key identifies a histogram of a Recording.
type key struct {
	Kind  string
	Class Class  `json:",omitempty"` // empty for the lag
	Label string `json:",omitempty"`
	At    int    `json:",omitempty"` // the interval
}

// The kinds of histograms. Those of a label, an interval and a third hold response times.
const (
	serviceKind  = "service"
	lagKind      = "lag"
	labelKind    = "label"
	intervalKind = "interval" // of the requests due in one interval
	firstKind    = "first"    // accepted requests due in the first third of a phase of one rate
	lastKind     = "last"
)

// Label holds response times, from the due time.
type Label map[Class]Histogram

// Count returns the number of requests of the class.
func (l Label) Count(c Class) int64 { return l[c].Count() }

// Interval is a part of a phase, as long as the recording's Width.
type Interval struct {
	load.Interval // its counts

	// Response holds the response times of the requests due in this interval,
	// with two significant figures. A stall shows where it began.
	Response Label
}

func newRecording(name string, start time.Time, plan Schedule) Recording {
	r := Recording{Counters: Counters{Name: name, Start: start, Plan: plan, Statuses: map[int]int64{}, Failures: map[string]int64{}}}
	return r.empty()
}

// empty returns r with no histograms.
func (r Recording) empty() Recording {
	r.histograms, r.asked, r.Width = map[key]*Histogram{}, r.Plan.perSecond(), width(r.Duration())
	return r
}

// histogram returns the histogram of the key, a new one if there is none.
func (r *Recording) histogram(k key) *Histogram {
	h := r.histograms[k]
	if h == nil {
		h = &Histogram{buckets: newBuckets(k.figures())}
		r.histograms[k] = h
	}
	return h
}

func (k key) figures() int {
	if k.Kind == intervalKind {
		return intervalFigures
	}
	return wholeFigures
}

// The plan of the recording.

// Planned returns how many requests were due. A closed loop has no plan beyond what it sent.
func (r Recording) Planned() int64 {
	if r.ClosedLoop() {
		return r.Sent
	}
	return r.Plan.Planned()
}

// Duration returns the length of the plan.
func (r Recording) Duration() time.Duration { return r.Plan.Duration() }

// Rate returns the rate of the whole plan in requests per second; 0 if it varies.
func (r Recording) Rate() float64 {
	rate := 0.0
	for _, g := range r.Plan.Segments {
		if rate > 0 && g.Rate > 0 && g.Rate != rate {
			return 0
		}
		rate = max(rate, g.Rate)
	}
	return rate
}

// ClosedLoop reports whether the phase had no schedule: each request followed the previous
// answer. Due then equals Sent, and nothing can be dropped.
func (r Recording) ClosedLoop() bool { return r.Plan.Planned() == 0 }

// Count returns the number of requests of the class.
func (r Recording) Count(c Class) int64 { return r.Response.Count(c) }

// Dropped returns how many planned requests were never sent.
func (r Recording) Dropped() int64 { return max(r.Planned()-r.Sent, 0) }

// LabelNames returns the sorted labels.
func (r Recording) LabelNames() []string { return slices.Sorted(maps.Keys(r.Labels)) }

// Label returns the breakdown for the label, or for all requests if it is empty. If no
// request has it, the result covers all labels that begin with it and a space: an
// operation stands for its pages of every size.
func (r Recording) Label(name string) Label {
	if name == "" {
		return r.Response
	}
	if l, exact := r.Labels[name]; exact {
		return l
	}
	return r.sum(func(label string) bool { return strings.HasPrefix(label, name+" ") })
}

// sum adds up the labels that match.
func (r Recording) sum(match func(string) bool) Label {
	sum := Label{}
	for name, l := range r.Labels {
		for c, h := range l {
			if match(name) {
				sum[c] = sum[c].plus(h)
			}
		}
	}
	return r.link(sum, r.Series)
}

// finished completes a Recording from its histograms and counters.
func (r Recording) finished() Recording {
	r.Service, r.Labels, r.Series = map[Class]Histogram{}, map[string]Label{}, nil
	busy := map[int]bool{}
	for k, h := range r.histograms {
		switch k.Kind {
		case serviceKind:
			r.Service[k.Class] = *h
		case lagKind:
			r.Lag = *h
		case labelKind:
			if r.Labels[k.Label] == nil {
				r.Labels[k.Label] = Label{}
			}
			r.Labels[k.Label][k.Class] = *h
		case intervalKind:
			busy[k.At] = true
		}
	}
	for i, s := range r.Seconds {
		if s.Sent+s.Done > 0 {
			busy[r.intervalOf(i)] = true
		}
	}
	for i, n := range r.asked {
		if n > 0 {
			busy[r.intervalOf(i)] = true
		}
	}
	for _, at := range slices.Sorted(maps.Keys(busy)) {
		s := r.interval(at)
		r.Sent, r.Bytes, r.Series = r.Sent+s.Sent, r.Bytes+s.BytesReceived, append(r.Series, s)
	}
	r.Response = r.sum(func(string) bool { return true })
	for _, l := range r.Labels {
		r.link(l, r.Series)
	}
	r.link(r.Service, r.Series)
	return r
}

// link connects the histograms of the accepted requests with those of the failed ones, and
// all with the intervals, which show how correlated the requests are.
func (r Recording) link(of Label, series []Interval) Label {
	for c, h := range of {
		h.class, h.series, h.beyond = c, series, Longest
		of[c] = h
	}
	if failed := of[Failed]; failed.Count() > 0 {
		h := of[Accepted]
		h.class, h.series, h.failed = Accepted, series, &failed
		if longest := r.histograms[key{Kind: serviceKind, Class: Accepted}]; longest != nil {
			h.longest = longest.Max()
		}
		of[Accepted] = h
	}
	return of
}

// interval returns an interval.
func (r Recording) interval(at int) Interval {
	each := int(r.Width / time.Second)
	s := Interval{load.Interval{T: int64(at * each)}, Label{}}
	for i := at * each; i < (at+1)*each; i++ {
		if i < len(r.asked) {
			s.Asked += r.asked[i]
		}
		if i < len(r.Seconds) {
			add(&s.Interval, r.Seconds[i])
		}
	}
	for _, c := range classes {
		if h := r.histograms[key{Kind: intervalKind, Class: c, At: at}]; h != nil {
			s.Response[c] = *h
		}
	}
	r.link(s.Response, nil)
	return s
}

// intervalOf returns the interval of a second.
func (r Recording) intervalOf(second int) int { return second / int(r.Width/time.Second) }

func add(to *load.Interval, s load.Interval) {
	to.Sent += s.Sent
	to.Done += s.Done
	to.Accepted += s.Accepted
	to.Limited += s.Limited
	to.Failed += s.Failed
	to.BytesReceived += s.BytesReceived
}

// Begins returns when the interval begins.
func (s Interval) Begins() time.Duration { return time.Duration(s.T) * time.Second }

// mostIntervals limits the intervals of a phase, and so the memory that a long phase
// takes: half an hour has intervals of a second, 8 hours have intervals of 20 s.
const mostIntervals = 1800

// width returns the length of the intervals in which a phase is recorded.
func width(lasts time.Duration) time.Duration {
	for _, w := range []time.Duration{1, 2, 5, 10, 20, 30, 60, 120, 300} {
		if lasts <= mostIntervals*w*time.Second {
			return w * time.Second
		}
	}
	return 10 * time.Minute // enough for the longest schedule
}
