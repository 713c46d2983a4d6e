package loadtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/measure"
)

// LeastAhead is the least time before the start of a shard: for the calibration,
// and for a target that is slow to answer.
const LeastAhead = 5 * time.Second

// countsFromZero begins a shard of an engine whose indices do.
const countsFromZero = "index:"

// ParseShard reads 3/8, the third of eight, or index:2/8, which is the same. An empty
// text is the whole.
func ParseShard(text string) (measure.Shard, error) {
	if text == "" {
		return measure.Shard{}, nil
	}
	number, first := strings.TrimPrefix(text, countsFromZero), 1
	if number != text {
		first = 0
	}
	index, of, _ := strings.Cut(number, "/")
	i, errI := strconv.Atoi(index)
	n, errN := strconv.Atoi(of)
	if errI != nil || errN != nil || n < 1 || n > 10_000 || i < first || i >= n+first {
		return measure.Shard{}, fmt.Errorf("--shard %s: want the form 3/8 (the third of eight), or index:2/8 to count from 0", text)
	}
	return measure.Shard{Index: i - first, Of: n}, nil
}

// mostAhead is how far ahead a start may be: what is further is a typing error, and
// the run would wait for it.
const mostAhead = 24 * time.Hour

// ParseStart reads an instant, or a time from now such as +5s. An empty text is the
// zero time.
func ParseStart(text string, now time.Time) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if d, wrong := time.ParseDuration(strings.TrimPrefix(text, "+")); text[0] == '+' && wrong == nil && d > 0 {
		at = now.Add(d)
	} else {
		at, err = time.Parse(time.RFC3339, text)
	}
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("--start-at %s: want a time like 2026-01-31T12:00:00Z, or +5s from now", text)
	case at.Before(now):
		return time.Time{}, fmt.Errorf("--start-at %s: in the past", text)
	case at.Sub(now) > mostAhead:
		return time.Time{}, fmt.Errorf("--start-at %s: more than 24 hours ahead (it is %s now)", text, now.UTC().Format(time.RFC3339))
	}
	return at, nil
}
