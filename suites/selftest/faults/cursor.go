package faults

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"sync"
	"time"

	"outreach.example/conformance/spec"
)

// position is what a cursor of paging stands for: the row at which the page
// begins, and the mark that the page before left.
type position struct{ mark, row int }

// cursorForm writes a number as a cursor, each number in its own way.
type cursorForm func(n int) string

// cursors remembers the positions behind the cursors that were handed out.
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

// position returns what a cursor stands for; false for one that was not handed out.
func (c *cursors) position(cursor string) (position, bool) {
	p, ok := c.out.Load(cursor)
	if !ok {
		return position{}, false
	}
	return p.(position), true
}

// formOf returns a form of cursor that suits the list (section Pagination).
func formOf(operation string) cursorForm {
	if spec.Has(spec.Pair{Requirement: "PAGE-CURSOR-TIMESTAMP", Operation: operation}) {
		return timestampCursor
	}
	return uuidCursor
}

// The forms that the specification allows, the timestamp alone where a list is
// timestamp-based.
func uuidCursor(n int) string  { return fmt.Sprintf("00000000-0000-7000-8000-%012x", n) }
func emailCursor(n int) string { return fmt.Sprintf("row-%d@list.example", n) }
func timestampCursor(n int) string {
	return time.UnixMilli(int64(n)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Forms that no list may use.
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

// late uses one form for the first rows of a list and another behind them.
func late(early, late cursorForm) cursorForm {
	const rows = 120
	return func(n int) string {
		if n < rows {
			return early(n)
		}
		return late(n)
	}
}
