package measure

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Recording is what was measured in a phase. It does not change any more.
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
	Series   []Second // one for each second in which something was due, sent or done
}

// Label is the break-down of a Recording for one kind of request.
type Label struct {
	Count    map[Class]int64
	Response Histogram // of the accepted ones
}

// Second is one second of a phase. A request counts as asked in the second in
// which it was due, as sent in that in which it was sent, and as done in that
// in which its answer was complete.
type Second struct {
	At       int // the second, from 0
	Asked    int64
	Sent     int64
	Done     int64
	Statuses map[int]int64 // of those done
	Bytes    int64         // of those done

	// Response holds the response times of the requests that were due in this
	// second, to two significant figures: a stall shows where it began.
	Response map[Class]Histogram
}

// Count is the number of requests that ended so.
func (r Recording) Count(c Class) int64 { return r.Response[c].Count() }

// Dropped is how many planned requests were never sent.
func (r Recording) Dropped() int64 {
	if r.ClosedLoop {
		return 0
	}
	return max(r.Planned-r.Sent, 0)
}

// LagLimit is the send lag above which a request is late: 1 ms, or 5 % of the
// median response time of the accepted requests if that is more. It follows
// the response time because lag matters by how much of the figure it makes up,
// and it is the bound that the 99th percentile of the lag of a good run keeps.
func (r Recording) LagLimit() time.Duration {
	const least, share = time.Millisecond, 20
	return max(least, r.Response[Accepted].Quantile(0.5).Value/share)
}

// Late is how many requests were sent more than LagLimit after they were due.
func (r Recording) Late() int64 { return r.Lag.Above(r.LagLimit()) }

// LabelNames are the labels, sorted.
func (r Recording) LabelNames() []string { return slices.Sorted(maps.Keys(r.Labels)) }

// Label returns the break-down for the label. Where no request has that one, it
// is for all whose label begins with it and a space: an operation stands for its
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

// linked gives the histograms of r sight of its seconds, which their quantiles
// need to know how far the samples are correlated.
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
