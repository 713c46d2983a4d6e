package sequence

import (
	"fmt"
	"maps"
	"slices"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

// A walk during which the list changes begins with the newest tests, so it shows those of
// the sequence on its first pages.
const (
	maxWalkLimit  = 3 // rows of a page
	maxWalkPages  = 8
	maxInsertions = 2
)

// walk creates tests, walks the list in small pages and creates or deletes tests between
// them. Each test that stays must show once.
func (m *model) walk(s Step) {
	limit := max(1, s.Limit)
	for m.living() < 2*limit {
		if !m.create(suites.NewTestFields{}) {
			return
		}
	}
	stay := map[string]int{}
	id, victims := spec.PageInsert, []*own{}
	for i, t := range m.tests {
		switch {
		case t.gone:
		case s.Do == Remove && i%2 == 0:
			victims = append(victims, t)
		default:
			stay[paging.FoldID(t.made.ID())] = 0
		}
	}
	if s.Do == Remove {
		id = spec.PageRemove
	}
	list := m.api.As(dataset.Main, spec.ListPlacementTests).WithQuery("sort_order", "desc")
	if !m.shown(list) {
		return
	}
	changes := 0
	walk := m.api.WalkWhile(list, paging.Fixed(limit), maxWalkPages, func(page suites.Response) {
		if s.Do == Insert && changes < maxInsertions {
			m.api.NewTest()
			changes++
		}
		for _, row := range page.Rows() { // deletes tests that were shown: cursors may point to them
			for _, t := range victims {
				if !t.gone && paging.KeyOf(list.Operation.Resource, row) == paging.FoldID(t.made.ID()) {
					m.remove(t)
				}
			}
		}
	})
	rows := walk.Rows()
	if len(rows) == 0 {
		return
	}
	for _, row := range rows {
		if _, ours := stay[row.Key]; ours {
			stay[row.Key]++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(stay)) {
		if !walk.Complete() && key <= rows[len(rows)-1].Key {
			continue // it comes later
		}
		m.api.Count(id, spec.ListPlacementTests, 1)
		if n := stay[key]; n != 1 {
			m.api.Charge(id, spec.ListPlacementTests, suites.Finding{Response: walk.Last(), Pointer: "/items",
				Expected: "the test " + key + " once in the walk, while others are created or deleted", Actual: fmt.Sprintf("%d times", n)})
		}
	}
}

// shown waits until the list shows the tests that live. It reports whether it does: what it
// does not show yet may turn up in the middle of a walk.
func (m *model) shown(list suites.Call) (all bool) {
	m.api.Aside(func() {
		all = m.api.Look(func() bool {
			walk := m.api.Ask(list, oracle.Query{Sizes: []int{100}, Pages: 1}).Walk
			return !slices.ContainsFunc(m.tests, func(t *own) bool { return !t.gone && walk.Row(t.made.ID()) == nil })
		})
	})
	return all
}

func (m *model) living() int {
	n := 0
	for _, t := range m.tests {
		if !t.gone {
			n++
		}
	}
	return n
}
