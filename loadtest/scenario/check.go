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

// given returns the fields that have a value.
func (s Scenario) given() map[string]bool {
	given := map[string]bool{
		"mix": len(s.Mix) > 0, "page_sizes": len(s.Limits) > 0, "rate": s.Rate != 0, "duration": s.Duration != 0, "warmup": s.Warmup != 0,
		"burst": s.Burst != 0, "max_rate": s.MaxRate != 0, "confirm": s.Confirm != 0, "pages": len(s.Pages) > 0,
		"clients": s.Clients != 0, "probe_budget": s.Budget != 0, "probe": s.Probe != "",
	}
	maps.DeleteFunc(given, func(_ string, there bool) bool { return !there })
	return given
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
	given := s.given()
	for _, field := range kind.needs {
		if !given[field] {
			add(field, "is required for a scenario of kind %s", s.Kind)
		}
		delete(given, field)
	}
	for _, field := range kind.takes {
		delete(given, field)
	}
	for _, field := range slices.Sorted(maps.Keys(given)) {
		add(field, "does not apply to a scenario of kind %s", s.Kind)
	}
	s.checkMix(add)
	s.checkProbe(add)
	s.checkNumbers(add)
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
		matches := false
		for _, op := range spec.Operations() {
			matched, err := path.Match(pattern, op.ID)
			matches = matches || matched
			if err != nil {
				add("mix", "%q: %s", pattern, err)
				break
			}
		}
		if !matches {
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

func (s Scenario) checkNumbers(add func(field, format string, args ...any)) {
	rate := func(field string, value float64) {
		if value != 0 && !(value >= schedule.MinRate && value <= schedule.MaxRate) { // NaN fails too
			add(field, "%v: want %v to %v requests per second", value, schedule.MinRate, schedule.MaxRate)
		}
	}
	rate("rate", s.Rate)
	rate("burst", s.Burst)
	rate("max_rate", s.MaxRate)
	if s.Burst != 0 && s.Burst <= s.Rate {
		add("burst", "%v: want more than the base rate %v", s.Burst, s.Rate)
	}
	if s.MaxRate != 0 && s.MaxRate < s.Rate {
		add("max_rate", "%v: want at least the initial rate %v (--rate lowers it)", s.MaxRate, s.Rate)
	}
	lasts := func(field string, value time.Duration) {
		if value < 0 || value > schedule.MaxDuration {
			add(field, "%s: want 0s to %s", value, schedule.MaxDuration)
		}
	}
	lasts("duration", s.Duration)
	lasts("warmup", s.Warmup)
	lasts("confirm", s.Confirm)
	within := func(field string, value, least, most int) {
		if value < least || value > most {
			add(field, "%d: want %d to %d", value, least, most)
		}
	}
	within("clients", s.Clients, 0, maxClients)
	within("probe_budget", s.Budget, 0, 100_000_000)
	if len(s.Limits) > maxLimits {
		add("page_sizes", "%d page sizes: want at most %d", len(s.Limits), maxLimits)
	}
	for _, limit := range s.Limits {
		within("page_sizes", limit, 1, maxLimit)
	}
	if len(s.Pages) > maxPages {
		add("pages", "%d places: want at most %d", len(s.Pages), maxPages)
	}
	for _, page := range s.Pages {
		within("pages", page, 1, 1_000_000)
	}
}

func kindNames() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
