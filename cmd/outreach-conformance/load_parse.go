package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/threshold"
)

func parseThresholds(texts []string) ([]threshold.Threshold, error) {
	var parsed []threshold.Threshold
	var wrong []error
	for _, text := range texts {
		t, err := threshold.Parse(text)
		if err != nil {
			wrong = append(wrong, err)
		}
		parsed = append(parsed, t)
	}
	return parsed, errors.Join(wrong...)
}

// countsFromZero begins a shard of an engine whose indices do.
const countsFromZero = "index:"

// parseShard reads 3/8, the third of eight, or index:2/8, which is the same.
func parseShard(text string) (measure.Shard, error) {
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

// mostAhead is how far ahead a start may be: what is further is a slip of the pen,
// and would be waited for.
const mostAhead = 24 * time.Hour

// parseStart reads an instant, or a time from now such as +5s.
func parseStart(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := readStart(text, now)
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

func readStart(text string, now time.Time) (time.Time, error) {
	if ahead, ok := strings.CutPrefix(text, "+"); ok {
		if d, err := time.ParseDuration(ahead); err == nil && d > 0 {
			return now.Add(d), nil
		}
	}
	return time.Parse(time.RFC3339, text)
}
