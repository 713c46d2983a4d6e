// Package measure holds what a load run measured. Samples go into a Recorder
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
// The package is pure: no clock, no network. It is the only user of
// hdrhistogram-go and imports no other package of this module.
package measure

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Recording holds the measurements of a phase. It never changes.
type Recording struct {
	Plan

	Sent     int64
	Statuses map[int]int64    // 0: no answer
	Failures map[string]int64 // by Failure word
	First    Third            // third of a phase of one rate
	Last     Third
	SentIn   []int64    // requests sent in each second; those due in it are in Asked
	Series   []Interval // those in which something was due, sent or done

	Response map[Class]Histogram `json:"-"` // from the due time
	Service  map[Class]Histogram `json:"-"` // from the send time
	Lag      Histogram           `json:"-"` // of every request sent
	Labels   map[string]Label    `json:"-"`

	// Known from the fields above:
	Bytes int64         `json:"-"` // of answers' bodies
	Width time.Duration `json:"-"` // of each item of Series: whole seconds
}

// Label holds the response times of a Recording for one kind of request.
type Label map[Class]Histogram

// Count returns the number of requests of the class.
func (l Label) Count(c Class) int64 { return l[c].Count() }

// Interval is a part of a phase, as long as the recording's Width. A request counts as
// asked in the interval in which it was due, as sent in the one in which it was sent, and
// as done in the one in which its answer was complete.
type Interval struct {
	At      int   // the interval, from 0
	Asked   int64 `json:"-"`
	Sent    int64 `json:"-"`
	Done    int64
	Limited int64 `json:",omitempty"` // of those done
	Failed  int64 `json:",omitempty"` // of those done
	Bytes   int64 // of those done

	// Response holds the response times of the requests due in this interval,
	// with two significant figures. A stall shows where it began.
	Response map[Class]Histogram `json:"-"`
}

// Count returns the number of requests of the class.
func (r Recording) Count(c Class) int64 { return r.Response[c].Count() }

// Dropped returns how many planned requests were never sent.
func (r Recording) Dropped() int64 {
	if r.ClosedLoop {
		return 0
	}
	return max(r.Planned-r.Sent, 0)
}

// LagLimit returns the send lag above which a request is late: 1 ms, or 5 % of
// the median response time of the accepted requests if that is more. The p99 of
// the lag of a good run stays below it.
func (r Recording) LagLimit() time.Duration {
	const least, share = time.Millisecond, 20
	return max(least, r.Response[Accepted].value(0.5)/share)
}

// Late returns how many requests were sent more than LagLimit after they were
// due.
func (r Recording) Late() int64 { return r.Lag.Above(r.LagLimit()) }

// LabelNames returns the sorted labels.
func (r Recording) LabelNames() []string { return slices.Sorted(maps.Keys(r.Labels)) }

// Label returns the breakdown for the label, or for all requests if it is empty. If no
// request has it, the result covers all labels that begin with it and a space: an
// operation stands for its pages of every size.
func (r Recording) Label(name string) Label {
	if l, exact := r.Labels[name]; exact {
		return l
	}
	if name == "" {
		return r.Response
	}
	sum := Label{}
	for _, label := range r.LabelNames() {
		if strings.HasPrefix(label, name+" ") {
			sum = mergedClasses(sum, r.Labels[label])
		}
	}
	return link(sum, r.Service, map[Class]*intervals{Accepted: r.Response[Accepted].intervals})
}

// finished completes a Recording: the intervals in which nothing was done but something
// was asked or sent, sums, and links. Quantiles need the intervals to estimate
// correlation, and accepted requests the failed ones.
func (r Recording) finished() Recording {
	r.Series, r.Bytes = r.filled(), 0
	for i := range r.Series {
		s := &r.Series[i]
		r.count(s)
		r.Bytes += s.Bytes
		link(s.Response, r.Service, nil)
	}
	series := map[Class]*intervals{}
	for _, c := range classes {
		series[c] = intervalsOf(r.Series, c)
	}
	for _, l := range r.Labels {
		link(l, r.Service, series)
	}
	link(r.Response, r.Service, series)
	link(r.Service, r.Service, series)
	return r
}

// filled returns the series with the intervals in which something was only asked or sent.
func (r Recording) filled() []Interval {
	there := map[int]bool{}
	for _, s := range r.Series {
		there[s.At] = true
	}
	series := slices.Clone(r.Series)
	for i, asked := range addedAt(slices.Clone(r.Asked), 0, r.SentIn) {
		if at := i / int(r.Width/time.Second); asked > 0 && !there[at] {
			there[at] = true
			series = append(series, Interval{At: at, Response: map[Class]Histogram{}})
		}
	}
	slices.SortFunc(series, func(a, b Interval) int { return a.At - b.At })
	return series
}

func link(of, service map[Class]Histogram, series map[Class]*intervals) map[Class]Histogram {
	for c, h := range of {
		h.intervals = series[c]
		of[c] = h
	}
	if failed := of[Failed]; failed.count > 0 {
		h := of[Accepted]
		h.intervals, h.failed, h.longest = series[Accepted], &failed, service[Accepted].max
		of[Accepted] = h
	}
	return of
}

