// Package paging reads a list page by page, from the first to the last. Every
// walk ends, whatever pages the server sends, and says how it ended.
//
// It judges nothing: those who compare walks decide what a walk means for a
// requirement. It must not import the suites or the load generator.
package paging

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"outreach.example/conformance/internal/client"
)

// Row is one row as a page showed it.
type Row struct {
	Key   string // from KeyOf
	ByID  bool   // the key is the row's id
	Value map[string]any
	texts *texts // nil if copies of the row share none
}

// RowOf returns a decoded row of the resource with its key.
func RowOf(resource string, value map[string]any) Row {
	_, byID := value["id"].(string)
	return Row{Key: KeyOf(resource, value), ByID: byID, Value: value, texts: &texts{}}
}

// Same reports whether both rows have one value in memory, as rows with equal texts often
// do (package schemas keeps them).
func (r Row) Same(other Row) bool {
	return reflect.ValueOf(r.Value).Pointer() == reflect.ValueOf(other.Value).Pointer()
}

// Page is one page of a list.
type Page struct {
	Limit  int // the limit that was asked for; 0 for none
	Rows   []Row
	Cursor string // of the next page; empty on the last
	Back   int    // how many of the last pages the page replaces
}

// Fetch reads the page at a cursor; the empty cursor stands for the first page.
// Its error ends the walk.
type Fetch func(ctx context.Context, cursor string, limit int) (Page, error)

// End is the way in which a walk ended.
type End string

// The ends of a walk.
const (
	Done           End = "done"            // a page without a cursor, or an empty page whose cursor is not new
	CursorRepeated End = "cursor repeated" // a page with rows carries a cursor that an earlier page carried
	NoNewRows      End = "no new rows"     // staleAfter pages in a row showed only rows that earlier pages showed
	Capped         End = "capped"          // the walk reached its maximum number of pages
	Broken         End = "broken"          // Fetch failed, a cursor is too long, or empty pages do not end; Walk.Err says why
)

// staleAfter is how many pages without a new row end a walk. It is more than 1
// because two rows without an id may look alike.
const staleAfter = 4

// mostSkipped is how many rows a server may skip between two that it shows. It may read a page
// of the list first and select its rows then, so that an empty page leads on.
const mostSkipped = 300

// unasked is how many rows a page without a limit counts for.
const unasked = 25

// Walk is the result of a walk.
type Walk struct {
	Pages []Page
	End   End
	Err   error
}

// Sizes returns the limit for a page of a walk; page counts from 0.
type Sizes func(page int) int

// Fixed returns the same limit for every page; 0 sends none.
func Fixed(limit int) Sizes { return func(int) int { return limit } }

// Cycle returns the limits in turn.
func Cycle(limits ...int) Sizes { return func(page int) int { return limits[page%len(limits)] } }

// Run walks a list from the first page and reads at most maxPages pages.
func Run(ctx context.Context, fetch Fetch, sizes Sizes, maxPages int) Walk {
	var (
		w       Walk
		cursor  string
		cursors = map[string]bool{}
		rows    = map[string]bool{}
		stale   int
		skipped int
	)
	for range maxPages {
		page, err := fetch(ctx, cursor, sizes(len(w.Pages)))
		if err != nil {
			w.End, w.Err = Broken, err
			return w
		}
		if page.Back > 0 {
			w.Pages = w.Pages[:len(w.Pages)-page.Back]
			clear(cursors)
			clear(rows)
			for _, p := range w.Pages {
				cursors[p.Cursor] = true
				addNew(rows, p.Rows)
			}
		}
		w.Pages = append(w.Pages, page)
		if page.Cursor == "" || len(page.Rows) == 0 && cursors[page.Cursor] {
			w.End = Done
			return w
		}
		if len(page.Cursor) > client.MaxURLValue {
			w.End, w.Err = Broken, fmt.Errorf("a cursor of at most %d bytes (got %d)", client.MaxURLValue, len(page.Cursor))
			return w
		}
		if cursors[page.Cursor] {
			w.End = CursorRepeated
			return w
		}
		cursors[page.Cursor] = true
		switch {
		case len(page.Rows) == 0:
			if skipped += cmp.Or(page.Limit, unasked); skipped >= mostSkipped {
				w.End, w.Err = Broken, fmt.Errorf("a cursor that leads to a row (empty pages for %d rows led on)", skipped)
				return w
			}
		case addNew(rows, page.Rows):
			stale, skipped = 0, 0
		default:
			if stale++; stale == staleAfter {
				w.End = NoNewRows
				return w
			}
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
	rows := make([]Row, 0, w.rows())
	for _, p := range w.Pages {
		rows = append(rows, p.Rows...)
	}
	return rows
}

// Keys returns how often each row was shown.
func (w Walk) Keys() map[string]int {
	count := make(map[string]int, w.rows())
	for _, p := range w.Pages {
		for _, r := range p.Rows {
			count[r.Key]++
		}
	}
	return count
}

// rows returns how many rows the pages hold.
func (w Walk) rows() int {
	n := 0
	for _, p := range w.Pages {
		n += len(p.Rows)
	}
	return n
}

// Complete reports whether the walk saw the list's end.
func (w Walk) Complete() bool { return w.End == Done }
