// Package paging follows the cursors of a list from its first page to its last
// and says how that ended, whatever pages a server sends: every walk ends.
//
// It knows rows and cursors, not HTTP, and judges nothing: what a walk means
// for a requirement is said by those who compare walks.
package paging

import (
	"context"
)

// Row is one row as a page showed it.
type Row struct {
	Key   string // from KeyOf
	Value map[string]any
}

// Page is one page of a list.
type Page struct {
	Limit  int // the limit that was asked for; 0 for none
	Rows   []Row
	Cursor string // leads to the next page; empty on the last
}

// Fetch reads the page behind a cursor; the empty cursor is the first page.
// Its error ends the walk.
type Fetch func(ctx context.Context, cursor string, limit int) (Page, error)

// End is the way in which a walk ended.
type End string

// The ends of a walk.
const (
	Done           End = "done"            // a page without a cursor, or an empty page
	CursorRepeated End = "cursor repeated" // a page with rows carries a cursor that an earlier page carried
	NoNewRows      End = "no new rows"     // staleAfter pages in a row showed nothing but rows that were seen before
	Capped         End = "capped"          // the walk reached the most pages that it may read
	Broken         End = "broken"          // Fetch failed; Walk.Err says why
)

// staleAfter is how many pages without a new row end a walk. More than one,
// because two rows without an id may look alike.
const staleAfter = 4

// Walk is a walk that has ended.
type Walk struct {
	Pages []Page
	End   End
	Err   error
}

// Sizes yields the limit for each page of a walk; page counts from 0.
type Sizes func(page int) int

// Fixed asks for the same limit on every page; 0 sends none.
func Fixed(limit int) Sizes { return func(int) int { return limit } }

// Cycle asks for the limits in turn.
func Cycle(limits ...int) Sizes { return func(page int) int { return limits[page%len(limits)] } }

// Run walks from the first page, at most maxPages pages far.
func Run(ctx context.Context, fetch Fetch, sizes Sizes, maxPages int) Walk {
	var (
		w       Walk
		cursor  string
		cursors = map[string]bool{}
		rows    = map[string]bool{}
		stale   int
	)
	for len(w.Pages) < maxPages {
		page, err := fetch(ctx, cursor, sizes(len(w.Pages)))
		if err != nil {
			w.End, w.Err = Broken, err
			return w
		}
		w.Pages = append(w.Pages, page)
		if page.Cursor == "" || len(page.Rows) == 0 {
			w.End = Done
			return w
		}
		if cursors[page.Cursor] {
			w.End = CursorRepeated
			return w
		}
		cursors[page.Cursor] = true
		if addNew(rows, page.Rows) {
			stale = 0
		} else if stale++; stale == staleAfter {
			w.End = NoNewRows
			return w
		}
		cursor = page.Cursor
	}
	w.End = Capped
	return w
}

// addNew adds the rows' keys to the set and reports whether any was new.
func addNew(set map[string]bool, rows []Row) bool {
	before := len(set)
	for _, r := range rows {
		set[r.Key] = true
	}
	return len(set) > before
}

// Rows returns all rows in the order in which they were shown.
func (w Walk) Rows() []Row {
	var rows []Row
	for _, p := range w.Pages {
		rows = append(rows, p.Rows...)
	}
	return rows
}

// Keys returns how often each row was shown.
func (w Walk) Keys() map[string]int {
	count := map[string]int{}
	for _, p := range w.Pages {
		for _, r := range p.Rows {
			count[r.Key]++
		}
	}
	return count
}

// Complete reports whether the walk saw the list's end.
func (w Walk) Complete() bool { return w.End == Done }
