package measure

import (
	"time"

	"outreach.example/conformance/reports/load"
)

// maxSeconds bounds the seconds of a Recording. Later ones count as the last.
const maxSeconds = int((MaxDuration + Longest) / time.Second)

// Recorder collects the samples of a phase. It is not safe for concurrent use.
type Recorder struct {
	rec   Recording
	first time.Duration // end of the first third of a phase of one rate; 0 of others
	last  time.Duration // beginning of the last third
}

// NewRecorder returns a Recorder for a phase. A plan without a rate means a closed loop.
func NewRecorder(name string, start time.Time, plan Schedule) *Recorder {
	r := &Recorder{rec: newRecording(name, start, plan)}
	if r.rec.Rate() > 0 {
		r.first = plan.Duration() / 3
		r.last = plan.Duration() - r.first
	}
	return r
}

// Add records one request. Samples may come in any order. Times below 0 count
// as 0, times above Longest as Longest.
func (r *Recorder) Add(s Sample) {
	class, response := s.Class(), s.Response()
	r.rec.Statuses[s.Status]++
	if s.Failure != "" {
		r.rec.Failures[failureWord(s.Failure)]++
	}
	r.add(key{Kind: serviceKind, Class: class}, s.Done-s.Sent)
	r.add(key{Kind: lagKind}, s.Sent-s.Due)
	r.add(key{Kind: labelKind, Class: class, Label: s.Label}, response)
	r.add(key{Kind: intervalKind, Class: class, At: r.rec.intervalOf(second(s.Due))}, response)
	switch {
	case class != Accepted || r.first == 0:
	case s.Due < r.first:
		r.add(key{Kind: firstKind, Class: class}, response)
	case s.Due >= r.last:
		r.add(key{Kind: lastKind, Class: class}, response)
	}
	r.second(s.Sent).Sent++
	done := r.second(s.Done)
	done.Done++
	done.BytesReceived += max(s.Bytes, 0)
	switch class {
	case Accepted:
		done.Accepted++
	case Limited:
		done.Limited++
	case Failed:
		done.Failed++
	}
}

func (r *Recorder) add(k key, d time.Duration) { r.rec.histogram(k).add(d) }

// second returns the second that the time falls into, from 0.
func second(t time.Duration) int {
	return int(min(max(t, 0)/time.Second, time.Duration(maxSeconds-1)))
}

// second returns the counters of the time.
func (r *Recorder) second(t time.Duration) *load.Interval {
	i := second(t)
	for len(r.rec.Seconds) <= i {
		r.rec.Seconds = append(r.rec.Seconds, load.Interval{})
	}
	return &r.rec.Seconds[i]
}

// Recording returns what was measured. The Recorder records nothing after that.
func (r *Recorder) Recording() Recording { return r.rec.finished() }

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
	l := Live{Planned: r.rec.Planned(), Count: map[Class]int64{}}
	for _, c := range classes {
		if h := r.rec.histograms[key{Kind: serviceKind, Class: c}]; h != nil {
			l.Count[c] = h.Count()
			l.Sent += l.Count[c]
		}
	}
	if h := r.rec.histograms[key{Kind: lagKind}]; h != nil {
		l.Lag = h.Value(0.99)
	}
	if ran < time.Second {
		return l
	}
	l.Last = r.rec.interval(max(0, int(ran/r.rec.Width)-1))
	for c, h := range l.Last.Response {
		l.Last.Response[c] = h.plus(Histogram{}) // the recorder goes on writing to its own
	}
	r.rec.link(l.Last.Response, nil)
	l.Lasted = min(ran-l.Last.Begins(), r.rec.Width).Truncate(time.Second)
	return l
}
