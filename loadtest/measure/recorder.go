package measure

import (
	"slices"
	"time"
)

// Limits of a Recording, whatever the samples are.
const (
	MaxLabels   = 1000 // further labels are counted under OtherLabel
	OtherLabel  = "(other)"
	maxStatus   = 999
	maxSeconds  = int((7*24*time.Hour + Longest) / time.Second) // later ones count as the last
	openSeconds = 60                                            // a second is sealed after this many seconds
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
	labels   map[string]*labelled
	first    Third
	last     Third
	series   []*second // by second; nil if nothing was sent or done in it
}

// byClass holds one histogram for each of Classes.
type byClass [3]Histogram

type labelled struct {
	count    [3]int64
	response Histogram
}

// index returns the position of a class in Classes.
func index(c Class) int { return slices.Index(classes[:], c) }

// NewRecorder returns a Recorder for the plan.
func NewRecorder(p Plan) *Recorder {
	return &Recorder{plan: p, failures: map[string]int64{}, labels: map[string]*labelled{}}
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

	l := r.label(s.Label)
	l.count[class]++
	if s.Class() == Accepted {
		l.response.add(s.Response(), wholeFigures)
		if third := r.third(s.Due); third != nil {
			third.add(s.Response())
		}
	}

	r.at(s.Due).response[class].add(s.Response(), secondFigures)
	r.at(s.Sent).sent++
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

func (r *Recorder) label(name string) *labelled {
	if l, ok := r.labels[name]; ok {
		return l
	}
	if len(r.labels) >= MaxLabels {
		name = OtherLabel
	}
	l, ok := r.labels[name]
	if !ok {
		l = &labelled{}
		r.labels[name] = l
	}
	return l
}

// at returns the second that the time falls into.
func (r *Recorder) at(t time.Duration) *second {
	i := int(min(max(t, 0)/time.Second, time.Duration(maxSeconds-1)))
	if i >= len(r.series) {
		r.series = append(r.series, make([]*second, i+1-len(r.series))...)
		r.seal(i - openSeconds)
	}
	if r.series[i] == nil {
		r.series[i] = &second{}
	}
	return r.series[i]
}

// seal compacts second i, which hardly any sample will still change.
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
	}
	rec.Asked = nil
	for status, n := range r.statuses {
		if n > 0 {
			rec.Statuses[status] = n
		}
	}
	for word, n := range r.failures {
		rec.Failures[word] = n
	}
	for name, l := range r.labels {
		rec.Labels[name] = Label{Count: counts(l.count), Response: l.response.clone()}
	}
	for i := range max(len(r.series), r.plan.seconds(), len(r.plan.Asked)) {
		if s := r.second(i); s.Asked != 0 || s.Sent != 0 || s.Done != 0 || len(s.Response) > 0 {
			rec.Series = append(rec.Series, s)
		}
	}
	return rec.linked()
}

func (r *Recorder) second(i int) Second {
	s := Second{At: i}
	if i < len(r.series) && r.series[i] != nil {
		s = r.series[i].public(i)
	}
	s.Asked = r.plan.asked(i)
	return s
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

// second holds what a Recorder keeps of one second of the phase.
type second struct {
	sent, done, bytes int64
	statuses          []tally // the few that occur
	response          byClass // of the requests that were due in it
}

type tally struct {
	status int
	n      int64
}

func (s *second) count(status int) {
	for i := range s.statuses {
		if s.statuses[i].status == status {
			s.statuses[i].n++
			return
		}
	}
	s.statuses = append(s.statuses, tally{status, 1})
}

func (s *second) public(at int) Second {
	out := Second{At: at, Sent: s.sent, Done: s.done, Bytes: s.bytes,
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
	Last    Second        // the last whole second, without answers that are still pending
}

// Live returns the figures after the phase has run for the given time.
func (r *Recorder) Live(ran time.Duration) Live {
	var n [3]int64
	for i := range n {
		n[i] = r.response[i].Count()
	}
	l := Live{Planned: r.plan.Planned, Sent: r.sent, Count: counts(n)}
	if r.sent > 0 {
		l.Lag = r.lag.value(0.99)
	}
	if last := int(ran/time.Second) - 1; last >= 0 {
		l.Last = r.second(last)
	}
	return l
}
