package loadtest

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

// Settings are the settings of a run that may contradict each other. Errors name them
// as the flags of the command line.
type Settings struct {
	Scenarios []scenario.Scenario // that run
	Named     int                 // how many of them the user named; 0 means all

	Shard     string // for ParseShard
	StartAt   string // for ParseStart
	PrintPart bool   // the shard's part is printed
	Seed      uint64 // 0 if it will be drawn
	Embedded  bool   // the target is embedded, so each process has its own

	Against    bool // a second target is compared with the first
	Pairs      int  // of blocks to compare
	PairsGiven bool // the user gave them
	Baseline   bool // an earlier run is compared with this one
}

// leastAhead is the least time before the start of a shard: for the calibration,
// and for a target that is slow to answer.
const leastAhead = 5 * time.Second

// Check returns the shard and the start, and an error for all settings that are
// invalid or contradict each other.
func (s Settings) Check(now time.Time) (shard measure.Shard, start time.Time, err error) {
	shard, wrongShard := ParseShard(s.Shard)
	start, wrongStart := ParseStart(s.StartAt, now)
	wrong := []error{wrongShard, wrongStart}
	if shard.Of > 1 {
		wrong = append(wrong, s.checkShard(start, now))
	} else {
		wrong = append(wrong, s.checkWhole())
	}
	if s.Against && s.StartAt != "" {
		wrong = append(wrong, errors.New("--against and --start-at exclude each other"))
	}
	if s.Against && s.Baseline {
		wrong = append(wrong, errors.New("--against and --baseline exclude each other: a run is compared with one of them"))
	}
	if !s.Against && s.PairsGiven {
		wrong = append(wrong, errors.New("--pairs needs --against"))
	}
	if s.Against {
		wrong = append(wrong, s.checkComparison(shard))
	}
	return shard, start, errors.Join(wrong...)
}

// checkShard checks the settings of one process of several.
func (s Settings) checkShard(start, now time.Time) error {
	var wrong []error
	for _, one := range s.Scenarios {
		if !one.Shardable() {
			wrong = append(wrong, fmt.Errorf("--shard: scenario %s is adaptive and cannot be sharded (choose others with --scenario)", one.Name))
		}
	}
	if s.StartAt == "" {
		wrong = append(wrong, errors.New("--shard needs --start-at: the same time for all shards, at least "+leastAhead.String()+" ahead"))
	}
	if strings.HasPrefix(s.StartAt, "+") {
		wrong = append(wrong, fmt.Errorf("--start-at %s: relative to the start of each shard (give all shards the same absolute time)", s.StartAt))
	} else if ahead := start.Sub(now); !start.IsZero() && ahead < leastAhead {
		wrong = append(wrong, fmt.Errorf("--start-at %s: only %s ahead, want at least %s for the calibration", s.StartAt, ahead.Round(time.Second), leastAhead))
	}
	if s.Embedded {
		wrong = append(wrong, errors.New("--shard needs a --target that all shards reach: each process has its own embedded server"))
	}
	if s.Seed == 0 {
		wrong = append(wrong, errors.New("--shard needs --seed: the same for all shards"))
	}
	return errors.Join(wrong...)
}

// checkWhole checks the settings of a run that is not sharded.
func (s Settings) checkWhole() error {
	var wrong []error
	for _, one := range s.Scenarios {
		if s.StartAt != "" && !one.Shardable() {
			wrong = append(wrong, fmt.Errorf("--start-at: scenario %s is adaptive and starts at once (choose others with --scenario)", one.Name))
		}
	}
	if s.PrintPart {
		wrong = append(wrong, errors.New("--print-part needs --shard"))
	}
	return errors.Join(wrong...)
}

// checkComparison checks the settings of a run with a second target.
func (s Settings) checkComparison(shard measure.Shard) error {
	switch least := verdict.LeastPairs(); {
	case shard.Of > 1:
		return errors.New("--against and --shard exclude each other")
	case s.Named != 1:
		return errors.New("--against compares one scenario (choose it with --scenario, e.g. mixed)")
	case s.Scenarios[0].Kind != scenario.Steady:
		return fmt.Errorf("--against needs a scenario of kind %s, such as mixed; %s is of kind %s", scenario.Steady, s.Scenarios[0].Name, s.Scenarios[0].Kind)
	case s.Pairs < least || s.Pairs > verdict.MostPairs:
		return fmt.Errorf("--pairs %d: want %d to %d (fewer cannot show a difference)", s.Pairs, least, verdict.MostPairs)
	}
	return nil
}

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
func ParseStart(text string, now time.Time) (time.Time, error) {
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
