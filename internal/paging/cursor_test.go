package paging

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"outreach.example/conformance/internal/client"
)

// A cursor that is too long for an address is not sent. That is the harness's bound, so
// the walk is broken and says what it lacks.
func TestLongCursorIsNotSent(t *testing.T) {
	for length, sent := range map[int]bool{client.MaxURLValue: true, client.MaxURLValue + 1: false, 1 << 20: false} {
		asked := 0
		w := Run(t.Context(), func(_ context.Context, cursor string, _ int) (Page, error) {
			if asked++; cursor != "" {
				return Page{}, nil
			}
			return Page{Rows: []Row{{Key: "a"}}, Cursor: strings.Repeat("c", length)}, nil
		}, Fixed(1), 10)
		if (asked == 2) != sent || (w.End == Done) != sent || (w.Err == nil) != sent || len(w.Pages) == 0 {
			t.Errorf("a cursor of %d bytes: %d requests, %s, %v", length, asked, w.End, w.Err)
		}
	}
}

// Keys are short, and those of different rows differ.
func TestLongKeysAreShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	rows := []map[string]any{{"id": long + "1"}, {"id": long + "2"}, {"name": long + "1"}, {"name": long + "2"}}
	keys := map[string]bool{}
	for i, row := range rows {
		r := RowOf("", row)
		if len(r.Key) > maxKey || r.ByID != (i < 2) {
			t.Errorf("row %d: a key of %d bytes, by id: %t", i, len(r.Key), r.ByID)
		}
		keys[r.Key] = true
	}
	if len(keys) != len(rows) || !keys[FoldID(long+"1")] {
		t.Errorf("%d keys of %d rows", len(keys), len(rows))
	}
}

// A list whose rows take too much memory is not read further.
func TestRowsOfAListAreBounded(t *testing.T) {
	pages := 0
	fetch := bounded(func(context.Context, string, int) (Page, error) {
		pages++
		return Page{Rows: []Row{RowOf("", map[string]any{"id": fmt.Sprint(pages), "text": strings.Repeat("x", maxList/10)})}, Cursor: fmt.Sprint(pages)}, nil
	})
	w := Run(t.Context(), fetch, Fixed(1), 100)
	if w.End != Broken || w.Err == nil || pages != 10 {
		t.Errorf("%d pages, %s, %v", pages, w.End, w.Err)
	}
}
