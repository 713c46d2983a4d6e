package preflight

import (
	"cmp"
	"maps"
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/runner"
)

// Coverage is how much of one group of requirements a run with the profile can
// assess. Missing data on the target may reduce it further.
type Coverage struct {
	Group      spec.Group
	Pairs      int // requirements × operations
	Assessable int
	Missing    []Missing // most frequent first
}

// Missing is an input that the profile lacks.
type Missing struct {
	Input string
	Pairs int // not assessed without it
}

// Assessable returns what a run with the profile and the selection can assess, as far as the
// needs tell that the specs declare. It sends nothing and makes no key.
func Assessable(profile *profile.Profile, selection runner.Selection) ([]Coverage, error) {
	return assessable(profile, selection.For(profile), reach{})
}

// reach is what the keys of a profile do not reach on its target. The zero reach
// excludes nothing.
type reach struct {
	useless map[string]bool   // names of keys that no check can use
	noMint  bool              // the mint command makes no key that the target accepts
	barred  map[string]string // operations that no check can assess, with what the checks lack
}

// within returns a copy of the profile without the keys that are not usable and the operations
// that no check can assess.
func (r reach) within(given *profile.Profile) *profile.Profile {
	p := *given
	p.Keys = slices.DeleteFunc(slices.Clone(given.Keys), func(k profile.Key) bool { return r.useless[k.Name] })
	if r.noMint {
		p = *p.WithoutMint()
	}
	if len(r.barred) > 0 {
		p.Operations = slices.DeleteFunc(spec.OperationIDs(), func(id string) bool { return !given.Implements(id) || r.barred[id] != "" })
	}
	return &p
}

// assessable is Assessable for keys with the given reach. The selection is one for the profile.
func assessable(profile *profile.Profile, selection runner.Selection, reach reach) ([]Coverage, error) {
	pairs, err := selection.Pairs()
	if err != nil {
		return nil, err
	}
	lacks, err := selection.Lacks(reach.within(profile))
	if err != nil && len(reach.barred) == 0 { // else nothing may be left
		return nil, err
	}
	barred := map[string]string{}
	for operation, input := range reach.barred {
		barred[api.Excluded(operation)] = input
	}
	var all []Coverage
	for _, g := range spec.Groups() {
		c, counts := Coverage{Group: g}, map[string]int{}
		for _, p := range pairs {
			if r, _ := spec.FindRequirement(p.Requirement); r.Group != g {
				continue
			}
			c.Pairs++
			if input := cmp.Or(reach.barred[p.Operation], barred[lacks[p]], lacks[p]); input != "" {
				counts[input]++
			} else {
				c.Assessable++
			}
		}
		for _, input := range slices.Sorted(maps.Keys(counts)) {
			c.Missing = append(c.Missing, Missing{input, counts[input]})
		}
		slices.SortStableFunc(c.Missing, func(a, b Missing) int { return b.Pairs - a.Pairs })
		if c.Pairs > 0 {
			all = append(all, c)
		}
	}
	return all, nil
}
