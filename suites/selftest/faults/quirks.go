package faults

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// quirk is a row of the tables of quirks. A rule that names no operation is for all 18.
// Touches are words, separated by commas.
func quirk(id, allowed, touches, doc string, rules ...rule) Quirk {
	rules = slices.Clone(rules)
	for i := range rules {
		if rules[i].operation == "" {
			rules[i].operation = anyOperation
		}
	}
	return Quirk{ID: id, Allowed: allowed, Touches: strings.Split(touches, ", "), Doc: doc, Apply: apply(rules...)}
}

// but says what cannot be assessed on a target with the quirk.
func (q Quirk) but(unassessed ...string) Quirk {
	q.Unassessed = append(slices.Clone(q.Unassessed), unassessed...)
	return q
}

// instead answers requests on the occasion without the target, if they have a valid key. Any
// other request gets the target's 401, whatever else is wrong with it.
func instead(o occasion, v verb) rule { return when(all(validKey, o), v) }

// Groups divides the quirks by the seed into groups of size quirks or fewer. No two quirks of
// a group touch the same thing. Each group is in the order of the quirks.
func Groups(seed uint64, quirks []Quirk, size int) [][]Quirk {
	var groups [][]Quirk
	place := make([]int, len(quirks)) // the group of each quirk
	for _, i := range rand.New(rand.NewPCG(seed, uint64(len(quirks)))).Perm(len(quirks)) {
		place[i] = slices.IndexFunc(groups, func(others []Quirk) bool {
			return len(others) < size && !slices.ContainsFunc(others, quirks[i].touchesWhat)
		})
		if place[i] < 0 {
			place[i], groups = len(groups), append(groups, nil)
		}
		groups[place[i]] = append(groups[place[i]], quirks[i])
	}
	clear(groups)
	for i, q := range quirks {
		groups[place[i]] = append(groups[place[i]], q)
	}
	return groups
}

// touchesWhat reports whether both quirks touch the same thing.
func (q Quirk) touchesWhat(other Quirk) bool {
	return slices.ContainsFunc(q.Touches, func(what string) bool { return slices.Contains(other.Touches, what) })
}

// Combine returns one quirk made of several, given the outermost first.
func Combine(quirks ...Quirk) Quirk {
	var all Quirk
	var ids, allowed, docs []string
	for _, q := range quirks {
		ids, allowed, docs = append(ids, q.ID), append(allowed, q.Allowed), append(docs, q.Doc)
		all.Touches = append(all.Touches, q.Touches...)
		all.Unassessed = append(all.Unassessed, q.Unassessed...)
		all.OnWire = all.OnWire || q.OnWire
	}
	all.ID, all.Allowed, all.Doc = strings.Join(ids, "+"), strings.Join(allowed, "; "), strings.Join(docs, "; ")
	all.Apply = func(a *Target) Middleware {
		transforms := make([]Middleware, len(quirks))
		for i, q := range quirks {
			transforms[i] = q.Apply(a)
		}
		return Chain(transforms...)
	}
	return all
}
