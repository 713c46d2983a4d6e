package faults

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// changeDefects break walks while rows come and go.
func changeDefects() []Defect {
	const list = spec.ListPlacementTests
	positions := func(before func(*page)) func(*Target) Middleware {
		return func(a *Target) Middleware { return a.paged(list, paging{before: before}) }
	}
	defects := []Defect{
		{spec.ListSubsequences + "/removal-shifts-positions", spec.Pair{Requirement: "PAGE-REMOVE", Operation: spec.ListSubsequences},
			"uses positions as cursors, so that a deleted row shifts them", func(a *Target) Middleware { return a.paged(spec.ListSubsequences, paging{}) }},
		{list + "/removal-late-starts-over", spec.Pair{Requirement: "PAGE-REMOVE", Operation: list},
			"shows a deletion after a while, and answers a cursor whose row was deleted with the first page then", func(a *Target) Middleware {
				cursor := a.parameter(list, profile.ParamStartingAfter)
				return Chain(deletedLater(a, a.late()), outdated(list, cursor, (*changes).removed, startingOver(cursor)))
			}},
		{list + "/insert-shifts-positions", spec.Pair{Requirement: "PAGE-INSERT", Operation: list},
			"uses positions as cursors, so that a new row shifts them", positions(nil)},
		{list + "/insert-shifts-positions-from-newest", spec.Pair{Requirement: "PAGE-INSERT", Operation: list},
			"shows the newest row first and uses positions as cursors, so that a new row shifts them", positions(newestFirst)},
		{list + "/removal-shifts-positions", spec.Pair{Requirement: "PAGE-REMOVE", Operation: list},
			"uses positions as cursors, so that a deleted row shifts them", positions(nil)},
		{list + "/removal-shifts-positions-from-newest", spec.Pair{Requirement: "PAGE-REMOVE", Operation: list},
			"shows the newest row first and uses positions as cursors, so that a deleted row shifts them", positions(newestFirst)},
	}
	for _, d := range []struct {
		name, doc string
		act       func(cursor string) behaviour
	}{
		{"ends-walk", "answers %s with an empty page", func(string) behaviour { return showingNothing }},
		{"starts-over", "answers %s with the first page", startingOver},
		{"skips-row", "skips a row for %s", func(string) behaviour { return skippingRow }},
		{"refused", "refuses %s", func(string) behaviour { return refusing(http.StatusBadRequest) }},
	} {
		for _, c := range []struct {
			name, requirement, list, which string
			outdated                       func(*changes, handedOut) bool
		}{
			{"insert", "PAGE-INSERT", list, "a cursor older than the newest row", (*changes).insertedSince},
			{"removal", "PAGE-REMOVE", list, "a cursor whose row was deleted", (*changes).removed},
			{"removal", "PAGE-REMOVE", spec.ListSubsequences, "a cursor whose row was deleted", (*changes).removed},
		} {
			if d.name == "refused" && c.name == "removal" { // that is allowed
				continue
			}
			defects = append(defects, Defect{c.list + "/" + c.name + "-" + d.name, spec.Pair{Requirement: c.requirement, Operation: c.list},
				fmt.Sprintf(d.doc, c.which),
				func(a *Target) Middleware {
					cursor := a.parameter(c.list, profile.ParamStartingAfter)
					return outdated(c.list, cursor, c.outdated, d.act(cursor))
				}})
		}
	}
	return append(defects, Defect{list + "/removal-starts-over-descending", spec.Pair{Requirement: "PAGE-REMOVE", Operation: list},
		"answers a cursor whose row was deleted with the first page in descending order",
		func(a *Target) Middleware {
			cursor, order := a.parameter(list, profile.ParamStartingAfter), a.parameter(list, profile.ParamSortOrder)
			return outdated(list, cursor, (*changes).removed, func(next Handler, r Request) (Response, error) {
				if r.Query.Get(order) != "desc" {
					return next(r)
				}
				return startingOver(cursor)(next, r)
			})
		}})
}

func newestFirst(s *page) {
	s.list = slices.SortedStableFunc(slices.Values(s.list), func(a, b listRow) int { return cmp.Compare(b.text("id"), a.text("id")) })
}

// startingOver ignores the cursor.
func startingOver(cursor string) behaviour {
	return func(next Handler, r Request) (Response, error) {
		r = r.clone()
		r.Query.Del(cursor)
		return next(r)
	}
}

// skippingRow omits the first row of a page.
func skippingRow(next Handler, r Request) (Response, error) {
	answer, err := next(r)
	if rows, cursor, ok := pageIn(answer); err == nil && ok && len(rows) > 1 {
		answer = pageOf(rows[1:], cursor)
	}
	return answer, err
}

// changes records created and deleted rows and the times of issued cursors.
type changes struct {
	mu      sync.Mutex
	created int
	deleted map[string]bool
	handed  map[string]handedOut // by cursor
}

// handedOut is the state when a cursor was issued.
type handedOut struct {
	created int
	row     string // the last one of the cursor's page
}

func (c *changes) insertedSince(h handedOut) bool { return c.created > h.created }
func (c *changes) removed(h handedOut) bool       { return c.deleted[h.row] }

// outdated changes the answers to requests whose cursor is outdated by a
// change.
func outdated(list, parameter string, is func(*changes, handedOut) bool, b behaviour) Middleware {
	return func(next Handler) Handler {
		c := &changes{deleted: map[string]bool{}, handed: map[string]handedOut{}}
		return func(r Request) (Response, error) {
			if r.Operation == list && c.outdates(r.Query.Get(parameter), is) {
				return b(next, r)
			}
			answer, err := next(r)
			if err == nil && answer.Status == http.StatusOK {
				c.note(list, r, answer)
			}
			return answer, err
		}
	}
}

func (c *changes) outdates(cursor string, is func(*changes, handedOut) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.handed[cursor]
	return ok && is(c, h)
}

func (c *changes) note(list string, r Request, answer Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.Operation {
	case list:
		if rows, cursor, ok := pageIn(answer); ok && cursor != "" && len(rows) > 0 {
			c.handed[cursor] = handedOut{c.created, rows[len(rows)-1].text("id")}
		}
	case spec.CreatePlacementTest:
		c.created++
	case spec.DeletePlacementTest, spec.DeleteSubsequence:
		c.deleted[r.ID] = true
	}
}
