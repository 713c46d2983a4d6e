package sequence

import (
	"maps"
	"slices"

	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/suites"
)

// Simpler returns sequences that are simpler than this one in one respect, the simplest
// first: without a step, or with a simpler step.
func Simpler(steps []Step) [][]Step {
	var all [][]Step
	for i := range slices.Backward(steps) {
		if i > 0 && i < len(steps)-1 {
			all = append(all, steps[:i:i]) // without all later ones
		}
		if len(steps) > 1 {
			all = append(all, slices.Delete(slices.Clone(steps), i, i+1))
		}
	}
	for i, step := range steps {
		for _, simple := range step.simpler() {
			changed := slices.Clone(steps)
			changed[i] = simple
			all = append(all, changed)
		}
	}
	return all
}

// simpler returns steps that are simpler than this one in one respect.
func (s Step) simpler() []Step {
	var all []Step
	switch s.Do { // what the walk changes may show the violation by itself
	case Remove:
		all = append(all, Step{Do: Delete, Test: s.Test})
	case Insert:
		all = append(all, Step{Do: Create})
	}
	for _, fields := range simplerFields(s.Create) {
		changed := s
		changed.Create = fields
		all = append(all, changed)
	}
	if s.Do == List {
		for _, query := range SimplerQueries(s.Query) {
			changed := s
			changed.Query = query
			all = append(all, changed)
		}
	}
	for _, number := range []func(*Step) *int{
		func(s *Step) *int { return &s.Test }, func(s *Step) *int { return &s.Row }, func(s *Step) *int { return &s.To },
		func(s *Step) *int { return &s.Variables }, func(s *Step) *int { return &s.Limit },
	} {
		changed := s
		if n := number(&changed); *n > 0 {
			*n--
			all = append(all, changed)
		}
	}
	for i := range s.Accounts {
		if len(s.Accounts) > 1 {
			changed := s
			changed.Accounts = slices.Delete(slices.Clone(s.Accounts), i, i+1)
			all = append(all, changed)
		}
	}
	if s.Metadata != "" {
		changed := s
		changed.Metadata = ""
		all = append(all, changed)
	}
	return all
}

// SimplerQueries returns queries that are simpler than this one in one respect, the simplest
// first: without parameters, with fewer pages, or with pages of one size.
func SimplerQueries(q oracle.Query) []oracle.Query {
	var all []oracle.Query
	add := func(change func(*oracle.Query)) {
		changed := q
		change(&changed)
		all = append(all, changed)
	}
	if len(q.Parameters) > 1 {
		add(func(c *oracle.Query) { c.Parameters = nil })
	}
	for _, parameter := range slices.Sorted(maps.Keys(q.Parameters)) {
		add(func(c *oracle.Query) {
			c.Parameters = maps.Clone(q.Parameters)
			delete(c.Parameters, parameter)
			if len(c.Parameters) == 0 {
				c.Parameters = nil
			}
		})
	}
	for pages := 1; pages < q.Pages; pages *= 2 {
		add(func(c *oracle.Query) { c.Pages = pages })
	}
	if q.Pages > 2 {
		add(func(c *oracle.Query) { c.Pages = q.Pages - 1 })
	}
	if len(q.Sizes) > 1 {
		for i := range q.Sizes {
			add(func(c *oracle.Query) { c.Sizes = q.Sizes[i : i+1] })
		}
	}
	return all
}

// simplerFields returns creations that send less.
func simplerFields(f suites.NewTestFields) []suites.NewTestFields {
	var all []suites.NewTestFields
	add := func(change func(*suites.NewTestFields)) {
		changed := f
		change(&changed)
		all = append(all, changed)
	}
	if len(f.Optional) > 1 {
		add(func(c *suites.NewTestFields) { c.Optional = nil })
		add(func(c *suites.NewTestFields) { c.Optional = f.Optional[:len(f.Optional)/2] })
		add(func(c *suites.NewTestFields) { c.Optional = f.Optional[len(f.Optional)/2:] })
	}
	for i := range f.Optional {
		add(func(c *suites.NewTestFields) { c.Optional = slices.Delete(slices.Clone(f.Optional), i, i+1) })
	}
	for i := range f.Null {
		add(func(c *suites.NewTestFields) { c.Null = slices.Delete(slices.Clone(f.Null), i, i+1) })
	}
	for _, field := range slices.Sorted(maps.Keys(f.Texts)) {
		add(func(c *suites.NewTestFields) {
			c.Texts = maps.Clone(f.Texts)
			delete(c.Texts, field)
		})
	}
	if f.ReadOnly != "" {
		add(func(c *suites.NewTestFields) { c.ReadOnly = "" })
	}
	if f.Field != "" {
		add(func(c *suites.NewTestFields) { c.Field, c.Value = "", 0 })
	}
	if f.RunNow {
		add(func(c *suites.NewTestFields) { c.RunNow = false })
	}
	return all
}
