package faults

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// pager serves a list instead of the target, from the rows that the target shows, in its own
// pages. By default it serves the list correctly; before and after change the list and the
// page.
//
// Its cursors are positions. Rows that come or go during a walk shift them, which is a
// separate defect (PAGE-INSERT, PAGE-REMOVE) and invisible while the list is quiet. Those of
// an anchored pager name the last row of a page instead.
type pager struct {
	before func(*page) // may change the list, the size of the page and the mark
	after  func(*page) // may change the rows of the page and where the next begins
	form   cursorForm  // nil means a legal form
	// anchored pagers stay correct while rows come and go. The target counts their requests
	// and refuses bad keys.
	anchored bool
	hidden   []string // parameters, by key, that do not select the rows of the list
}

// page is one page under construction.
type page struct {
	*exchange
	list []row // all rows in the order shown

	limit string // as sent; empty if missing
	size  int    // maximum rows of the page; 0 leaves the request to the target
	first bool   // whether the request carries no cursor
	from  int    // position of the page's first row
	mark  int    // passed from page to page in the cursor; 0 on the first
	down  bool   // an anchored pager shows the list in descending order

	rows []row // the rows of the page
	next int   // position at which the next page begins; the list's length ends the walk
}

// position is what a cursor of a pager means: the first row of the page, or the last row of
// the page before, and the mark that this one left.
type position struct {
	mark, row int
	after     string
}

// unaskedSize is the page size without a limit. The specification has no default.
const unaskedSize = 25

// everything is the size of a page that holds the whole list.
const everything = math.MaxInt32

// serve answers a request for a page by the pager, unless that leaves it to the target.
func serve(p pager) verb { return p.answer }

func (p pager) answer(x *exchange) {
	s := &page{exchange: x, limit: x.Query.Get("limit")}
	at := position{}
	if cursor := x.param(profile.ParamStartingAfter); cursor == "" {
		s.first = true
	} else if known, ok := x.memory.get("cursor " + x.Operation + cursor); ok {
		at = known.(position)
	} else {
		return
	}
	s.mark, s.from, s.size = at.mark, at.row, sizeOf(s.limit)
	asked := x.Request.clone()
	if p.anchored {
		if s.size == 0 {
			return
		}
		for _, name := range []string{profile.ParamSortOrder, x.parameterName(profile.ParamStartingAfter)} {
			asked.Query.Del(name)
		}
		asked.Query.Set("limit", "1")
		if answer, ok := x.ask(asked); !ok {
			if x.err == nil {
				x.reply(answer)
			}
			return
		}
	}
	for _, key := range p.hidden {
		asked.Query.Del(x.parameterName(key))
	}
	list, ok := x.list(asked)
	if !ok {
		return
	}
	s.list = list
	if p.anchored { // in ascending order, whatever the target's
		s.list = slices.SortedStableFunc(slices.Values(list), func(a, b row) int { return strings.Compare(a.rank, b.rank) })
		s.down = x.Query.Get(profile.ParamSortOrder) == "desc"
	}
	if p.before != nil {
		p.before(s)
	}
	if s.size == 0 {
		return
	}
	if p.anchored && s.down {
		s.list = reversed(s.list)
	}
	if p.anchored && !s.first {
		s.from = 0
		for s.from < len(s.list) && (s.list[s.from].rank == at.after || s.list[s.from].rank < at.after != s.down) {
			s.from++
		}
	}
	s.from = min(s.from, len(s.list))
	s.next = min(s.from+s.size, len(s.list))
	s.rows = s.list[s.from:s.next:s.next]
	if p.after != nil {
		p.after(s)
	}
	x.reply(pageOf(s.rows, p.cursor(s)))
}

// cursor returns the cursor of the next page, and remembers what it means.
func (p pager) cursor(s *page) (cursor string) {
	const mostRows = 1 << 24
	if s.next >= len(s.list) {
		return ""
	}
	at := position{s.mark, s.next, ""}
	switch {
	case p.anchored:
		last := s.list[s.next-1]
		at.after, cursor = last.rank, last.cursor(s.Operation)
		if p.form != nil {
			cursor = p.form(hashed(last.rank))
		}
	case p.form != nil:
		cursor = p.form(s.mark*mostRows + s.next)
	case isTimed(s.Operation):
		cursor = timestampCursor(s.mark*mostRows + s.next)
	default:
		cursor = uuidCursor(s.mark*mostRows + s.next)
	}
	s.memory.put("cursor "+s.Operation+cursor, at)
	return cursor
}

// cursor returns a cursor of the list's kind that names the row. No two rows have the same,
// although they may have the same timestamp.
func (r row) cursor(operation string) string {
	switch {
	case isTimed(operation):
		return timestampCursor(hashed(r.rank))
	case r.text("id") != "":
		return r.rank
	default:
		return uuidCursor(hashed(r.rank))
	}
}

// read returns the whole list for a changed query.
func (s *page) read(change func(r *Request)) []row {
	r := s.Request.clone()
	change(&r)
	rows, _ := s.exchange.list(r)
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

// cursorForm formats a number as a unique cursor.
type cursorForm func(n int) string

func uuidCursor(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", n) }

func timestampCursor(n int) string { return written(time.UnixMilli(int64(n))) }

// isTimed reports whether the specification requires a timestamp cursor.
func isTimed(operation string) bool { return spec.Has(spec.PageCursorTimestamp.On(operation)) }

// Which pages a pager changes, and how.
type pageSet func(*page) bool

// only restricts a change to some pages. An occasion cannot do that: the pager must meet its
// own cursors on all pages.
func only(which pageSet, do func(*page)) func(*page) {
	return func(s *page) {
		if which(s) {
			do(s)
		}
	}
}

func (p pageSet) and(other pageSet) pageSet { return func(s *page) bool { return p(s) && other(s) } }

var (
	smallOnes pageSet = func(s *page) bool { return s.size < 10 }
	lastOne   pageSet = func(s *page) bool { return s.next >= len(s.list) && !s.first }
	laterOnes pageSet = func(s *page) bool { return !s.first }
)

func limited(limit string) pageSet { return func(s *page) bool { return s.limit == limit } }

func backwards(s *page)    { s.list = reversed(s.list) }
func withoutLast(s *page)  { s.list = s.list[:max(0, len(s.list)-1)] }
func skipNext(s *page)     { s.next++ }
func endWalk(s *page)      { s.next = len(s.list) }
func linkToItself(s *page) { s.next = s.from }

// repeatLast starts the next page with the last row of this one. A page of one row must
// advance, or the walk would not end.
func repeatLast(s *page) {
	if len(s.rows) > 1 && s.next < len(s.list) {
		s.next--
	}
}
