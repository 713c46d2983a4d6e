package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"outreach.example/conformance/internal/suggest"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
)

// checkedThresholds returns those that the scenarios are held against, of the
// profile and of the flags. One that can never be told is an error: of a flag by
// the scenarios that were chosen, of the profile, which is for every load run, by
// all that there are. Those of the profile that are for others are told on stderr.
func (f loadFlags) checkedThresholds(chosen []scenario.Scenario, stderr io.Writer) ([]threshold.Threshold, error) {
	given, err := parseThresholds(f.thresholds)
	wrong := []error{err}
	for _, t := range given {
		if why := f.never(chosen, t); why != "" {
			wrong = append(wrong, fmt.Errorf("--threshold %q: %s", t.Text, why))
		}
	}
	profile, err := f.profile()
	if err != nil || profile.Load == nil {
		return given, errors.Join(wrong...) // a profile that cannot be read is for whoever needs it to complain of
	}
	all, err := f.known()
	if err != nil {
		return nil, err
	}
	all = slices.Concat(chosen, all, scenario.Builtin())
	own, others := []threshold.Threshold{}, []string{}
	for i, text := range profile.Load.Thresholds {
		t, err := threshold.Parse(text)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("load.thresholds[%d] in the profile: %w", i, err))
		case f.never(chosen, t) == "":
			own = append(own, t)
		case f.never(all, ofAnother(chosen, t)) != "":
			wrong = append(wrong, fmt.Errorf("load.thresholds[%d] in the profile: %q: %s", i, text, f.never(all, ofAnother(chosen, t))))
		default:
			others = append(others, text)
		}
	}
	err = errors.Join(wrong...)
	if err == nil && len(others) > 0 {
		_, _ = fmt.Fprintf(stderr, "skipped thresholds of the profile, which do not apply to this run: %s\n", strings.Join(others, ", "))
	}
	return slices.Concat(own, given), err
}

// ofAnother is the threshold as another run may be held against it, with a rate
// (--rate) and, if none of the chosen scenarios yields its figure, a baseline of
// its own.
func ofAnother(chosen []scenario.Scenario, t threshold.Threshold) threshold.Threshold {
	t.Rate = 0
	if !slices.ContainsFunc(chosen, func(s scenario.Scenario) bool { return s.Has(t) }) {
		t.Baseline = cmp.Or(t.Baseline, "its own")
	}
	return t
}

// never says why no run of the scenarios can tell the threshold, or miss it, with
// what there is instead; empty if one can.
func (f loadFlags) never(all []scenario.Scenario, t threshold.Threshold) string {
	if t.Metric == "" {
		return "" // it could not be read, which is told
	}
	has := func(of func(scenario.Scenario) bool) []scenario.Scenario {
		return slices.DeleteFunc(slices.Clone(all), func(s scenario.Scenario) bool { return !of(s) })
	}
	measured := has(func(s scenario.Scenario) bool { return s.Has(t) })
	running := has(func(s scenario.Scenario) bool { return s.Has(t) && (t.Rate == 0 || s.RunsAt(t.Rate)) })
	asking := has(func(s scenario.Scenario) bool {
		return s.Has(t) && (t.Rate == 0 || s.RunsAt(t.Rate)) && (t.Label == "" || s.Asks(t.Label))
	})
	missable := has(func(s scenario.Scenario) bool { return s.Has(t) && !s.Meets(t) })
	names := scenario.Names(all)
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case t.Scenario != "" && !slices.Contains(names, t.Scenario):
		return f.absent(t.Scenario, names)
	case len(measured) == 0:
		return fmt.Sprintf("no selected scenario has this figure (%s)", strings.Join(names, ", "))
	case len(missable) == 0:
		return scenario.EveryRunMeets
	case len(running) == 0:
		return fmt.Sprintf("no phase runs at %v/s: %s", t.Rate, rates(measured))
	case len(asking) == 0:
		labels, operations := labels(running)
		return fmt.Sprintf("no request is labelled %q%s (labels: %s)", t.Label, suggest.Near(t.Label, operations), few(labels))
	case t.Metric == threshold.Regression && t.Baseline == "" && f.baseline == "":
		return "no baseline (name the load.json of an earlier run: --baseline FILE, or regression<10% vs FILE)"
	default:
		return ""
	}
}

// absent says that the scenario, which a threshold names, is none of those that run.
func (f loadFlags) absent(name string, running []string) string {
	there := strings.Join(running, ", ")
	if known, err := f.known(); err == nil && slices.Contains(scenario.Names(known), name) {
		return fmt.Sprintf("scenario %s is not selected (selected: %s)", name, there)
	}
	return fmt.Sprintf("unknown scenario %s%s (known: %s)", name, suggest.Near(name, running), there)
}

// rates says at which rates the scenarios run.
func rates(all []scenario.Scenario) string {
	var said []string
	another := ""
	for _, s := range all {
		one := s.Name + " at no rate of its own"
		if s.RunsAt(s.Rate) {
			one, another = fmt.Sprintf("%s at %v/s", s.Name, s.Rate), "; --rate sets another"
		}
		if !slices.Contains(said, one) {
			said = append(said, one)
		}
	}
	return strings.Join(said, ", ") + another
}

// labels are those of the scenarios' requests, and the operations in them, each once.
func labels(all []scenario.Scenario) (labels, operations []string) {
	for _, s := range all {
		labels = append(labels, s.Labels()...)
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	for _, label := range labels {
		operation, _, _ := strings.Cut(label, " ")
		operations = append(operations, operation)
	}
	return labels, slices.Compact(operations)
}

// few names the first of many.
func few(all []string) string {
	const shown = 12
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(all[:shown], ", "), len(all)-shown)
}
