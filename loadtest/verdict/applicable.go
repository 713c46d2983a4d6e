package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/pattern"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
)

// Applicable decides before a run which thresholds its scenarios can be judged by.
type Applicable struct {
	Chosen []scenario.Scenario // that run
	// Known are the scenarios that could have been chosen.
	Known    []scenario.Scenario
	Baseline bool // the run has a baseline of its own
	Against  bool // a second target is compared with the first
}

// Merge returns the thresholds that the run's scenarios are judged by: the given ones,
// and those of the profile that apply. The profile serves every load run: skipped are
// its thresholds for other runs. The error names a given threshold that the run can
// never evaluate, one of the profile that no run can, and a baseline without a use.
func (a Applicable) Merge(ofProfile []string, given []measure.Threshold) (merged []measure.Threshold, skipped []string, err error) {
	wrong := []error{a.Check(given)}
	every := a
	every.Chosen = slices.Concat(a.Chosen, a.Known, scenario.Builtin())
	for i, text := range ofProfile {
		t, err := measure.ParseThreshold(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("load.thresholds[%d] in the profile: %w", i, err))
			continue
		}
		if a.never(t) == "" {
			merged = append(merged, t)
			continue
		}
		if why := every.never(a.elsewhere(t)); why != "" {
			wrong = append(wrong, fmt.Errorf("load.thresholds[%d] in the profile: %q: %s", i, text, why))
			continue
		}
		skipped = append(skipped, text)
	}
	merged = slices.Concat(merged, given)
	if a.Baseline && !slices.ContainsFunc(merged, func(t measure.Threshold) bool { return t.Metric == measure.Worse && t.Baseline == "" }) {
		wrong = append(wrong, errors.New("--baseline: no threshold uses it (add one, e.g. --threshold 'worse<5%')"))
	}
	return merged, skipped, errors.Join(wrong...)
}

// Check returns an error for each given threshold that the run can never evaluate, or
// that every run meets.
func (a Applicable) Check(given []measure.Threshold) error {
	var wrong []error
	for _, t := range given {
		if why := a.never(t); why != "" {
			wrong = append(wrong, fmt.Errorf("--threshold %q: %s", t.Text, why))
		}
	}
	return errors.Join(wrong...)
}

// elsewhere returns the threshold as another run may evaluate it: at another rate
// and, if none of the chosen scenarios yields its figure, with a baseline of its own.
func (a Applicable) elsewhere(t measure.Threshold) measure.Threshold {
	t.Rate = 0
	if !slices.ContainsFunc(a.Chosen, func(s scenario.Scenario) bool { return s.Has(t) }) {
		t.Baseline = cmp.Or(t.Baseline, "its own")
	}
	return t
}

// never returns why no run of the scenarios can evaluate the threshold, or miss it,
// and what there is instead; empty if one can.
func (a Applicable) never(t measure.Threshold) string {
	those := func(all []scenario.Scenario, keep func(scenario.Scenario) bool) []scenario.Scenario {
		return slices.DeleteFunc(slices.Clone(all), func(s scenario.Scenario) bool { return !keep(s) })
	}
	measured := those(a.Chosen, func(s scenario.Scenario) bool { return s.Has(t) })
	missable := those(measured, func(s scenario.Scenario) bool { return !s.Meets(t) })
	running := those(measured, func(s scenario.Scenario) bool { return t.Rate == 0 || s.RunsAt(t.Rate) })
	asking := those(running, func(s scenario.Scenario) bool { return t.Label == "" || s.Asks(t.Label) })
	names := scenario.Names(a.Chosen)
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case t.Scenario != "" && !slices.Contains(names, t.Scenario):
		return a.absent(t.Scenario, names)
	case len(measured) == 0:
		return fmt.Sprintf("no selected scenario has this figure (%s)", strings.Join(names, ", "))
	case len(missable) == 0:
		return scenario.EveryRunMeets
	case len(running) == 0:
		return fmt.Sprintf("no phase runs at %v/s: %s", t.Rate, rates(measured))
	case len(asking) == 0:
		labels, operations := labels(running)
		return fmt.Sprintf("no request is labelled %q%s (labels: %s)", t.Label, pattern.Near(t.Label, operations), few(labels))
	case t.Metric == measure.Worse && t.Baseline == "" && !a.Baseline && !a.Against:
		return "no baseline (name the load.json of an earlier run: --baseline FILE, or worse<5% vs FILE; or a second target: --against URL)"
	default:
		return ""
	}
}

// absent returns why a scenario that a threshold names is not among those that run.
func (a Applicable) absent(name string, running []string) string {
	known := scenario.Names(a.Known)
	if slices.Contains(known, name) {
		return fmt.Sprintf("scenario %s is not selected (selected: %s)", name, strings.Join(running, ", "))
	}
	return fmt.Sprintf("unknown scenario %s%s (known: %s)", name, pattern.Near(name, known), strings.Join(known, ", "))
}

// rates returns the rates at which the scenarios run.
func rates(all []scenario.Scenario) string {
	var listed []string
	another := ""
	for _, s := range all {
		one := s.Name + " at no rate of its own"
		if s.RunsAt(s.Rate) {
			one, another = fmt.Sprintf("%s at %v/s", s.Name, s.Rate), "; --rate sets another"
		}
		if !slices.Contains(listed, one) {
			listed = append(listed, one)
		}
	}
	return strings.Join(listed, ", ") + another
}

// labels returns the labels of the scenarios' requests and the operations in them,
// each once.
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

// few lists the first of many.
func few(all []string) string {
	const shown = 12
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(all[:shown], ", "), len(all)-shown)
}
