package faults

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// Quirks returns every quirk, the outermost first: bytes, refusals, values,
// then rows. Applied in this order they do not interfere.
func Quirks() []Quirk {
	return slices.Concat(
		wireQuirks(),
		throttleQuirks(),
		errorQuirks(),
		boundQuirks(),
		fieldQuirks(),
		sparseQuirks(),
		valueQuirks(),
		precedenceQuirks(),
		writeQuirks(),
		documentQuirks(),
		lateQuirks(),
		queryQuirks(),
		pageQuirks(),
		cursorQuirks(),
		listQuirks(),
		searchQuirks(),
	)
}

// Groups divides the quirks by the seed into groups of size quirks or fewer. No two quirks of
// a group touch the same thing. Each group is in the order of the quirks.
func Groups(seed uint64, quirks []Quirk, size int) [][]Quirk {
	rng := rand.New(rand.NewPCG(seed, uint64(len(quirks))))
	var places [][]int // in each group
	for _, i := range rng.Perm(len(quirks)) {
		group := slices.IndexFunc(places, func(others []int) bool {
			return len(others) < size && !slices.ContainsFunc(others, func(j int) bool { return quirks[i].touchesWhat(quirks[j]) })
		})
		if group < 0 {
			group, places = len(places), append(places, nil)
		}
		places[group] = append(places[group], i)
	}
	groups := make([][]Quirk, len(places))
	for g, members := range places {
		slices.Sort(members)
		for _, i := range members {
			groups[g] = append(groups[g], quirks[i])
		}
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

// alike returns the Apply function of a middleware that does not depend on the
// target.
func alike(t Middleware) func(*Target) Middleware { return func(*Target) Middleware { return t } }

// onAll changes the answers of all 18 operations.
func onAll(change func(Request, Response) Response) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			answer, err := next(r)
			if err != nil || r.Operation == "" {
				return answer, err
			}
			answer.Header = answer.Header.Clone()
			return change(r, answer), nil
		}
	}
}

// asked changes matching requests before they reach the target.
func asked(fits func(Request) bool, change func(*Request)) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			if r.Operation != "" && fits(r) {
				r = r.clone()
				change(&r)
			}
			return next(r)
		}
	}
}

// instead answers matching requests without the target, if they have a valid key. Any
// other request gets the target's 401, whatever else is wrong with it.
func (a *Target) instead(fits func(Request) bool, answer func(Request) Response) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			if _, valid := a.isValidKey(r); valid && r.Operation != "" && fits(r) {
				return answer(r), nil
			}
			return next(r)
		}
	}
}

// isList reports whether the request asks for a page of a list.
func isList(r Request) bool {
	op, ok := spec.FindOperation(r.Operation)
	return ok && op.Answer == spec.Page
}

// hasBody reports whether the request has a body besides white space.
func hasBody(r Request) bool { return len(bytes.TrimSpace(r.Body)) > 0 }
