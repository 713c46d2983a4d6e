package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/suggest"
	"outreach.example/conformance/loadtest/scenario"
)

// chosen returns the scenarios that the flags name, with what the flags change
// in them. An unknown name is an error, and so is a setting that none of them has.
func (f loadFlags) chosen() ([]scenario.Scenario, error) {
	all, err := f.known()
	if err != nil {
		return nil, err
	}
	names := scenario.Names(all)
	var picked []scenario.Scenario
	for _, name := range f.scenarios {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("--scenario %s: unknown scenario%s (known: %s)", name, suggest.Near(name, names), strings.Join(names, ", "))
		}
		picked = append(picked, all[i])
	}
	if len(f.scenarios) == 0 {
		picked = all
	}
	return f.adjust(picked)
}

func (f loadFlags) known() ([]scenario.Scenario, error) {
	if f.file == "" {
		return scenario.Builtin(), nil
	}
	return scenario.Load(f.file)
}

// setting is a flag that changes a field of the scenarios whose kind has it.
type setting struct {
	flag  string
	given bool
	field string
	set   func(*scenario.Scenario)
}

func (f loadFlags) settings() []setting {
	return []setting{
		{"rate", f.given["rate"], "rate", func(s *scenario.Scenario) { s.Rate = f.rate }},
		{"burst", f.given["burst"], "burst", func(s *scenario.Scenario) { s.Burst = f.burst }},
		{"max-rate", f.given["max-rate"], "max_rate", func(s *scenario.Scenario) { s.MaxRate = f.maxRate }},
		{"duration", f.given["duration"], "duration", func(s *scenario.Scenario) { s.Last(f.duration) }},
		{"warmup", f.given["warmup"], "warmup", func(s *scenario.Scenario) { s.Warmup = f.warmup }},
		{"clients", f.given["clients"], "clients", func(s *scenario.Scenario) { s.Clients = f.clients }},
		{"page-size", len(f.limits) > 0, "page_sizes", func(s *scenario.Scenario) { s.Limits = f.limits }},
		{"mix", len(f.mix) > 0, "mix", func(s *scenario.Scenario) { s.Mix = f.mix }},
		{"probe-budget", f.given["probe-budget"], "probe_budget", func(s *scenario.Scenario) { s.Budget = f.budget }},
	}
}

func (f loadFlags) adjust(picked []scenario.Scenario) ([]scenario.Scenario, error) {
	var wrong []error
	for _, setting := range f.settings() {
		if !setting.given {
			continue
		}
		used := false
		for i := range picked {
			if picked[i].Takes(setting.field) {
				setting.set(&picked[i])
				used = true
			}
		}
		if !used {
			wrong = append(wrong, fmt.Errorf("--%s: no selected scenario has this setting (%s)", setting.flag, strings.Join(scenario.Names(picked), ", ")))
		}
	}
	for _, s := range picked {
		wrong = append(wrong, s.Check())
	}
	return picked, errors.Join(wrong...)
}

// listScenarios prints the scenarios with their settings.
func listScenarios(w io.Writer, all []scenario.Scenario) error {
	for _, s := range all {
		lasts := "about " + s.Lasts().Round(100*time.Millisecond).String()
		if s.Kind == scenario.Sustained {
			lasts = fmt.Sprintf("%s per rate tried", s.Duration)
		}
		if _, err := fmt.Fprintf(w, "%s (%s, %s)\n  %s\n  %s\n", s.Name, s.Kind, lasts, s.About, s.Settings()); err != nil {
			return err
		}
	}
	return nil
}
