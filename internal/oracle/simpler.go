package oracle

import (
	"maps"
	"slices"
)

// Simpler returns queries that are simpler than this one in one respect, the simplest
// first: without parameters, with fewer pages, or with pages of one size.
func (q Query) Simpler() []Query {
	var all []Query
	add := func(change func(*Query)) {
		changed := q
		change(&changed)
		all = append(all, changed)
	}
	if len(q.Parameters) > 1 {
		add(func(c *Query) { c.Parameters = nil })
	}
	for _, parameter := range slices.Sorted(maps.Keys(q.Parameters)) {
		add(func(c *Query) {
			c.Parameters = maps.Clone(q.Parameters)
			delete(c.Parameters, parameter)
			if len(c.Parameters) == 0 {
				c.Parameters = nil
			}
		})
	}
	for pages := 1; pages < q.Pages; pages *= 2 {
		add(func(c *Query) { c.Pages = pages })
	}
	if q.Pages > 2 {
		add(func(c *Query) { c.Pages = q.Pages - 1 })
	}
	if len(q.Sizes) > 1 {
		for i := range q.Sizes {
			add(func(c *Query) { c.Sizes = q.Sizes[i : i+1] })
		}
	}
	return all
}

// Sizes are page sizes to which a query shrinks if they make it shorter.
func (q Query) Resized() []Query {
	var all []Query
	for _, size := range []int{maxLimit, 50, 20, 9, 5, 2} {
		if len(q.Sizes) > 1 || q.Sizes[0] != size {
			changed := q
			changed.Sizes = []int{size}
			all = append(all, changed)
		}
	}
	return all
}
