package load

import (
	"cmp"
	"maps"
	"slices"
)

// Ending is a kind of failure, with the number of requests that failed so.
type Ending struct {
	How   string // in words: an error of the connection, or a status
	Count int64
}

// noAnswer is the status of a request without a response.
const noAnswer = "none"

// Failed returns the kinds of failure in the measured phases, the most frequent first.
// A truncated response counts by the cause of the truncation.
func (s Scenario) Failed() []Ending {
	counts := map[string]int64{}
	for _, p := range s.Phases {
		if p.Warmup {
			continue
		}
		for failure, n := range p.Failures {
			counts[FailureInWords(failure)] += n
		}
		for status, n := range p.Statuses {
			if status != noAnswer && status != "429" && (len(status) != 3 || status[0] != '2') {
				counts["status "+status] += n
			}
		}
	}
	var all []Ending
	for _, how := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, Ending{how, counts[how]})
	}
	slices.SortStableFunc(all, func(a, b Ending) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

// inWords holds the words for the keys of Phase.Failures. The bounds are the
// generator's.
var inWords = map[string]string{
	"timeout":     "no response in time",
	"refused":     "connection refused",
	"reset":       "connection broken",
	"too long":    "body larger than the limit of 8 MiB",
	"long header": "header larger than the limit of 256 KiB",
	"other":       "other error",
}

// FailureInWords returns the words for a key of Phase.Failures.
func FailureInWords(failure string) string {
	return cmp.Or(inWords[failure], failure)
}
