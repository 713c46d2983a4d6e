package explore

import (
	"time"

	"outreach.example/conformance/suites/explore/sequence"
)

const (
	// shortenTime is how long a case may be shortened, unless the caller says otherwise.
	shortenTime = 5 * time.Second
	// shortenLooks is how many simpler cases may wait for a change that does not show.
	shortenLooks = 10
)

// shorten tries simpler cases until none of them shows the violation, or the time for it is
// over. The engine knows only the random numbers that a case was made of: it seldom
// removes what stands in the middle.
func (h *hunt) shorten() {
	within := shortenTime + shortenLooks*h.Env.Profile.Visibility() // a change that does not show takes its time
	if h.shrink > 0 {
		within = h.shrink
	}
	deadline := time.Now().Add(within)
	for h.isShorter(deadline) {
	}
}

// isShorter tries simpler cases than the last one. It reports whether one of them shows
// the violation, too.
func (h *hunt) isShorter(deadline time.Time) bool {
	before := h.last
	full := ""
	if before.Case.List != nil {
		if w := h.find(*before.Case.List); w != nil {
			full = w.keys[0].Name
		}
	}
	for _, c := range before.Case.simpler(full) {
		if time.Now().After(deadline) {
			return false
		}
		if h.shows(c) && len(h.last.Requests) <= len(before.Requests) {
			return true
		}
		h.last = before
	}
	for _, c := range before.Case.resized() {
		if len(before.Requests) == 1 || time.Now().After(deadline) {
			return false
		}
		if h.shows(c) && len(h.last.Requests) < len(before.Requests) {
			return true
		}
		h.last = before
	}
	return false
}

// simpler returns cases that are simpler than this one in one respect, the simplest first.
// full is the name of the key that sees everything.
func (c Case) simpler(full string) []Case {
	var all []Case
	switch {
	case c.List != nil:
		change := func(change func(*List)) {
			l := *c.List
			change(&l)
			all = append(all, Case{List: &l})
		}
		if c.List.Key != full {
			change(func(l *List) { l.Key = full })
		}
		for _, query := range sequence.SimplerQueries(c.List.Query) {
			change(func(l *List) { l.Query = query })
		}
	case c.Get != nil:
		if c.Get.Metadata != "" {
			g := *c.Get
			g.Metadata = ""
			all = append(all, Case{Get: &g})
		}
	default:
		for _, steps := range sequence.Simpler(c.Steps) {
			all = append(all, Case{Steps: steps})
		}
	}
	return all
}

// resized returns cases that walk in pages of other sizes.
func (c Case) resized() []Case {
	var all []Case
	if c.List != nil && c.List.Limit == "" {
		for _, size := range []int{100, 50, 20, 9, 5, 2} {
			if l := *c.List; len(l.Query.Sizes) > 1 || l.Query.Sizes[0] != size {
				l.Query.Sizes = []int{size}
				all = append(all, Case{List: &l})
			}
		}
	}
	return all
}
