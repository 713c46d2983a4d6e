package measure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Merge returns the Recording that one process running all shards would have
// made. It is exact: the same buckets with counts added. The order of the parts
// does not matter. Missing or duplicate shards and different plans are errors.
func Merge(parts ...Recording) (Recording, error) {
	if err := mergeable(parts); err != nil {
		return Recording{}, err
	}
	sum := added(parts)
	for _, p := range parts {
		sum.First, sum.Last = sum.First.merged(p.First), sum.Last.merged(p.Last)
	}
	for _, p := range parts {
		sum.Asked, sum.SentIn = addedAt(sum.Asked, 0, p.Asked), addedAt(sum.SentIn, 0, p.SentIn)
	}
	sum.Series = mergedSeries(parts)
	return sum.linked(), nil
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
			sum.Series = append(sum.Series, s)
			ended = max(ended, s.At+1)
		}
		began := from * int(sum.Width/time.Second)
		sum.Asked, sum.SentIn = addedAt(sum.Asked, began, p.Asked), addedAt(sum.SentIn, began, p.SentIn)
		sum.Duration += p.Duration
	}
	return sum.linked()
}

// added returns the sum of the parts without what belongs to a time. There must be at
// least one part.
func added(parts []Recording) Recording {
	sum := Recording{Plan: parts[0].Plan, Statuses: map[int]int64{}, Failures: map[string]int64{}}
	sum.Shard, sum.Planned, sum.Asked, sum.Width = Shard{}, 0, nil, parts[0].Width
	for _, p := range parts {
		sum.Planned += p.Planned
		sum.Sent += p.Sent
		sum.Bytes += p.Bytes
		sum.Lag = sum.Lag.merged(p.Lag)
		sum.Response = mergedClasses(sum.Response, p.Response)
		sum.Service = mergedClasses(sum.Service, p.Service)
		addAll(sum.Statuses, p.Statuses)
		addAll(sum.Failures, p.Failures)
	}
	sum.Labels = mergedLabels(parts)
	return sum
}

// addedAt adds counts by second to a sum, from a second on.
func addedAt(sum []int64, from int, counts []int64) []int64 {
	if missing := from + len(counts) - len(sum); missing > 0 {
		sum = append(slices.Clip(sum), make([]int64, missing)...)
	}
	for i, n := range counts {
		sum[from+i] += n
	}
	return sum
}

// mergeable returns an error unless the parts are all shards of one plan, each
// once. Messages count shards from 1.
func mergeable(parts []Recording) error {
	if len(parts) == 0 {
		return errors.New("measure: nothing to merge")
	}
	first := parts[0].Plan
	of := max(first.Shard.Of, 1)
	seen := map[int]bool{}
	for _, p := range parts {
		switch {
		case p.Name != first.Name:
			return fmt.Errorf("cannot merge phase %q with phase %q", first.Name, p.Name)
		case p.Rate != first.Rate || p.Duration != first.Duration || p.ClosedLoop != first.ClosedLoop:
			return fmt.Errorf("phase %q: the shards had different plans: %v/s for %s and %v/s for %s",
				p.Name, first.Rate, first.Duration, p.Rate, p.Duration)
		case !p.Start.Equal(first.Start):
			return fmt.Errorf("phase %q: the shards started at different times: %s and %s (give them the same start)",
				p.Name, instant(first.Start), instant(p.Start))
		case max(p.Shard.Of, 1) != of:
			return fmt.Errorf("phase %q: one shard is of %d, another of %d", p.Name, of, max(p.Shard.Of, 1))
		case p.Shard.Index < 0 || p.Shard.Index >= of:
			return fmt.Errorf("phase %q: there is no shard %d of %d", p.Name, p.Shard.Index+1, of)
		case seen[p.Shard.Index]:
			return fmt.Errorf("phase %q: shard %d of %d is present twice (it ran twice, or its file was given twice)", p.Name, p.Shard.Index+1, of)
		}
		seen[p.Shard.Index] = true
	}
	for i := range of {
		if !seen[i] {
			return fmt.Errorf("phase %q: %d of %d shards are missing, the first is shard %d", first.Name, of-len(seen), of, i+1)
		}
	}
	return nil
}

// instant formats a start for messages.
func instant(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

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

func mergedLabels(parts []Recording) map[string]Label {
	out := map[string]Label{}
	for _, p := range parts {
		for name, l := range p.Labels {
			out[name] = mergedClasses(out[name], l)
		}
	}
	return out
}

func mergedSeries(parts []Recording) []Interval {
	at := map[int]Interval{}
	for _, p := range parts {
		for _, s := range p.Series {
			sum, ok := at[s.At]
			if !ok {
				sum = Interval{At: s.At, Statuses: map[int]int64{}}
			}
			sum.Asked += s.Asked
			sum.Sent += s.Sent
			sum.Done += s.Done
			sum.Bytes += s.Bytes
			addAll(sum.Statuses, s.Statuses)
			sum.Response = mergedClasses(sum.Response, s.Response)
			for c, h := range sum.Response {
				sum.Response[c] = h.seal()
			}
			at[s.At] = sum
		}
	}
	out := make([]Interval, 0, len(at))
	for _, s := range at {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Interval) int { return cmp.Compare(a.At, b.At) })
	return out
}
