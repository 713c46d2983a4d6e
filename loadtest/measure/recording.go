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
	Response map[Class]Histogram // from the due time
	Service  map[Class]Histogram // from the send time
	Lag      Histogram           // of every request sent
	Statuses map[int]int64       // 0: no answer
	Failures map[string]int64    // by Failure word
	Bytes    int64               // of answers' bodies
	First    Third               // third of a phase of one rate
	Last     Third
	Labels   map[string]Label
	Series   []Second // the seconds in which something was due, sent or done
}

// Label is the breakdown of a Recording for one kind of request.
type Label struct {
	Count    map[Class]int64
	Response Histogram // of the accepted ones
}

// Second is one second of a phase. A request counts as asked in the second in
// which it was due, as sent in the second in which it was sent, and as done in
// the second in which its answer was complete.
type Second struct {
	At       int // the second, from 0
	Asked    int64
	Sent     int64
	Done     int64
	Statuses map[int]int64 // of those done
	Bytes    int64         // of those done

	// Response holds the response times of the requests due in this second,
	// with two significant figures. A stall shows where it began.
	Response map[Class]Histogram
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
	return max(least, r.Response[Accepted].Quantile(0.5).Value/share)
}

// Late returns how many requests were sent more than LagLimit after they were
// due.
func (r Recording) Late() int64 { return r.Lag.Above(r.LagLimit()) }

// LabelNames returns the sorted labels.
func (r Recording) LabelNames() []string { return slices.Sorted(maps.Keys(r.Labels)) }

// Label returns the breakdown for the label. If no request has it, the result
// covers all labels that begin with it and a space: an operation stands for its
// pages of every size.
func (r Recording) Label(name string) Label {
	if l, exact := r.Labels[name]; exact {
		return l
	}
	sum := Label{Count: map[Class]int64{}}
	for _, label := range r.LabelNames() {
		if strings.HasPrefix(label, name+" ") {
			l := r.Labels[label]
			addAll(sum.Count, l.Count)
			sum.Response = sum.Response.merged(l.Response)
			sum.Response.seconds = l.Response.seconds // of the phase: the same for all labels
		}
	}
	return sum
}

// linked connects the histograms of r with its seconds, which quantiles need to
// estimate correlation.
func (r Recording) linked() Recording {
	for _, c := range Classes() {
		s := secondsOf(r.Series, c)
		link(r.Response, c, s)
		link(r.Service, c, s)
		if c != Accepted {
			continue
		}
		for name, l := range r.Labels {
			l.Response.seconds = s
			r.Labels[name] = l
		}
	}
	return r
}

func link(of map[Class]Histogram, c Class, s *seconds) {
	if h, ok := of[c]; ok {
		h.seconds = s
		of[c] = h
	}
}
