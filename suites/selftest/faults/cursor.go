package faults

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"sync"
	"time"

	"outreach.example/conformance/spec"
)

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
