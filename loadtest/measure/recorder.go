package measure

import (
	"slices"
	"time"
)

// Limits of a Recording, whatever the samples are.
const (
	MaxLabels  = 1000 // further labels are counted under OtherLabel
	OtherLabel = "(other)"
	maxStatus  = 999
	maxSeconds = int((7*24*time.Hour + Longest) / time.Second) // later ones count as the last
	openFor    = time.Minute                                   // an interval is sealed after this time
)

// Recorder collects the samples of a phase. It is not safe for concurrent use.
type Recorder struct {
	plan     Plan
	sent     int64
	bytes    int64
	response byClass
	service  byClass
	lag      Histogram
	statuses [maxStatus + 1]int64
	failures map[string]int64
	labels   map[string]*byClass // response times
	first    Third
	last     Third
	sentIn   []int64 // by second
	width    time.Duration
	series   []*interval // nil if nothing was sent or done in it
}

// byClass holds one histogram for each of Classes.
type byClass [3]Histogram

// index returns the position of a class in Classes.
func index(c Class) int { return slices.Index(classes[:], c) }

// NewRecorder returns a Recorder for the plan.
func NewRecorder(p Plan) *Recorder {
	return &Recorder{plan: p, width: p.width(), failures: map[string]int64{}, labels: map[string]*byClass{}}
}

// Add records one request. Samples may come in any order. Times below 0 count
// as 0, times above Longest as Longest.
func (r *Recorder) Add(s Sample) {
	class := index(s.Class())
	status := s.Status
	if status < 0 || status > maxStatus {
		status = 0
	}
	bytes := max(s.Bytes, 0)

	r.sent++
	r.bytes += bytes
	r.statuses[status]++
	if s.Failure != "" {
		r.failures[failureWord(s.Failure)]++
	}
	r.response[class].add(s.Response(), wholeFigures)
	r.service[class].add(s.Service(), wholeFigures)
	r.lag.add(s.Lag(), wholeFigures)

	r.label(s.Label)[class].add(s.Response(), wholeFigures)
	if s.Class() == Accepted {
		if third := r.third(s.Due); third != nil {
			third.add(s.Response())
		}
	}

	r.at(s.Due).response[class].add(s.Response(), intervalFigures)
	r.countSent(s.Sent)
	done := r.at(s.Done)
	done.done++
	done.bytes += bytes
	done.count(status)
}

func failureWord(w string) string {
	switch w {
	case FailureTimeout, FailureRefused, FailureReset, FailureTooLong, FailureLongHeader:
		return w
	default:
		return FailureOther
	}
}

func (r *Recorder) label(name string) *byClass {
	if l, ok := r.labels[name]; ok {
		return l
	}
	if len(r.labels) >= MaxLabels {
		name = OtherLabel
	}
	l, ok := r.labels[name]
	if !ok {
		l = &byClass{}
		r.labels[name] = l
	}
	return l
}

// second returns the second that the time falls into, from 0.
func second(t time.Duration) int {
	return int(min(max(t, 0)/time.Second, time.Duration(maxSeconds-1)))
}

func (r *Recorder) countSent(at time.Duration) {
	i := second(at)
	if i >= len(r.sentIn) {
		r.sentIn = append(r.sentIn, make([]int64, i+1-len(r.sentIn))...)
	}
	r.sentIn[i]++
}

// at returns the interval that the time falls into.
func (r *Recorder) at(t time.Duration) *interval {
	i := second(t) / int(r.width/time.Second)
	if i >= len(r.series) {
		r.series = append(r.series, make([]*interval, i+1-len(r.series))...)
		r.seal(i - max(1, int(openFor/r.width)))
	}
	if r.series[i] == nil {
		r.series[i] = &interval{}
	}
	return r.series[i]
}

// seal compacts interval i, which hardly any sample will still change.
func (r *Recorder) seal(i int) {
	if i < 0 || r.series[i] == nil {
		return
	}
	for c, h := range r.series[i].response {
		r.series[i].response[c] = h.seal()
	}
}

// Recording returns what was measured so far. The Recorder may go on.
func (r *Recorder) Recording() Recording {
	rec := Recording{
		Plan:     r.plan,
		Sent:     r.sent,
		Response: r.response.clone(),
		Service:  r.service.clone(),
		Lag:      r.lag.clone(),
		Statuses: map[int]int64{},
		Failures: map[string]int64{},
		Bytes:    r.bytes,
		First:    r.first,
		Last:     r.last,
		Labels:   make(map[string]Label, len(r.labels)),
		SentIn:   slices.Clone(r.sentIn),
		Width:    r.width,
	}
	rec.Asked = r.plan.bySecond()
	for status, n := range r.statuses {
		if n > 0 {
			rec.Statuses[status] = n
		}
	}
	for word, n := range r.failures {
		rec.Failures[word] = n
	}
	for name, l := range r.labels {
		rec.Labels[name] = l.clone()
	}
	each := int(r.width / time.Second)
	for i := range max(len(r.series), (len(rec.Asked)+each-1)/each) {
		if s := r.interval(i); s.Asked != 0 || s.Sent != 0 || s.Done != 0 || len(s.Response) > 0 {
			rec.Series = append(rec.Series, s)
		}
	}
	return rec.linked()
}

// interval returns interval i.
func (r *Recorder) interval(i int) Interval {
	s := Interval{At: i}
	if i < len(r.series) && r.series[i] != nil {
		s = r.series[i].public(i)
	}
	return s.counted(r.width, r.plan.asked, func(second int) int64 { return nth(r.sentIn, second) })
}

// clone returns the histograms that are not empty.
func (b byClass) clone() map[Class]Histogram {
	out := map[Class]Histogram{}
	for i, c := range classes {
		if b[i].Count() > 0 {
			out[c] = b[i].clone()
		}
	}
	return out
}

func counts(n [3]int64) map[Class]int64 {
	out := map[Class]int64{}
	for i, c := range classes {
		if n[i] > 0 {
			out[c] = n[i]
		}
	}
	return out
}

// interval holds what a Recorder keeps of one interval of the phase.
type interval struct {
	done, bytes int64
	statuses    []tally // the few that occur
	response    byClass // of the requests that were due in it
}

type tally struct {
	status int
	n      int64
}

func (s *interval) count(status int) {
	for i := range s.statuses {
		if s.statuses[i].status == status {
			s.statuses[i].n++
			return
		}
	}
	s.statuses = append(s.statuses, tally{status, 1})
}

func (s *interval) public(at int) Interval {
	out := Interval{At: at, Done: s.done, Bytes: s.bytes,
		Statuses: make(map[int]int64, len(s.statuses)), Response: map[Class]Histogram{}}
	for i, c := range classes {
		if s.response[i].count > 0 {
			out.Response[c] = s.response[i].seal()
		}
	}
	for _, t := range s.statuses {
		out.Statuses[t.status] = t.n
	}
	return out
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
	var n [3]int64
	for i := range n {
		n[i] = r.response[i].Count()
	}
	l := Live{Planned: r.plan.Planned, Sent: r.sent, Count: counts(n)}
	if r.sent > 0 {
		l.Lag = r.lag.Value(0.99)
	}
	if ran >= time.Second {
		at := max(0, int(ran/r.width)-1)
		l.Last, l.Lasted = r.interval(at), min(ran-time.Duration(at)*r.width, r.width).Truncate(time.Second)
		link(l.Last.Response, map[Class]Histogram{Accepted: r.service[0]}, nil)
	}
	return l
}
