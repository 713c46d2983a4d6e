package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
)

// leastAhead is the least time before the start of a shard: for the calibration,
// and for a target that is slow to answer.
const leastAhead = 5 * time.Second

// sharing returns the shard and the start, and an error for all flags of shards and of
// comparisons that are invalid or contradict each other.
func (f loadFlags) sharing(scenarios []scenario.Scenario, now time.Time) (measure.Shard, time.Time, error) {
	shard, wrongShard := parseShard(f.shard)
	start, wrongStart := parseStart(f.startAt, now)
	wrong := refusals{wrongShard, wrongStart}
	sharded, against, relative, ahead := shard.Of > 1, f.against != "", strings.HasPrefix(f.startAt, "+"), start.Sub(now)
	for _, one := range scenarios {
		wrong.when(sharded && !one.Shardable(), "--shard: scenario %s is adaptive and cannot be sharded (choose others with --scenario)", one.Name)
		wrong.when(!sharded && f.startAt != "" && !one.Shardable(), "--start-at: scenario %s is adaptive and starts at once (choose others with --scenario)", one.Name)
	}
	wrong.when(sharded && f.startAt == "", "--shard needs --start-at: the same time for all shards, at least %s ahead", leastAhead)
	wrong.when(sharded && relative, "--start-at %s: relative to the start of each shard (give all shards the same absolute time)", f.startAt)
	wrong.when(sharded && !relative && !start.IsZero() && ahead < leastAhead,
		"--start-at %s: only %s ahead, want at least %s for the calibration", f.startAt, ahead.Round(time.Second), leastAhead)
	wrong.when(sharded && f.isEmbedded(), "--shard needs a --target that all shards reach: each process has its own embedded server")
	wrong.when(sharded && f.seed == 0, "--shard needs --seed: the same for all shards")
	wrong.when(!sharded && f.printPart, "--print-part needs --shard")
	wrong.when(against && f.startAt != "", "--against and --start-at exclude each other")
	wrong.when(against && f.baseline != "", "--against and --baseline exclude each other: a run is compared with one of them")
	wrong.when(!against && f.given["pairs"], "--pairs needs --against")
	switch least := verdict.LeastPairs(); {
	case !against:
	case sharded:
		wrong.when(true, "--against and --shard exclude each other")
	case len(f.scenarios) != 1:
		wrong.when(true, "--against compares one scenario (choose it with --scenario, e.g. mixed)")
	case scenarios[0].Kind != scenario.Steady:
		wrong.when(true, "--against needs a scenario of kind %s, such as mixed; %s is of kind %s", scenario.Steady, scenarios[0].Name, scenarios[0].Kind)
	default:
		wrong.when(f.pairs < least || f.pairs > verdict.MostPairs, "--pairs %d: want %d to %d (fewer cannot show a difference)", f.pairs, least, verdict.MostPairs)
	}
	return shard, start, errors.Join(wrong...)
}

// countsFromZero begins a shard of an engine whose indices do.
const countsFromZero = "index:"

// parseShard reads 3/8, the third of eight, or index:2/8, which is the same. An empty
// text is the whole.
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

// mostAhead is how far ahead a start may be: what is further is a typing error, and
// the run would wait for it.
const mostAhead = 24 * time.Hour

// parseStart reads an instant, or a time from now such as +5s. An empty text is the
// zero time.
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
