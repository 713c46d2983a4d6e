package refserver

import (
	"encoding/json"
	"iter"
	"strings"
	"sync"

	"outreach.example/conformance/refserver/store"
)

// listing is a paged list operation (specification, section Pagination): rows
// in order of id, the cursor of the last row of a page as next_starting_after,
// which is absent on the last page.
//
// An unfiltered page costs a binary search and its own bytes, wherever it lies.
// A filter looks at the attributes of each row from the cursor on until the page
// is full and one more row is found, so a filter that nothing more matches
// costs the rest of the list.
type listing[A any] struct {
	rows   func(*workspace) *store.List[A]
	cursor cursor[A]
	// filter reads the filters; nil, or a nil result, keeps every row.
	filter func(*query) func(*A) bool
	// sortable lists take sort_order.
	sortable bool
	// view appends a row's document in the form that the query asks for; nil appends it as it is.
	view func(*query) func([]byte, *store.Row[A]) []byte
}

// cursor is how a page says where the next one starts.
type cursor[A any] struct {
	// read turns starting_after into the order of rows to it: below 0 for rows
	// before it, 0 at it, above 0 behind it. It returns nil when the text is no cursor.
	read func(ws *workspace, text string) (order func(*store.Row[A]) int)
	must string // what the text must be, for the client
	of   func(*store.Row[A]) string
}

// byID is the cursor of most lists: the id of the last row, which need not exist any more.
func byID[A any]() cursor[A] {
	return cursor[A]{
		must: "the id that next_starting_after gave",
		read: func(_ *workspace, text string) func(*store.Row[A]) int {
			id, ok := parseUUID(text)
			if !ok {
				return nil
			}
			return orderTo[A](id)
		},
		of: func(row *store.Row[A]) string { return row.ID },
	}
}

// orderTo compares the ids of rows to an id.
func orderTo[A any](id string) func(*store.Row[A]) int {
	return func(row *store.Row[A]) int { return strings.Compare(row.ID, id) }
}

// byCreated is the cursor of the lists that the specification pages by a
// timestamp: timestamp_created of the last row, or any other timestamp.
func byCreated[A any](created func(*A) string) cursor[A] {
	return cursor[A]{
		must: "a timestamp such as 2025-01-31T10:20:30.000Z or a date such as 2025-01-31",
		read: func(_ *workspace, text string) func(*store.Row[A]) int {
			after, ok := parseTimestamp(text)
			if !ok {
				if after, ok = parseDate(text); !ok {
					return nil
				}
			}
			bound := stamp(after) // cut to the millisecond, as timestamps of rows are
			return func(row *store.Row[A]) int { return strings.Compare(created(&row.Attrs), bound) }
		},
		of: func(row *store.Row[A]) string { return created(&row.Attrs) },
	}
}

// pages holds buffers in which pages are put together.
var pages = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

// maxPooled keeps one page of huge rows from holding its memory for ever.
const maxPooled = 1 << 20

// serve answers one page.
func (l listing[A]) serve(c *call) error {
	q := newQuery(c.r.URL)
	limit, keep, view := q.limit(), l.keep(q), l.viewOf(q)
	rows := l.from(c, q)
	if q.err != nil {
		return q.err
	}
	pooled := pages.Get().(*[]byte)
	page := append((*pooled)[:0], `{"items":[`...)
	var last *store.Row[A]
	n, more := 0, false
	for row := range rows {
		if keep != nil && !keep(&row.Attrs) {
			continue
		}
		if n == limit {
			more = true
			break
		}
		if n > 0 {
			page = append(page, ',')
		}
		page = view(page, row)
		last = row
		n++
	}
	page = append(page, ']')
	if more {
		next, err := json.Marshal(l.cursor.of(last))
		if err != nil {
			return err
		}
		page = append(page, `,"next_starting_after":`...)
		page = append(page, next...)
	}
	page = append(page, '}')
	err := c.send(page)
	if *pooled = page; cap(page) <= maxPooled {
		pages.Put(pooled)
	}
	return err
}

// from returns the rows behind starting_after, in the order asked for.
func (l listing[A]) from(c *call, q *query) iter.Seq[*store.Row[A]] {
	snapshot := l.rows(c.ws).Snapshot()
	descending := l.sortable && q.oneOf("sort_order", "asc", "desc") == "desc"
	text := q.text("starting_after")
	if text == "" {
		if descending {
			return snapshot.Descend(snapshot.End())
		}
		return snapshot.Ascend(snapshot.Start())
	}
	order := l.cursor.read(c.ws, text)
	if order == nil {
		q.wrong("starting_after", l.cursor.must)
		return nil
	}
	if descending {
		return snapshot.Descend(snapshot.Seek(func(row *store.Row[A]) bool { return order(row) >= 0 }))
	}
	return snapshot.Ascend(snapshot.Seek(func(row *store.Row[A]) bool { return order(row) > 0 }))
}

func (l listing[A]) keep(q *query) func(*A) bool {
	if l.filter == nil {
		return nil
	}
	return l.filter(q)
}

func (l listing[A]) viewOf(q *query) func([]byte, *store.Row[A]) []byte {
	if l.view == nil {
		return func(page []byte, row *store.Row[A]) []byte { return append(page, row.Doc...) }
	}
	return l.view(q)
}
