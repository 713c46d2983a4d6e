package measure

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Merge returns the Recording that one process running all shards would have
// made. It is exact: the same buckets with counts added. The order of the parts
// does not matter. There must be at least one; different plans are an error.
func Merge(parts ...Recording) (Recording, error) {
	sum, first := added(parts), parts[0]
	series := map[int]Interval{}
	for _, p := range parts {
		if p.Name != first.Name || p.Rate != first.Rate || p.Duration != first.Duration || p.ClosedLoop != first.ClosedLoop {
			return Recording{}, fmt.Errorf("the shards had different plans: phase %s at %v/s for %s and phase %s at %v/s for %s",
				first.Name, first.Rate, first.Duration, p.Name, p.Rate, p.Duration)
		}
		sum.First, sum.Last = sum.First.merged(p.First), sum.Last.merged(p.Last)
		sum.Asked, sum.SentIn = addedAt(sum.Asked, 0, p.Asked), addedAt(sum.SentIn, 0, p.SentIn)
		for _, s := range p.Series {
			one := series[s.At]
			series[s.At] = Interval{At: s.At, Done: one.Done + s.Done, Limited: one.Limited + s.Limited, Failed: one.Failed + s.Failed,
				Bytes: one.Bytes + s.Bytes, Response: mergedClasses(one.Response, s.Response)}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(series)) {
		sum.Series = append(sum.Series, series[at])
	}
	return sum.finished(), nil
}

// InTurn returns the Recording of one phase made of consecutive pieces with the
// same rate and length. Its intervals are those of the pieces, one after the other.
func InTurn(pieces ...Recording) Recording {
	sum := added(pieces)
	sum.Duration = 0
	ended := 0
	for _, p := range pieces {
		from := ended
		for _, s := range p.Series {
			s.At += from
			s.Response = maps.Clone(s.Response)
			sum.Series = append(sum.Series, s)
			ended = max(ended, s.At+1)
		}
		began := from * int(sum.Width/time.Second)
		sum.Asked, sum.SentIn = addedAt(sum.Asked, began, p.Asked), addedAt(sum.SentIn, began, p.SentIn)
		sum.Duration += p.Duration
	}
	return sum.finished()
}

// added returns the sum of the parts without what belongs to a time. There must be at
// least one part.
func added(parts []Recording) Recording {
	sum := Recording{Plan: parts[0].Plan, Width: parts[0].Width, Statuses: map[int]int64{}, Failures: map[string]int64{}, Labels: map[string]Label{}}
	sum.Planned, sum.Asked = 0, nil
	for _, p := range parts {
		sum.Planned += p.Planned
		sum.Sent += p.Sent
		sum.Lag = sum.Lag.merged(p.Lag)
		sum.Response = mergedClasses(sum.Response, p.Response)
		sum.Service = mergedClasses(sum.Service, p.Service)
		for name, l := range p.Labels {
			sum.Labels[name] = mergedClasses(sum.Labels[name], l)
		}
		addAll(sum.Statuses, p.Statuses)
		addAll(sum.Failures, p.Failures)
	}
	return sum
}

// addedAt adds counts by second to a sum, from a second on.
func addedAt(sum []int64, from int, counts []int64) []int64 {
	if missing := from + len(counts) - len(sum); missing > 0 {
		sum = append(sum, make([]int64, missing)...)
	}
	for i, n := range counts {
		sum[from+i] += n
	}
	return sum
}

func addAll[K comparable](to, from map[K]int64) {
	for k, n := range from {
		to[k] += n
	}
}

func mergedClasses(a, b map[Class]Histogram) map[Class]Histogram {
	out := map[Class]Histogram{}
	for _, c := range classes {
		if h := a[c].merged(b[c]); h.Count() > 0 {
			out[c] = h
		}
	}
	return out
}
