package scenario

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/suggest"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/spec"
)

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Limits of a scenario's fields: larger values are typing errors.
const (
	maxClients = 10_000
	maxLimits  = 20
	maxLimit   = 100 // of the specification; the run command tests larger limits
	maxPages   = 50
	maxWeight  = 1_000
)

// problem is an error in one field of a scenario.
type problem struct{ field, what string }

// uses lists the required and optional fields of each kind.
var uses = map[Kind]struct{ needs, takes []string }{
	Steady:    {[]string{"mix", "rate", "duration"}, []string{"page_sizes", "warmup"}},
	Spike:     {[]string{"mix", "rate", "duration", "burst"}, []string{"page_sizes", "warmup"}},
	Soak:      {[]string{"mix", "rate", "duration"}, []string{"page_sizes", "warmup"}},
	Sustained: {[]string{"mix", "rate", "duration", "max_rate", "confirm"}, []string{"page_sizes", "warmup"}},
	Depth:     {[]string{"mix", "rate", "duration", "pages"}, []string{"page_sizes", "warmup"}},
	Walk:      {[]string{"mix", "clients", "duration"}, []string{"page_sizes"}},
	RateLimit: {[]string{"probe_budget", "duration"}, []string{"probe"}},
}

// field is a field that only some kinds have.
type field struct {
	name  string
	given bool
	wrong string // why its value is out of bounds; empty if it is not
}

func (s Scenario) fields() []field {
	rate := func(name string, value float64) field {
		f := field{name, value != 0, ""}
		if f.given && !(value >= schedule.MinRate && value <= schedule.MaxRate) { // NaN fails too
			f.wrong = fmt.Sprintf("%v: want %v to %v requests per second", value, schedule.MinRate, schedule.MaxRate)
		}
		return f
	}
	lasts := func(name string, value time.Duration) field {
		f := field{name, value != 0, ""}
		if value < 0 || value > schedule.MaxDuration {
			f.wrong = fmt.Sprintf("%s: want 0s to %s", value, schedule.MaxDuration)
		}
		return f
	}
	numbers := func(name string, least, most, mostOfThem int, values ...int) field {
		f := field{name, slices.ContainsFunc(values, func(n int) bool { return n != 0 }), ""}
		if len(values) > mostOfThem {
			f.wrong = fmt.Sprintf("%d values: want at most %d", len(values), mostOfThem)
		}
		for _, n := range values {
			if n < least || n > most {
				f.wrong = fmt.Sprintf("%d: want %d to %d", n, least, most)
			}
		}
		return f
	}
	return []field{
		{"mix", len(s.Mix) > 0, ""}, {"probe", s.Probe != "", ""},
		rate("rate", s.Rate), rate("burst", s.Burst), rate("max_rate", s.MaxRate),
		lasts("duration", s.Duration), lasts("warmup", s.Warmup), lasts("confirm", s.Confirm),
		numbers("clients", 0, maxClients, 1, s.Clients), numbers("probe_budget", 0, 100_000_000, 1, s.Budget),
		numbers("page_sizes", 1, maxLimit, maxLimits, s.Limits...), numbers("pages", 1, 1_000_000, maxPages, s.Pages...),
	}
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
		add("kind", "%q: want one of %s", s.Kind, kindNames())
		return found
	}
	for _, f := range s.fields() {
		needed := slices.Contains(kind.needs, f.name)
		switch {
		case f.wrong != "":
			add(f.name, "%s", f.wrong)
		case needed && !f.given:
			add(f.name, "is required for a scenario of kind %s", s.Kind)
		case f.given && !needed && !slices.Contains(kind.takes, f.name):
			add(f.name, "does not apply to a scenario of kind %s", s.Kind)
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
	if s.Probe == "" {
		return
	}
	var lists []string
	for _, op := range spec.Operations() {
		if op.Answer == spec.Page {
			lists = append(lists, op.ID)
		}
	}
	if !slices.Contains(lists, s.Probe) {
		add("probe", "%q is no paged list%s (want one of %s)", s.Probe, suggest.Near(s.Probe, lists), strings.Join(lists, ", "))
	}
}

func kindNames() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
