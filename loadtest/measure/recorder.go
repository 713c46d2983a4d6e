package measure

import (
	"maps"
	"slices"
	"time"
)

// Limits of a Recording, whatever the samples are.
const (
	MaxLabels  = 1000 // further labels are counted under OtherLabel
	OtherLabel = "(other)"
	maxStatus  = 999
	maxSeconds = int((7*24*time.Hour + Longest) / time.Second) // later ones count as the last
)

// Recorder collects the samples of a phase. It is not safe for concurrent use.
type Recorder struct {
	rec    Recording
	series map[int]*Interval // those in which something was due or done
}

// NewRecorder returns a Recorder for the plan.
func NewRecorder(p Plan) *Recorder {
	p.Asked = p.bySecond()
	return &Recorder{
		rec: Recording{Plan: p, Width: p.width(), Response: map[Class]Histogram{}, Service: map[Class]Histogram{},
			Statuses: map[int]int64{}, Failures: map[string]int64{}, Labels: map[string]Label{}},
		series: map[int]*Interval{},
	}
}

// Add records one request. Samples may come in any order. Times below 0 count
// as 0, times above Longest as Longest.
func (r *Recorder) Add(s Sample) {
	class := s.Class()
	status := s.Status
	if status < 0 || status > maxStatus {
		status = 0
	}
	r.rec.Sent++
	r.rec.Statuses[status]++
	if s.Failure != "" {
		r.rec.Failures[failureWord(s.Failure)]++
	}
	add(r.rec.Response, class, s.Response(), wholeFigures)
	add(r.rec.Service, class, s.Service(), wholeFigures)
	r.rec.Lag.add(s.Lag(), wholeFigures)
	add(r.label(s.Label), class, s.Response(), wholeFigures)
	if class == Accepted {
		if third := r.third(s.Due); third != nil {
			third.add(s.Response())
		}
	}
	add(r.at(s.Due).Response, class, s.Response(), intervalFigures)
	r.rec.SentIn = addedAt(r.rec.SentIn, second(s.Sent), []int64{1})
	r.at(s.Done).done(class, max(s.Bytes, 0))
}

func add(to map[Class]Histogram, c Class, d time.Duration, figures int) {
	h := to[c]
	h.add(d, figures)
	to[c] = h
}

func (s *Interval) done(c Class, bytes int64) {
	s.Done++
	s.Bytes += bytes
	switch c {
	case Limited:
		s.Limited++
	case Failed:
		s.Failed++
	}
}

func failureWord(w string) string {
	switch w {
	case FailureTimeout, FailureRefused, FailureReset, FailureTooLong, FailureLongHeader:
		return w
	default:
		return FailureOther
	}
}

func (r *Recorder) label(name string) Label {
	if r.rec.Labels[name] == nil && len(r.rec.Labels) >= MaxLabels {
		name = OtherLabel
	}
	if r.rec.Labels[name] == nil {
		r.rec.Labels[name] = Label{}
	}
	return r.rec.Labels[name]
}

// second returns the second that the time falls into, from 0.
func second(t time.Duration) int {
	return int(min(max(t, 0)/time.Second, time.Duration(maxSeconds-1)))
}

// at returns the interval that the time falls into.
func (r *Recorder) at(t time.Duration) *Interval {
	i := second(t) / int(r.rec.Width/time.Second)
	s := r.series[i]
	if s == nil {
		s = &Interval{At: i, Response: map[Class]Histogram{}}
		r.series[i] = s
	}
	return s
}

// Recording returns what was measured. The Recorder records nothing after that.
func (r *Recorder) Recording() Recording {
	r.rec.Series = nil
	for _, i := range slices.Sorted(maps.Keys(r.series)) {
		r.rec.Series = append(r.rec.Series, *r.series[i])
	}
	return r.rec.finished()
}

// Live holds the figures of a live view. They are cheap enough to read many
// times a second.
type Live struct {
	Planned int64
	Sent    int64
	Count   map[Class]int64
	Lag     time.Duration // 99th percentile of the send lag
	Last    Interval      // the last whole interval, or the first; without answers that are still pending
	Lasted  time.Duration // how much of Last has passed
}

// Live returns the figures after the phase has run for the given time.
func (r *Recorder) Live(ran time.Duration) Live {
	l := Live{Planned: r.rec.Planned, Sent: r.rec.Sent, Count: map[Class]int64{}, Lag: r.rec.Lag.Value(0.99)}
	for c, h := range r.rec.Response {
		l.Count[c] = h.count
	}
	if ran < time.Second {
		return l
	}
	l.Last.At = max(0, int(ran/r.rec.Width)-1)
	if s := r.series[l.Last.At]; s != nil {
		l.Last = *s
		l.Last.Response = mergedClasses(s.Response, nil) // a copy
		link(l.Last.Response, r.rec.Service, nil)
	}
	r.rec.count(&l.Last)
	l.Lasted = min(ran-r.rec.Begins(l.Last), r.rec.Width).Truncate(time.Second)
	return l
}
