package runner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/pattern"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

// Selection narrows a run. Its parts are patterns of package pattern; the empty
// Selection selects everything.
type Selection struct {
	Profiles     []spec.Profile
	Operations   []string `flag:"operation" usage:"only these operations, e.g. 'subsequences.*'; '!leads.*' excludes"`
	Requirements []string `flag:"requirement" usage:"only these requirements, e.g. 'AUTH-*'"`
	Groups       []string `flag:"group" usage:"only these groups of requirements: {groups}"`
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

	saw map[string]bool // the names of the specs that saw them fail
}

// RepeatFailed returns what failed in the results. A rule can fail in a response to any
// spec, so the specs that saw it fail run again, besides its own.
func RepeatFailed(from string, results reports.Results) (*Repeat, error) {
	r := &Repeat{From: from, saw: map[string]bool{}}
	var unknown []string
	for _, c := range results.Checks {
		p := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
		switch {
		case c.Outcome != reports.Fail && c.Outcome != reports.Error:
			continue
		case !spec.Has(p):
			unknown = append(unknown, c.Requirement+" on "+c.Operation)
			continue
		}
		r.Pairs = append(r.Pairs, p)
		for _, v := range c.Violations {
			r.saw[v.Spec] = true
		}
	}
	switch {
	case len(unknown) > 0:
		return nil, fmt.Errorf("%s: this version has no check %s (run without --only-failed)", from, strings.Join(unknown, ", "))
	case len(r.Pairs) == 0:
		return nil, fmt.Errorf("%s: no check failed or ended in an error, so there is nothing to repeat (verdict: %s)", from, results.Verdict)
	}
	return r, nil
}

// ErrNothingSelected: each filter is known, but together they leave nothing.
var ErrNothingSelected = errors.New("the filters leave not one requirement to judge")

// everything reports whether no filter is given. The profile of the target may still
// exclude operations.
func (s Selection) everything() bool { return s.full() && s.String() == "" }

func (s Selection) full() bool {
	return len(s.Profiles) == 0 || slices.Contains(s.Profiles, spec.ProfileFull)
}

// profileName names the profiles for people.
func (s Selection) profileName() string {
	if s.full() {
		return string(spec.ProfileFull)
	}
	return strings.Join(texts(s.Profiles), ",")
}

// filter is what one flag selects.
type filter struct {
	flag            string
	patterns, names []string
	hint            string // where the names stand
}

func (s Selection) filters() []filter {
	var requirements []string
	for _, r := range spec.Requirements() {
		requirements = append(requirements, r.ID)
	}
	operations, groups := spec.OperationIDs(), texts(spec.Groups())
	return []filter{
		{"operation", s.Operations, operations, "known: " + strings.Join(operations, ", ")},
		{"requirement", s.Requirements, requirements, "`outreach-conformance requirements` lists them"},
		{"group", s.Groups, groups, "known: " + strings.Join(groups, ", ")},
	}
}

// String writes the filters as flags; empty if there are none.
func (s Selection) String() string {
	var flags []string
	for _, f := range s.filters() {
		for _, p := range f.patterns {
			flags = append(flags, "--"+f.flag+" "+p)
		}
	}
	if s.Repeat != nil {
		flags = append(flags, "--only-failed "+s.Repeat.From)
	}
	return strings.Join(flags, " ")
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
	omitted := onFields(func(f spec.Field) bool { return slices.Contains(s.Omitted, f.Name()) }, spec.Present)
	selected := slices.DeleteFunc(spec.Pairs(), func(p spec.Pair) bool {
		r, _ := spec.FindRequirement(p.Requirement)
		return omitted[r.ID] || !s.full() && !slices.Contains(s.Profiles, r.Profile) ||
			!s.Operation(p.Operation) || !pattern.Fits(s.Requirements, r.ID) || !pattern.Fits(s.Groups, string(r.Group)) ||
			s.Repeat != nil && !slices.Contains(s.Repeat.Pairs, p)
	})
	if len(selected) == 0 {
		filters := strings.TrimSpace("--profile " + s.profileName() + " " + s.String())
		if len(s.Implemented) > 0 {
			filters += "; operations in the target profile: " + strings.Join(s.Implemented, ", ")
		}
		return nil, fmt.Errorf("%w (%s)", ErrNothingSelected, filters)
	}
	return selected, nil
}

// Plan returns the plan that runs the specs which judge any of the pairs. What only observes
// is part of a run without filters. What saw an earlier failure is part of a run that repeats
// it.
func (s Selection) Plan(pairs []spec.Pair) tree.Plan {
	selected := among(pairs)
	if len(pairs) == len(spec.Pairs()) {
		return tree.Plan{}
	}
	return tree.Plan{Selects: func(one api.Spec) bool {
		observes := len(one.Pairs) == 0 && s.everything() && s.Operation(one.Operation)
		return observes || slices.ContainsFunc(one.Pairs, selected) || s.Repeat != nil && s.Repeat.saw[one.Name()]
	}}
}

// Lacks returns what the profile lacks for each selected pair that a run cannot judge with it,
// in words.
func (s Selection) Lacks(p *profile.Profile) (map[spec.Pair]string, error) {
	s = s.For(p)
	pairs, err := s.Pairs()
	if err != nil {
		return nil, err
	}
	lacks, selected := suites.Tree.Lacks(s.Plan(pairs), p), among(pairs)
	maps.DeleteFunc(lacks, func(p spec.Pair, _ string) bool { return !selected(p) })
	for _, pair := range pairs {
		if r, _ := spec.FindRequirement(pair.Requirement); p.Stateless && r.NeedsState() {
			lacks[pair] = keepsNothing
		}
	}
	return lacks, nil
}

// among reports whether a pair is one of them.
func among(pairs []spec.Pair) func(spec.Pair) bool {
	set := make(map[spec.Pair]bool, len(pairs))
	for _, p := range pairs {
		set[p] = true
	}
	return func(p spec.Pair) bool { return set[p] }
}

// check returns an error for each name or pattern that the catalogue does not have.
func (s Selection) check() error {
	names := texts(spec.Profiles())
	for _, p := range texts(s.Profiles) {
		if !slices.Contains(names, p) {
			hint := ""
			if strings.ContainsAny(p, "./") {
				hint = " (--target-profile takes the description of a target)"
			}
			return fmt.Errorf("unknown profile %q%s; known: %s%s", p, pattern.Near(p, names), strings.Join(names, ", "), hint)
		}
	}
	var wrong []error
	for _, f := range s.filters() {
		for _, p := range f.patterns {
			if err := pattern.Check(f.flag, p, f.names); err != nil {
				wrong = append(wrong, fmt.Errorf("%w; %s", err, f.hint))
				break
			}
		}
	}
	return errors.Join(wrong...)
}

// CheckOperations returns an error for a pattern that matches no operation.
func (s Selection) CheckOperations() error { return Selection{Operations: s.Operations}.check() }

// texts returns names of the catalogue as strings.
func texts[T ~string](names []T) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return all
}
