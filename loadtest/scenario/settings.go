package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/threshold"
)

// Takes reports whether the scenario's kind has the field, by its YAML name.
func (s Scenario) Takes(field string) bool {
	kind := uses[s.Kind]
	return slices.Contains(kind.needs, field) || slices.Contains(kind.takes, field)
}

// Last sets the duration of each phase and scales the confirmation of a search.
func (s *Scenario) Last(phase time.Duration) {
	if s.Duration > 0 && phase > 0 {
		s.Confirm = time.Duration(float64(s.Confirm) * float64(phase) / float64(s.Duration))
	}
	s.Duration = phase
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

// EveryRunMeets is the error for a threshold that Meets reports.
const EveryRunMeets = "every run meets this: a rate cannot fall by more than 100 % (want a lower bound, such as regression<10%)"

// Meets reports whether every run meets the threshold. The regression of a
// search is that of the rate it finds.
func (s Scenario) Meets(t threshold.Threshold) bool {
	return s.Kind == Sustained && t.Metric == threshold.Regression && t.Bound >= 1
}

// RunsAt reports whether the scenario has phases at that rate. Of a search,
// only the first and the last rate are known in advance.
func (s Scenario) RunsAt(rate float64) bool {
	switch s.Kind {
	case Steady, Soak, Depth:
		return rate == s.Rate
	case Sustained:
		return rate == s.Rate || rate == s.MaxRate
	default:
		return false
	}
}

// Labels returns the labels of its requests. The last page of a depth scenario
// is not known in advance.
func (s Scenario) Labels() []string {
	sizes := s.Limits
	if len(sizes) == 0 {
		sizes = []int{0}
	}
	var labels []string
	for _, share := range s.operations() {
		for _, page := range s.Pages {
			labels = append(labels, place{op: share.op, page: page}.label())
		}
		for _, size := range sizes {
			if of := label(share.op, size); s.Kind != Depth && !slices.Contains(labels, of) {
				labels = append(labels, of)
			}
		}
	}
	return labels
}

// Asks reports whether some of its requests have the label, or a label that it
// covers as in measure.Recording.Label.
func (s Scenario) Asks(label string) bool {
	return slices.ContainsFunc(s.Labels(), func(one string) bool { return one == label || strings.HasPrefix(one, label+" ") }) ||
		s.Kind == Depth && slices.ContainsFunc(s.operations(), func(o share) bool { return strings.HasPrefix(label, o.op.ID+pageOfLabel) })
}

// Settings formats the settings.
func (s Scenario) Settings() string {
	var parts []string
	add := func(given bool, format string, args ...any) {
		if given {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(s.Rate > 0, "%v requests/s", s.Rate)
	add(s.Burst > 0, "burst %v/s", s.Burst)
	add(s.MaxRate > 0, "up to %v/s", s.MaxRate)
	add(s.Clients > 0, "%d clients", s.Clients)
	add(s.Duration > 0, "%s", s.Duration)
	add(s.Confirm > 0, "confirmed for %s", s.Confirm)
	add(len(s.Limits) > 0, "page size %s", join(s.Limits))
	add(len(s.Pages) > 0, "pages %s and the last", join(s.Pages))
	add(s.Budget > 0, "at most %d requests", s.Budget)
	add(len(s.Thresholds) > 0, "thresholds: %s", strings.Join(s.Thresholds, ", "))
	return strings.Join(parts, "; ")
}

func join(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, ", ")
}

// Lasts estimates the duration of the scenario on a target that keeps up,
// without preparation and search.
func (s Scenario) Lasts() time.Duration {
	phases := 1
	if s.Kind == Steady {
		phases = max(1, len(s.Limits))
	}
	return s.Warmup + time.Duration(phases)*s.Duration + s.Confirm
}
