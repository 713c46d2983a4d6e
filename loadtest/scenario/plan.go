package scenario

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/measure"

	"outreach.example/conformance/spec"
)

// What is known of a scenario before it runs.

// Operations returns the operations of the mix and their weights, in the order
// of the catalogue.
func (s Scenario) Operations() []Share {
	var shares []Share
	for _, op := range spec.Operations() {
		weight, exact := s.Mix[op.ID]
		for _, pattern := range slices.Sorted(maps.Keys(s.Mix)) {
			if !exact && matches(pattern, op) { // an exact id overrides a pattern
				weight = s.Mix[pattern]
			}
		}
		if weight > 0 {
			shares = append(shares, Share{op, weight})
		}
	}
	return shares
}

func matches(pattern string, op spec.Operation) bool {
	matched, _ := path.Match(pattern, op.ID)
	return matched
}

// Share is an operation and its weight in a mix.
type Share struct {
	Operation spec.Operation
	Weight    int
}

// Label returns the label of requests of the operation for pages of that size. A
// limit of 0 means no limit.
func Label(op spec.Operation, limit int) string {
	if limit > 0 && op.Answer == spec.Page {
		return op.ID + " limit=" + strconv.Itoa(limit)
	}
	return op.ID
}

// pageOf separates the operation and the page in a label.
const pageOf = " page="

// PageLabel returns the label of requests for one page of a list, counted from 1.
func PageLabel(operation string, page int) string { return operation + pageOf + strconv.Itoa(page) }

// WithoutPage returns the label without the page, if it has one: the number of pages
// depends on the target.
func WithoutPage(label string) string {
	without, _, _ := strings.Cut(label, pageOf)
	return without
}

// OwnThresholds parses the thresholds of the scenario itself.
func (s Scenario) OwnThresholds() ([]measure.Threshold, error) {
	return measure.ParseThresholds(s.Thresholds)
}

// KindOf returns the kind of scenario that alone yields the figure, if there is one.
func KindOf(m measure.Metric) (kind Kind, particular bool) {
	switch m {
	case measure.Sustained:
		return Sustained, true
	case measure.Depth:
		return Depth, true
	}
	return "", false
}

// Has reports whether the scenario yields the figure that the threshold bounds.
func (s Scenario) Has(t measure.Threshold) bool {
	if !t.For(s.Name) {
		return false
	}
	if kind, particular := KindOf(t.Metric); particular {
		return s.Kind == kind
	}
	return s.Kind != RateLimit
}

// EveryRunMeets is the error for a threshold that Meets reports.
const EveryRunMeets = "every run meets this: a rate cannot fall by more than 100 % (want a lower bound, such as worse<10%)"

// Meets reports whether every run meets the threshold. The loss of a
// search is that of the rate it finds.
func (s Scenario) Meets(t measure.Threshold) bool {
	return s.Kind == Sustained && t.Metric == measure.Worse && t.Bound >= 1
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

// PageSizes returns the page sizes to request. A size of 0 sends no limit.
func (s Scenario) PageSizes() []int {
	if len(s.Limits) == 0 {
		return []int{0}
	}
	return s.Limits
}

// Phases returns how many phases a shardable scenario has.
func (s Scenario) Phases() int {
	if s.Kind == Steady {
		return len(s.PageSizes())
	}
	return 1
}

// Labels returns the labels of its requests. The last page of a depth scenario
// is not known in advance.
func (s Scenario) Labels() []string {
	var labels []string
	for _, share := range s.Operations() {
		for _, page := range s.Pages {
			labels = append(labels, PageLabel(share.Operation.ID, page))
		}
		for _, size := range s.PageSizes() {
			if of := Label(share.Operation, size); s.Kind != Depth && !slices.Contains(labels, of) {
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
		s.Kind == Depth && slices.ContainsFunc(s.Operations(), func(o Share) bool { return strings.HasPrefix(label, o.Operation.ID+pageOf) })
}

// Shardable reports whether several processes can share the scenario: its
// phases follow a plan that is known in advance.
func (s Scenario) Shardable() bool { return s.Kind == Steady || s.Kind == Spike || s.Kind == Soak }

// Schedule returns the schedule of each phase. Of a search, it is that of a confirmation
// at the first rate. planned is false for kinds whose requests follow no schedule.
func (s Scenario) Schedule() (each measure.Schedule, planned bool) {
	switch s.Kind {
	case Steady, Soak, Depth:
		return measure.Constant(s.Rate, s.Duration), true
	case Sustained:
		return measure.Constant(s.Rate, s.Confirm), true
	case Spike:
		third := s.Duration / 3
		return measure.Schedule{Segments: []measure.Segment{
			{Rate: s.Rate, Duration: third}, {Rate: s.Burst, Duration: third}, {Rate: s.Rate, Duration: third}}}, true
	default:
		return measure.Schedule{}, false
	}
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
