package oracle

import (
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// ordered reports whether the list has an order, and whether its rows show their place.
func (c *comparison) ordered() bool {
	nameless := func(r paging.Row) bool { return !r.ByID }
	return spec.Has(spec.PageOrder.On(c.Operation.ID)) && !slices.ContainsFunc(c.shown, nameless) && !slices.ContainsFunc(c.Rows, nameless)
}

// direction returns the direction of the ids: that of sort_order, otherwise the one in
// which the walk begins; 0 if it does not show.
func (c *comparison) direction() int {
	switch c.query.Parameters[profile.ParamSortOrder] {
	case "asc":
		return 1
	case "desc":
		return -1
	}
	return directionOf(c.shown)
}

// directionOf returns the direction in which the rows begin; 0 if it does not show.
func directionOf(rows []paging.Row) int {
	if len(rows) < 2 {
		return 0
	}
	return strings.Compare(rows[1].Key, rows[0].Key)
}

// order compares the order of the rows. A row that was shown before has no place in it.
func (c *comparison) order() {
	direction := c.direction()
	if !c.ordered() {
		c.sequence()
		return
	}
	if direction == 0 {
		return
	}
	id := spec.PageOrder
	if c.query.Parameters[profile.ParamSortOrder] != "" {
		id = c.walks(id)
	}
	if whole := directionOf(c.Rows); len(c.query.Parameters) == 0 && whole*direction < 0 {
		c.find(spec.PageWalkSequence, 0, "/items", "the order in which the whole list shows the rows", "the opposite order")
	}
	words := map[int]string{1: "above ", -1: "below "}[direction]
	previous := ""
	seen := map[string]bool{}
	for p, page := range c.pages {
		for i, row := range page.Rows {
			if seen[row.Key] {
				continue
			}
			seen[row.Key] = true
			if previous != "" && strings.Compare(row.Key, previous) == -direction {
				c.find(id, p, c.Operation.RowPointer(i)+"/id", "an id "+words+previous, row.Key)
			}
			previous = row.Key
		}
	}
}

// sequence compares the order of rows that do not show their place with that of the list.
func (c *comparison) sequence() {
	if len(c.query.Parameters) > 0 {
		return
	}
	walk := paging.Walk{Pages: make([]paging.Page, len(c.pages))}
	for i, page := range c.pages {
		walk.Pages[i] = page.Page
	}
	if swap, differ := paging.Disorder(paging.Walk{Pages: []paging.Page{{Rows: c.Rows}}}, walk); differ {
		at := swap.Actual
		c.find(spec.PageWalkSequence, at.Page, c.Operation.RowPointer(at.Item), "the row "+schemas.Shorten(swap.Want, maxShown)+", as in the whole list",
			schemas.Shorten(walk.Pages[at.Page].Rows[at.Item].Key, maxShown))
	}
}
