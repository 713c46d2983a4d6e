package scenario

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/pattern"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/spec"
)

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// bounds are those of whole numbers: larger values are typing errors.
var bounds = map[string]struct{ least, most, howMany int }{
	"clients":      {0, 10_000, 1},
	"probe_budget": {0, 100_000_000, 1},
	"page_sizes":   {1, 100, 20}, // of the specification; the run command tests larger limits
	"pages":        {1, 1_000_000, 50},
}

const maxWeight = 1_000

// problem is an error in one field of a scenario.
type problem struct{ field, what string }

// common are the fields of every kind.
var common = []string{"name", "about", "kind", "thresholds"}

// uses lists the other fields that each kind needs, and those that it may have.
var uses = map[Kind]struct{ needs, takes []string }{
	Steady:    {[]string{"mix", "rate", "duration"}, []string{"page_sizes", "warmup"}},
	Spike:     {[]string{"mix", "rate", "duration", "burst"}, []string{"page_sizes", "warmup"}},
	Soak:      {[]string{"mix", "rate", "duration"}, []string{"page_sizes", "warmup"}},
	Sustained: {[]string{"mix", "rate", "duration", "max_rate", "confirm"}, []string{"page_sizes", "warmup"}},
	Depth:     {[]string{"mix", "rate", "duration", "pages"}, []string{"page_sizes", "warmup"}},
	Walk:      {[]string{"mix", "clients", "duration"}, []string{"page_sizes"}},
	RateLimit: {[]string{"probe_budget", "duration"}, []string{"probe"}},
}

// fields yields each field with its YAML name.
func (s *Scenario) fields() iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for field, value := range reflect.ValueOf(s).Elem().Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); !yield(name, value) {
				return
			}
		}
	}
}

// outOfBounds returns why the value of a field is out of bounds; empty if it is not.
func outOfBounds(name string, value any) string {
	var numbers []int
	switch value := value.(type) {
	case float64:
		if value != 0 && !(value >= measure.MinRate && value <= measure.MaxRate) { // NaN fails too
			return fmt.Sprintf("%v: want %v to %v requests per second", value, measure.MinRate, measure.MaxRate)
		}
	case time.Duration:
		if value < 0 || value > measure.MaxDuration {
			return fmt.Sprintf("%s: want 0s to %s", value, measure.MaxDuration)
		}
	case int:
		numbers = []int{value}
	case []int:
		numbers = value
	}
	bound := bounds[name]
	if len(numbers) > bound.howMany {
		return fmt.Sprintf("%d values: want at most %d", len(numbers), bound.howMany)
	}
	for _, n := range numbers {
		if n < bound.least || n > bound.most {
			return fmt.Sprintf("%d: want %d to %d", n, bound.least, bound.most)
		}
	}
	return ""
}

func (s Scenario) problems() []problem {
	var found []problem
	add := func(field, format string, args ...any) {
		found = append(found, problem{field, fmt.Sprintf(format, args...)})
	}
	if !nameForm.MatchString(s.Name) {
		add("name", "%q: want lower-case letters, digits and single hyphens", s.Name)
	}
	if s.About == "" {
		add("about", "is missing (one sentence: what the scenario measures)")
	}
	kind, known := uses[s.Kind]
	if !known {
		add("kind", "%q: want one of %s", s.Kind, strings.Trim(strings.ReplaceAll(fmt.Sprint(Kinds()), " ", ", "), "[]"))
		return found
	}
	for name, value := range s.fields() {
		needed := slices.Contains(kind.needs, name)
		given := !value.IsZero() && (value.Kind() != reflect.Map && value.Kind() != reflect.Slice || value.Len() > 0)
		switch wrong := outOfBounds(name, value.Interface()); {
		case slices.Contains(common, name):
		case wrong != "":
			add(name, "%s", wrong)
		case needed && !given:
			add(name, "is required for a scenario of kind %s", s.Kind)
		case given && !needed && !slices.Contains(kind.takes, name):
			add(name, "does not apply to a scenario of kind %s", s.Kind)
		}
	}
	if s.Burst != 0 && s.Burst <= s.Rate {
		add("burst", "%v: want more than the base rate %v", s.Burst, s.Rate)
	}
	if s.MaxRate != 0 && s.MaxRate < s.Rate {
		add("max_rate", "%v: want at least the initial rate %v (--rate lowers it)", s.MaxRate, s.Rate)
	}
	s.checkMix(add)
	s.checkProbe(add)
	thresholds, err := s.OwnThresholds()
	if err != nil {
		add("thresholds", "%s", err)
	}
	for _, t := range thresholds {
		if s.Meets(t) {
			add("thresholds", "%s: %s", t.Text, EveryRunMeets)
		}
	}
	return found
}

func (s Scenario) checkMix(add func(field, format string, args ...any)) {
	for _, pattern := range slices.Sorted(maps.Keys(s.Mix)) {
		if weight := s.Mix[pattern]; weight < 0 || weight > maxWeight {
			add("mix", "the weight of %s is %d: want 0 to %d", pattern, weight, maxWeight)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			add("mix", "%q: %s", pattern, err)
		} else if !slices.ContainsFunc(spec.Operations(), func(op spec.Operation) bool { return matches(pattern, op) }) {
			add("mix", "%q matches no operation", pattern)
		}
	}
	if len(s.Mix) > 0 && len(s.Operations()) == 0 {
		add("mix", "selects no operation: every weight is 0")
	}
	for _, share := range s.Operations() {
		if s.Kind == Sustained && share.Operation.Unsafe() {
			add("mix", "%s changes data, which a search cannot prepare (use read operations)", share.Operation.ID)
		}
		if (s.Kind == Depth || s.Kind == Walk) && share.Operation.Answer != spec.Page {
			add("mix", "%s has no pages: a scenario of kind %s needs paged lists", share.Operation.ID, s.Kind)
		}
	}
}

func (s Scenario) checkProbe(add func(field, format string, args ...any)) {
	var lists []string
	for _, op := range spec.Operations() {
		if op.Answer == spec.Page {
			lists = append(lists, op.ID)
		}
	}
	if s.Probe != "" && !slices.Contains(lists, s.Probe) {
		add("probe", "%q is no paged list%s (want one of %s)", s.Probe, pattern.Near(s.Probe, lists), strings.Join(lists, ", "))
	}
}
