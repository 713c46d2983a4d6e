package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/threshold"
)

// Takes reports whether the scenario's kind has the field, by its name in YAML.
func (s Scenario) Takes(field string) bool {
	kind := uses[s.Kind]
	return slices.Contains(kind.needs, field) || slices.Contains(kind.takes, field)
}

// Has reports whether the scenario yields the figure that the threshold bounds.
func (s Scenario) Has(t threshold.Threshold) bool {
	if !t.For(s.Name) {
		return false
	}
	if kind, particular := measures[t.Metric]; particular {
		return s.Kind == kind
	}
	return s.Kind != RateLimit
}

// Settings writes what is set, for people.
func (s Scenario) Settings() string {
	var parts []string
	add := func(given bool, format string, args ...any) {
		if given {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(s.Rate > 0, "%v/s", s.Rate)
	add(s.Burst > 0, "burst %v/s", s.Burst)
	add(s.MaxRate > 0, "up to %v/s", s.MaxRate)
	add(s.Clients > 0, "%d clients", s.Clients)
	add(s.Duration > 0, "%s", s.Duration)
	add(s.Confirm > 0, "confirmed for %s", s.Confirm)
	add(len(s.Limits) > 0, "limit %s", join(s.Limits))
	add(len(s.Pages) > 0, "pages %s and the last", join(s.Pages))
	add(s.Budget > 0, "at most %d requests", s.Budget)
	add(len(s.Thresholds) > 0, "%s", strings.Join(s.Thresholds, ", "))
	return strings.Join(parts, "; ")
}

func join(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, ", ")
}

// Lasts is about how long the scenario takes on a target that keeps up, without
// what its preparation and a search of unknown length take.
func (s Scenario) Lasts() time.Duration {
	phases := 1
	if s.Kind == Steady {
		phases = max(1, len(s.Limits))
	}
	return s.Warmup + time.Duration(phases)*s.Duration + s.Confirm
}
