package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/pattern"
)

// Select returns the scenarios of these names, in this order; without names, all of
// them. An unknown name is an error.
func Select(all []Scenario, names []string) ([]Scenario, error) {
	if len(names) == 0 {
		return all, nil
	}
	known := Names(all)
	var picked []Scenario
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("%s: unknown scenario%s (known: %s)", name, pattern.Near(name, known), strings.Join(known, ", "))
		}
		picked = append(picked, all[i])
	}
	return picked, nil
}

// Setting overrides a field of the scenarios whose kind has it.
type Setting struct {
	Name  string // of the setting, for messages
	Field string // its YAML name
	Value any    // of the field's type
}

// Override returns the scenarios with the settings. A setting that none of them has
// is an error, and so is a scenario that a setting makes invalid.
func Override(picked []Scenario, settings ...Setting) ([]Scenario, error) {
	picked = slices.Clone(picked)
	var wrong []error
	for _, setting := range settings {
		used := false
		for i := range picked {
			used = picked[i].set(setting) || used
		}
		if !used {
			wrong = append(wrong, fmt.Errorf("%s: no selected scenario has this setting (%s)", setting.Name, strings.Join(Names(picked), ", ")))
		}
	}
	for _, s := range picked {
		wrong = append(wrong, s.Check())
	}
	return picked, errors.Join(wrong...)
}

// set sets the field and reports whether the scenario's kind has it. With the duration of
// the phases, the confirmation of a search keeps its proportion.
func (s *Scenario) set(to Setting) bool {
	kind := uses[s.Kind]
	if !slices.Contains(slices.Concat(kind.needs, kind.takes), to.Field) {
		return false
	}
	if phase, ok := to.Value.(time.Duration); ok && to.Field == "duration" && s.Duration > 0 && phase > 0 {
		s.Confirm = time.Duration(float64(s.Confirm) * float64(phase) / float64(s.Duration))
	}
	for name, value := range s.fields() {
		if name == to.Field {
			value.Set(reflect.ValueOf(to.Value))
		}
	}
	return true
}
