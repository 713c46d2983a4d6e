package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/pattern"
	"outreach.example/conformance/internal/suggest"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// Selection narrows a run. Its parts are patterns of package pattern; the empty
// Selection selects everything.
type Selection struct {
	Profiles     []spec.Profile
	Operations   []string
	Requirements []string
	Groups       []string
	// Implemented are the operations of the target's profile (For).
	Implemented []string
	// Omitted are the fields that the target's profile omits (For).
	Omitted []string
	// Repeat narrows the run to what failed in an earlier one; nil does not.
	Repeat *Repeat
}

// Repeat is what failed in an earlier run.
type Repeat struct {
	From  string      // where its results are, for people
	Pairs []spec.Pair // the checks that failed, or ended in an error
	specs []string    // the names of the specs that judge them or saw them fail
}

// RepeatFailed returns what failed in the results. A rule can fail in a response to any
// spec, so the specs that saw it fail run again, besides its own.
func RepeatFailed(from string, results reports.Results) (*Repeat, error) {
	r := &Repeat{From: from}
	var unknown []string
	runs := map[string]bool{} // the names of the specs
	for _, c := range results.Checks {
		if c.Outcome != reports.Fail && c.Outcome != reports.Error {
			continue
		}
		p := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
		if !spec.Has(p) {
			unknown = append(unknown, c.Requirement+" on "+c.Operation)
			continue
		}
		r.Pairs = append(r.Pairs, p)
		for _, v := range c.Violations {
			runs[v.Spec] = true
		}
	}
	switch {
	case len(unknown) > 0:
		return nil, fmt.Errorf("%s: this version has no check %s (run without --only-failed)", from, strings.Join(unknown, ", "))
	case len(r.Pairs) == 0:
		return nil, fmt.Errorf("%s: no check failed or ended in an error, so there is nothing to repeat (verdict: %s)", from, results.Verdict)
	}
	judges := suites.Judges()
	for _, p := range r.Pairs {
		for _, name := range judges[p] {
			runs[name] = true
		}
	}
	for _, s := range suites.Specs() { // other names in the file are of another version
		if runs[s.Name()] {
			r.specs = append(r.specs, s.Name())
		}
	}
	return r, nil
}

// ErrNothingSelected: each filter is known, but together they leave nothing.
var ErrNothingSelected = errors.New("the filters leave not one requirement to judge")

// Everything reports whether no filter is given. The profile of the target may still
// exclude operations.
func (s Selection) Everything() bool {
	return s.full() && len(s.Operations)+len(s.Requirements)+len(s.Groups) == 0 && s.Repeat == nil
}

func (s Selection) full() bool {
	return len(s.Profiles) == 0 || slices.Contains(s.Profiles, spec.ProfileFull)
}

// ProfileName names the profiles for people.
func (s Selection) ProfileName() string {
	if s.full() {
		return string(spec.ProfileFull)
	}
	names := make([]string, len(s.Profiles))
	for i, p := range s.Profiles {
		names[i] = string(p)
	}
	return strings.Join(names, ",")
}

// String writes the filters as flags; empty if there are none.
func (s Selection) String() string {
	var flags []string
	for _, part := range []struct {
		flag   string
		values []string
	}{{"operation", s.Operations}, {"requirement", s.Requirements}, {"group", s.Groups}} {
		for _, v := range part.values {
			flags = append(flags, "--"+part.flag+" "+v)
		}
	}
	if s.Repeat != nil {
		flags = append(flags, "--only-failed "+s.Repeat.From)
	}
	return strings.Join(flags, " ")
}

// Selects returns what reports whether a spec runs; nil for all. It selects the specs that
// judge a selected pair. What only observes is part of a run without filters.
func (s Selection) Selects() func(suites.Spec) bool {
	switch {
	case s.Repeat != nil:
		return func(one suites.Spec) bool { return slices.Contains(s.Repeat.specs, one.Name()) }
	case s.Everything() && len(s.Implemented) == 0:
		return nil
	}
	pairs, _ := s.Pairs() // a caller that does not check them runs nothing
	selected := map[spec.Pair]bool{}
	for _, p := range pairs {
		selected[p] = true
	}
	return func(one suites.Spec) bool {
		return len(one.Pairs) == 0 && s.Everything() && s.Operation(one.Operation) ||
			slices.ContainsFunc(one.Pairs, func(p spec.Pair) bool { return selected[p] })
	}
}

// For returns the selection for a target, whose profile leaves out what it does not
// implement.
func (s Selection) For(p *profile.Profile) Selection {
	s.Implemented, s.Omitted = p.Operations, p.Omits
	return s
}

// Operation reports whether the selection has the operation.
func (s Selection) Operation(id string) bool {
	return pattern.Fits(s.Operations, id) && pattern.Fits(s.Implemented, id)
}

// Pairs returns the selected requirement × operation pairs. A pattern that
// matches nothing in the catalogue is an error that names what is near.
func (s Selection) Pairs() ([]spec.Pair, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var selected []spec.Pair
	omitted := presenceOf(s.Omitted)
	for _, p := range spec.Pairs() {
		if omitted[p.Requirement] {
			continue
		}
		r, _ := spec.FindRequirement(p.Requirement)
		if (s.full() || slices.Contains(s.Profiles, r.Profile)) &&
			s.Operation(p.Operation) && pattern.Fits(s.Requirements, p.Requirement) && pattern.Fits(s.Groups, string(r.Group)) &&
			(s.Repeat == nil || slices.Contains(s.Repeat.Pairs, p)) {
			selected = append(selected, p)
		}
	}
	if len(selected) == 0 {
		filters := strings.TrimSpace("--profile " + s.ProfileName() + " " + s.String())
		if len(s.Implemented) > 0 {
			filters += "; operations in the target profile: " + strings.Join(s.Implemented, ", ")
		}
		return nil, fmt.Errorf("%w (%s)", ErrNothingSelected, filters)
	}
	return selected, nil
}

func (s Selection) check() error {
	for _, p := range s.Profiles {
		if !slices.Contains(spec.Profiles(), p) {
			names := texts(spec.Profiles())
			hint := ""
			if strings.ContainsAny(string(p), "./") {
				hint = " (--target-profile takes the description of a target)"
			}
			return fmt.Errorf("unknown profile %q%s; known: %s%s", p, suggest.Near(string(p), names), strings.Join(names, ", "), hint)
		}
	}
	return errors.Join(
		s.CheckOperations(),
		known("requirement", s.Requirements, requirementIDs(), "`outreach-conformance requirements` lists them"),
		known("group", s.Groups, texts(spec.Groups()), "known: "+strings.Join(texts(spec.Groups()), ", ")),
	)
}

// CheckOperations returns an error for a pattern that matches no operation.
func (s Selection) CheckOperations() error {
	return known("operation", s.Operations, operationIDs(), "known: "+strings.Join(operationIDs(), ", "))
}

func operationIDs() []string {
	var ids []string
	for _, op := range spec.Operations() {
		ids = append(ids, op.ID)
	}
	return ids
}

func requirementIDs() []string {
	var ids []string
	for _, r := range spec.Requirements() {
		ids = append(ids, r.ID)
	}
	return ids
}

// texts returns names of the catalogue as strings.
func texts[T ~string](names []T) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return all
}

// known makes sure that every pattern matches something. The hint tells where
// the names stand.
func known(what string, patterns, names []string, hint string) error {
	for _, p := range patterns {
		if err := pattern.Check(what, p, names); err != nil {
			return fmt.Errorf("%w; %s", err, hint)
		}
	}
	return nil
}
