package faults

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// paging serves a list instead of the target, from cached rows, in its own
// pages. By default it serves the list correctly; before and after damage the
// list and the page.
//
// Its cursors are positions. Rows that come or go during a walk shift them,
// which is a separate defect (PAGE-INSERT, PAGE-REMOVE) and invisible while the
// list is quiet.
type paging struct {
	before func(*page) // may change the list, the size of the page and the mark
	after  func(*page) // may change the rows of the page and where the next begins
	form   cursorForm  // nil means a legal form
}

// page is one page under construction.
type page struct {
	request Request
	cache   *listCache

	list  []listRow // all rows in the order shown
	limit string    // as sent; empty if missing
	size  int       // maximum rows of the page; 0 leaves the request to the target
	first bool      // whether the request carries no cursor
	from  int       // position of the page's first row
	mark  int       // passed from page to page in the cursor; 0 on the first

	rows []listRow // the rows of the page
	next int       // position at which the next page begins; the list's length ends the walk
}

// unaskedSize is the page size without a limit. The specification has no
// default.
const unaskedSize = 25

// everything is the size of a page that holds the whole list.
const everything = math.MaxInt32

// paged serves the operation's list by the paging. All other requests, and
// those that it declines, go to the target.
func (a *Target) paged(operation string, p paging) Middleware {
	parameter := a.parameter(operation, profile.ParamStartingAfter)
	if p.form == nil {
		p.form = formOf(operation)
	}
	return func(next Handler) Handler {
		cache, handed := &listCache{next: next, cursor: parameter}, &cursors{form: p.form}
		return func(r Request) (Response, error) {
			if r.Operation == operation {
				if page, ok := p.serve(cache, handed, r); ok {
					return page, nil
				}
				return next(r)
			}
			answer, err := next(r)
			if op, ok := spec.FindOperation(r.Operation); ok && op.Unsafe() {
				cache.forget()
			}
			return answer, err
		}
	}
}

// parameter returns the name of a query parameter. It panics if the profile
// does not name it.
func (a *Target) parameter(operation, meaning string) string {
	name, ok := a.Profile.Parameter(operation, meaning)
	if !ok {
		panic("faults: the profile does not name the parameter " + meaning + " of " + operation)
	}
	return name
}

// serve answers one page; ok is false if the target should answer.
func (p paging) serve(cache *listCache, handed *cursors, r Request) (Response, bool) {
	s := &page{request: r, cache: cache, limit: r.Query.Get("limit")}
	if cursor := r.Query.Get(cache.cursor); cursor == "" {
		s.first = true
	} else {
		at, ok := handed.position(cursor)
		if !ok {
			return Response{}, false
		}
		s.mark, s.from = at.mark, at.row
	}
	list, ok := cache.read(r)
	if !ok {
		return Response{}, false
	}
	s.list, s.size = list, sizeOf(s.limit)
	if p.before != nil {
		p.before(s)
	}
	if s.size == 0 {
		return Response{}, false
	}
	s.cut()
	if p.after != nil {
		p.after(s)
	}
	cursor := ""
	if s.next < len(s.list) {
		cursor = handed.at(position{s.mark, s.next})
	}
	return pageOf(s.rows, cursor), true
}

// cut selects the page's rows from the list.
func (s *page) cut() {
	s.from = min(s.from, len(s.list))
	s.next = min(s.from+s.size, len(s.list))
	s.rows = s.list[s.from:s.next:s.next]
}

// read returns the whole list for a changed query.
func (s *page) read(change func(Request) Request) []listRow {
	rows, _ := s.cache.read(change(s.request.clone()))
	return rows
}

// sizeOf parses a limit; 0 if it is out of range.
func sizeOf(limit string) int {
	if limit == "" {
		return unaskedSize
	}
	n, err := strconv.Atoi(limit)
	if err != nil || n < 1 || n > 100 {
		return 0
	}
	return n
}

// position is what a cursor of paging means: the first row of the page, and the
// mark left by the previous page.
type position struct{ mark, row int }

// cursorForm formats a number as a unique cursor.
type cursorForm func(n int) string

// cursors records the positions of the issued cursors.
type cursors struct {
	form cursorForm
	out  sync.Map // cursor → position
}

// at returns the cursor of a position.
func (c *cursors) at(p position) string {
	const mostRows = 1 << 24
	cursor := c.form(p.mark*mostRows + p.row)
	c.out.Store(cursor, p)
	return cursor
}

// position returns the position of a cursor; ok is false if it was never
// issued.
func (c *cursors) position(cursor string) (position, bool) {
	p, ok := c.out.Load(cursor)
	if !ok {
		return position{}, false
	}
	return p.(position), true
}

// formOf returns a cursor form that is legal for the list (section Pagination).
func formOf(operation string) cursorForm {
	if spec.Has(spec.Pair{Requirement: "PAGE-CURSOR-TIMESTAMP", Operation: operation}) {
		return timestampCursor
	}
	return uuidCursor
}

// The legal forms; a timestamp-based list may use only the timestamp.
func uuidCursor(n int) string  { return fmt.Sprintf("00000000-0000-7000-8000-%012x", n) }
func emailCursor(n int) string { return fmt.Sprintf("row-%d@list.example", n) }
func timestampCursor(n int) string {
	return time.UnixMilli(int64(n)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Illegal forms.
func numberCursor(n int) string { return strconv.Itoa(n) }
func opaqueCursor(n int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"after":%d}`, n))
}
func urnCursor(n int) string       { return "urn:uuid:" + uuidCursor(n) }
func undashedCursor(n int) string  { return fmt.Sprintf("000000000000700080%014x", n) }
func addresseeCursor(n int) string { return fmt.Sprintf("Row <%s>", emailCursor(n)) }
func linkCursor(n int) string      { return "/api/v2?starting_after=" + uuidCursor(n) }
func dateCursor(n int) string      { return time.Unix(0, 0).UTC().AddDate(0, 0, n).Format(time.DateOnly) }
func epochCursor(n int) string     { return strconv.Itoa(1735689600000 + n) }

// late uses one form for the first rows of a list and another one later.
func late(early, late cursorForm) cursorForm {
	const rows = 120
	return func(n int) string {
		if n < rows {
			return early(n)
		}
		return late(n)
	}
}
