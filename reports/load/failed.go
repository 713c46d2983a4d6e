package load

import (
	"cmp"
	"maps"
	"slices"
)

// Ending is a way in which requests failed, and how many did so.
type Ending struct {
	How   string // in words; the harness's own or a status
	Count int64
}

// noAnswer is the status of a request without one.
const noAnswer = "none"

// Failed says how requests of the phases that count failed, the most frequent
// way first. An answer that broke off is counted by why it did.
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

// inWords are the words of a phase's Failures for people. The bounds are those of
// the generator.
var inWords = map[string]string{
	"timeout":     "no answer in time",
	"refused":     "connection refused",
	"reset":       "connection broken",
	"too long":    "body larger than the limit of 8 MiB",
	"long header": "header larger than the limit of 256 KiB",
	"other":       "other trouble",
}

// FailureInWords is the word of a phase's Failures for people.
func FailureInWords(failure string) string {
	return cmp.Or(inWords[failure], failure)
}
