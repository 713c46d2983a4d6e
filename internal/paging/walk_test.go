package paging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// list is an honest list of n rows, paged by the row's number.
func list(n int) Fetch {
	return func(_ context.Context, cursor string, limit int) (Page, error) {
		start := 0
		if cursor != "" {
			start, _ = strconv.Atoi(cursor)
		}
		end := min(start+limit, n)
		page := Page{Limit: limit}
		for i := start; i < end; i++ {
			page.Rows = append(page.Rows, Row{Key: fmt.Sprintf("row-%04d", i)})
		}
		if end < n {
			page.Cursor = strconv.Itoa(end)
		}
		return page, nil
	}
}

// TestPagesBack replaces pages during a walk: their rows and cursors count no longer.
func TestPagesBack(t *testing.T) {
	pages := []Page{
		{Rows: []Row{{Key: "a"}}, Cursor: "1"}, {Rows: []Row{{Key: "b"}}, Cursor: "2"}, {Rows: []Row{{Key: "c"}}, Cursor: "3"},
		{Rows: []Row{{Key: "d"}}, Cursor: "2", Back: 2}, {Rows: []Row{{Key: "c"}}},
	}
	w := Run(context.Background(), func(context.Context, string, int) (Page, error) {
		page := pages[0]
		pages = pages[1:]
		return page, nil
	}, Fixed(1), len(pages))
	if keys := w.Keys(); !w.Complete() || len(w.Pages) != 3 || keys["a"] != 1 || keys["b"] != 0 || keys["c"] != 1 || keys["d"] != 1 {
		t.Fatalf("walk ended %s with %v", w.End, w.Rows())
	}
}

func TestEveryPageSizeShowsTheSameRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "rows")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 100), 1, 5).Draw(t, "sizes")
		whole := Run(context.Background(), list(n), Fixed(100), 1000)
		mixed := Run(context.Background(), list(n), Cycle(sizes...), 1000)
		if !whole.Complete() || !mixed.Complete() || len(mixed.Rows()) != n || len(mixed.Repeats()) != 0 {
			t.Fatalf("%d rows: walks ended %s and %s with %d rows", n, whole.End, mixed.End, len(mixed.Rows()))
		}
		if swap, differ := Disorder(whole, mixed); differ {
			t.Fatalf("order differs: %+v", swap)
		}
	})
}

// TestAnyPagesEnd lets a server send any pages: the walk ends, within its cap,
// and never calls itself complete unless the last page said so.
func TestAnyPagesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cap = 60
		pages := 0
		w := Run(context.Background(), func(context.Context, string, int) (Page, error) {
			pages++
			if rapid.IntRange(0, 40).Draw(t, "fails") == 0 {
				return Page{}, errors.New("no answer")
			}
			keys := rapid.SliceOfN(rapid.IntRange(0, 30), 0, 5).Draw(t, "rows")
			page := Page{Cursor: rapid.StringMatching(`[a-e]{0,2}`).Draw(t, "cursor")}
			for _, k := range keys {
				page.Rows = append(page.Rows, Row{Key: strconv.Itoa(k)})
			}
			return page, nil
		}, Fixed(5), cap)
		if pages > cap {
			t.Fatalf("read %d pages with a cap of %d", pages, cap)
		}
		last := Page{}
		if len(w.Pages) > 0 {
			last = w.Pages[len(w.Pages)-1]
		}
		switch w.End {
		case Done:
			known := slices.ContainsFunc(w.Pages[:len(w.Pages)-1], func(p Page) bool { return p.Cursor == last.Cursor })
			if last.Cursor != "" && (len(last.Rows) > 0 || !known) {
				t.Fatalf("done, but the last page leads on: %+v", last)
			}
		case CursorRepeated:
			if !slices.ContainsFunc(w.Pages[:len(w.Pages)-1], func(p Page) bool { return p.Cursor == last.Cursor }) {
				t.Fatalf("no earlier page carries the cursor %q", last.Cursor)
			}
		case NoNewRows:
			if len(w.Repeats()) == 0 {
				t.Fatal("no new rows, but none was repeated")
			}
		case Broken:
			if w.Err == nil {
				t.Fatal("broken without an error")
			}
		case Capped:
			if len(w.Pages) != cap {
				t.Fatalf("capped after %d pages", len(w.Pages))
			}
		default:
			t.Fatalf("ended as %q", w.End)
		}
	})
}

// A server may read a page of the list and select its rows then: an empty page leads on.
func TestEmptyPagesLeadOn(t *testing.T) {
	selecting := func(every int) Fetch {
		whole := list(150)
		return func(ctx context.Context, cursor string, limit int) (Page, error) {
			page, err := whole(ctx, cursor, limit)
			page.Rows = slices.DeleteFunc(page.Rows, func(r Row) bool {
				n, _ := strconv.Atoi(r.Key[len("row-"):])
				return n%every != every-1
			})
			return page, err
		}
	}
	for _, limit := range []int{1, 3, 100} {
		if w := Run(t.Context(), selecting(70), Fixed(limit), 1000); !w.Complete() || len(w.Rows()) != 2 {
			t.Errorf("limit %d: %d rows, %s, want the 2 rows", limit, len(w.Rows()), w.End)
		}
	}
	pages := 0
	endless := func(context.Context, string, int) (Page, error) {
		pages++
		return Page{Limit: 1, Cursor: strconv.Itoa(pages)}, nil
	}
	if w := Run(t.Context(), endless, Fixed(1), 1000); w.End != Broken || pages != mostSkipped {
		t.Errorf("empty pages without an end: %s after %d pages, want %s after %d", w.End, pages, Broken, mostSkipped)
	}
}

func walkOf(keys ...string) Walk {
	page := Page{}
	for _, k := range keys {
		page.Rows = append(page.Rows, Row{Key: k})
	}
	return Walk{Pages: []Page{page}, End: Done}
}

func TestMissingForgivesRowsThatComeAndGo(t *testing.T) {
	walks := []Walk{walkOf("a", "b", "leaves"), walkOf("a"), walkOf("a", "b", "comes")}
	missing := Missing(walks, 1)
	if len(missing) != 1 || missing[0].Key != "b" {
		t.Errorf("missing %v, want b alone: the others came or went", missing)
	}
	if m := Missing(walks, 0); m != nil {
		t.Errorf("the first walk has nothing before it, got %v", m)
	}
}

func TestKeyIdentifiesARow(t *testing.T) {
	const lower, upper = "0198c0de-0000-7000-8000-00000000000a", "0198C0DE-0000-7000-8000-00000000000A"
	for _, c := range []struct {
		a, b map[string]any
		same bool
	}{
		{map[string]any{"id": lower, "n": 1}, map[string]any{"id": upper, "n": 2}, true},
		{map[string]any{"id": "Gold"}, map[string]any{"id": "gold"}, false},
		{map[string]any{"a": 1, "b": 2}, map[string]any{"b": 2, "a": 1}, true},
		{map[string]any{"a": 1}, map[string]any{"a": 2}, false},
		{map[string]any{"id": 7, "domain": "a"}, map[string]any{"id": 7, "domain": "b"}, false},
		{map[string]any{"domain": "a", "views": 1}, map[string]any{"domain": "a", "views": 2}, true},   // views are the server's own
		{map[string]any{"domain": "a", "status": 1}, map[string]any{"domain": "a", "status": 2}, true}, // documented, but not here
	} {
		if same := KeyOf("DFYEmailAccountOrder", c.a) == KeyOf("DFYEmailAccountOrder", c.b); same != c.same {
			t.Errorf("%v and %v have the same key: %v, want %v", c.a, c.b, same, c.same)
		}
	}
}