// Plan describes what a phase intends to send.
type Plan struct {
	Name     string        // of the phase
	Planned  int64         // requests of this process: its shard's share of the plan
	Rate     float64       // requests per second of the whole plan; 0 if it varies
	Duration time.Duration // of the whole plan
	Start    time.Time     // all times count from here; the same for all shards

	// ClosedLoop marks a phase without a schedule: each request follows the
	// previous answer. Due equals Sent, and nothing can be dropped.
	ClosedLoop bool

	// Asked holds how many planned requests were due in each second. If empty,
	// Planned is spread evenly over Duration. That of a Recording is never empty,
	// unless nothing was planned.
	Asked []int64
}

// Shard is one part of a plan that several processes share. The zero value is
// the whole plan.
type Shard struct {
	Index int // from 0
	Of    int // number of shards; 0 means the whole plan
}

// bySecond returns how many requests were due in each second.
func (p Plan) bySecond() []int64 {
	if len(p.Asked) > 0 || p.Planned == 0 {
		return p.Asked
	}
	asked := make([]int64, p.seconds())
	var before int64
	for i := range asked {
		until := p.Planned // by the end of the second
		if i < len(asked)-1 {
			until = int64(float64(p.Planned) * float64(i+1) / p.Duration.Seconds())
		}
		asked[i], before = until-before, until
	}
	return asked
}

// nth returns value i, or 0 beyond the end.
func nth(values []int64, i int) int64 {
	if i < len(values) {
		return values[i]
	}
	return 0
}

// Begins returns when the interval begins.
func (r Recording) Begins(s Interval) time.Duration { return time.Duration(s.At) * r.Width }

// count sets how many requests were due and sent in the interval.
func (r Recording) count(s *Interval) {
	each := int(r.Width / time.Second)
	s.Asked, s.Sent = 0, 0
	for i := s.At * each; i < (s.At+1)*each; i++ {
		s.Asked += nth(r.Asked, i)
		s.Sent += nth(r.SentIn, i)
	}
}

// seconds returns the length of the plan in seconds, rounded up.
func (p Plan) seconds() int { return int((p.Duration + time.Second - 1) / time.Second) }

// mostIntervals limits the intervals of a phase, and so the memory that a long phase
// takes: half an hour has intervals of a second, 8 hours have intervals of 20 s.
const mostIntervals = 1800

// widths are the lengths of intervals, in seconds. The last is enough for maxSeconds.
var widths = [...]int{1, 2, 5, 10, 20, 30, 60, 120, 300, 600}

// width returns the length of the intervals in which the plan is recorded.
func (p Plan) width() time.Duration {
	for _, w := range widths {
		if p.seconds() <= mostIntervals*w {
			return time.Duration(w) * time.Second
		}
	}
	return time.Duration(widths[len(widths)-1]) * time.Second
}

// Class is how a request ended.
type Class string

// The classes. Every sample has exactly one.
const (
	Accepted Class = "accepted" // a whole answer with a 2xx status
	Limited  Class = "limited"  // a whole answer with status 429
	Failed   Class = "failed"   // any other answer, part of one, or none
)

var classes = [...]Class{Accepted, Limited, Failed}

// The reasons for a missing or incomplete answer. A Recorder counts any other
// word as FailureOther.
const (
	FailureTimeout    = "timeout"     // the generator gave up waiting
	FailureRefused    = "refused"     // no connection could be made
	FailureReset      = "reset"       // the connection broke
	FailureTooLong    = "too long"    // the body exceeds the limit
	FailureLongHeader = "long header" // the header exceeds the limit
	FailureOther      = "other"
)

// Sample is one request of a phase. Times count from the phase's start.
type Sample struct {
	Seq     uint64        // place in the schedule
	Label   string        // kind of request, e.g. "campaigns.list limit=100": the unit of the breakdown
	Due     time.Duration // when the schedule wanted it sent
	Sent    time.Duration // when it was sent
	Done    time.Duration // when the last byte arrived or the request failed
	Status  int           // 0: no answer
	Bytes   int64         // of the answer's body
	Failure string        // one of the Failure words; empty for a whole answer
}

// Class returns how the request ended.
func (s Sample) Class() Class {
	switch {
	case s.Failure != "":
		return Failed
	case s.Status >= 200 && s.Status <= 299:
		return Accepted
	case s.Status == 429:
		return Limited
	default:
		return Failed
	}
}

// Lag returns how late the request was sent: the generator's delay.
func (s Sample) Lag() time.Duration { return s.Sent - s.Due }

// Service returns the time from sending to the last byte of the answer.
func (s Sample) Service() time.Duration { return s.Done - s.Sent }

// Response returns the time from the moment the request was due to the last
// byte of the answer: what a user experiences at a fixed rate.
func (s Sample) Response() time.Duration { return s.Done - s.Due }
