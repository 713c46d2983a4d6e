package runner

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/internal/suggest"
	"outreach.example/conformance/spec"
)

// Selection narrows a run. Its parts are patterns as in path.Match, where
// "*" stands for any text; the empty Selection selects everything.
type Selection struct {
	Profiles     []spec.Profile
	Operations   []string
	Requirements []string
	Groups       []string
}

// ErrNothingSelected: each filter is known, but together they leave nothing.
var ErrNothingSelected = errors.New("the filters leave not one requirement to judge")

// Everything reports whether nothing is filtered out.
func (s Selection) Everything() bool {
	return s.full() && len(s.Operations)+len(s.Requirements)+len(s.Groups) == 0
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
	return strings.Join(flags, " ")
}

// LabelFilter returns the selection as a filter of Ginkgo's labels. It selects
// every spec that judges a selected pair, and perhaps more. What only observes is
// part of a whole run.
func (s Selection) LabelFilter() string {
	if s.Everything() {
		return ""
	}
	parts := []string{"!observation"}
	add := func(kind string, patterns []string) {
		if len(patterns) == 0 {
			return
		}
		expressions := make([]string, len(patterns))
		for i, p := range patterns {
			expressions[i] = expression(p)
		}
		parts = append(parts, fmt.Sprintf("/^%s:(%s)$/", kind, strings.Join(expressions, "|")))
	}
	if !s.full() {
		var profiles []string
		for _, p := range s.Profiles {
			profiles = append(profiles, string(p))
		}
		add("profile", profiles)
	}
	add("operation", s.Operations)
	add("requirement", s.Requirements)
	add("group", s.Groups)
	return strings.Join(parts, " && ")
}

// expression returns a pattern of path.Match as a regular expression. Names have
// no slash, which would end the expression in Ginkgo's filter.
func expression(pattern string) string {
	var e strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			e.WriteString(".*")
		case '?':
			e.WriteString(".")
		case '[', ']', '-', '^':
			e.WriteByte(c)
		case '\\':
			i++
			if i < len(pattern) {
				e.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			}
		default:
			e.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return e.String()
}

// Pairs returns the selected requirement × operation pairs. A pattern that
// matches nothing in the catalogue is an error that names what is near.
func (s Selection) Pairs() ([]spec.Pair, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var selected []spec.Pair
	for _, p := range spec.Pairs() {
		r, _ := spec.FindRequirement(p.Requirement)
		if (s.full() || slices.Contains(s.Profiles, r.Profile)) &&
			fits(s.Operations, p.Operation) && fits(s.Requirements, p.Requirement) && fits(s.Groups, string(r.Group)) {
			selected = append(selected, p)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("%w (%s)", ErrNothingSelected, strings.TrimSpace("--profile "+s.ProfileName()+" "+s.String()))
	}
	return selected, nil
}

// fits reports whether the name matches one of the patterns, or there are none.
func fits(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

func (s Selection) check() error {
	for _, p := range s.Profiles {
		if !slices.Contains(spec.Profiles(), p) {
			var names []string
			for _, known := range spec.Profiles() {
				names = append(names, string(known))
			}
			return fmt.Errorf("there is no profile %q%s; there are %s", p, suggest.Near(string(p), names), strings.Join(names, ", "))
		}
	}
	var operations, requirements, groups []string
	for _, op := range spec.Operations() {
		operations = append(operations, op.ID)
	}
	for _, r := range spec.Requirements() {
		requirements = append(requirements, r.ID)
	}
	for _, g := range spec.Groups() {
		groups = append(groups, string(g))
	}
	return errors.Join(
		known("operation", s.Operations, operations, "there are "+strings.Join(operations, ", ")),
		known("requirement", s.Requirements, requirements, "`outreach-conformance requirements` lists them"),
		known("group", s.Groups, groups, "there are "+strings.Join(groups, ", ")),
	)
}

// known makes sure that every pattern matches something. The hint tells where
// the names stand.
func known(what string, patterns, names []string, hint string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("--%s %q is not a pattern: %w", what, pattern, err)
		}
		if slices.ContainsFunc(names, func(n string) bool { return matches(pattern, n) }) {
			continue
		}
		return fmt.Errorf("no %s matches %q%s; %s", what, pattern, meant(pattern, names), hint)
	}
	return nil
}

// meant suggests what a pattern without a match may have been meant to be: the
// same in the letters of the names, the beginning of some, or a name like it.
func meant(pattern string, names []string) string {
	for _, p := range []string{strings.ToUpper(pattern), strings.ToLower(pattern)} {
		for _, guess := range []string{p, p + "*"} {
			found := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !matches(guess, n) })
			switch {
			case len(found) == 0 || p == "":
				continue
			case len(found) == 1:
				guess = found[0]
			}
			return suggest.Hint(guess)
		}
	}
	return suggest.Near(pattern, names)
}
