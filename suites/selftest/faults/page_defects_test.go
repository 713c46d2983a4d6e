package faults

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"outreach.example/conformance/spec"
)

// Paging without damage must be correct, or its defects would break too much.
func TestPagingServesTheListCorrectly(t *testing.T) {
	a, most := aroundEmbedded(), fakeRows(230)
	rapid.Check(t, func(rt *rapid.T) {
		operation := rapid.SampledFrom([]string{spec.ListTagMappings, spec.ListLeadLabels}).Draw(rt, "operation") // either form of cursor
		rows := most[:rapid.IntRange(0, len(most)).Draw(rt, "rows")]
		limit := rapid.SampledFrom([]int{0, 3, 10, 99, 100}).Draw(rt, "limit")
		list := &fakeList{operation: operation, rows: rows}
		w := fakeWalk(t, a.paged(operation, paging{})(list.answer), operation, limit, nil)
		if !w.ends || !slices.Equal(w.ids, everyID(rows)) {
			rt.Errorf("%d of %d rows, ends: %t", len(w.ids), len(rows), w.ends)
		}
		if limit > 0 && w.longest > limit {
			rt.Errorf("a page of %d rows for the limit %d", w.longest, limit)
		}
	})
}

// The effect of each damage on walks of each size, checked without the suites.
func TestWalkDamagesBreakOneRuleEach(t *testing.T) {
	const operation = spec.ListTagMappings
	a, list := aroundEmbedded(), &fakeList{operation: operation, rows: fakeRows(256)}
	ids := everyID(list.rows)
	for _, d := range walkDamages {
		t.Run(d.name, func(t *testing.T) {
			h := a.paged(operation, d.paging)(list.answer)
			broken := map[string]bool{}
			var orders []string
			for _, limit := range []int{100, 64, 51, 50, 25, 20, 10, 7, 0} { // 64 fills the last page, and 51 leaves one row
				w := fakeWalk(t, h, operation, limit, nil)
				if limit > 0 && w.longest > limit {
					broken["PAGE-LIMIT-HONOURED"] = true
				}
				if !w.ends {
					broken["PAGE-WALK-ENDS"] = true
					continue
				}
				if w.repeats() {
					broken["PAGE-WALK-ONCE"] = true
				}
				if len(w.lacks(ids)) > 0 {
					broken["PAGE-WALK-COMPLETE"] = true
				}
				if !w.repeats() && len(w.lacks(ids)) == 0 {
					orders = append(orders, strings.Join(w.ids, " "))
				}
				if !w.repeats() && !w.sortedOneWay() {
					broken["PAGE-ORDER"] = true
				}
			}
			if len(slices.Compact(slices.Sorted(slices.Values(orders)))) > 1 {
				broken["PAGE-WALK-SEQUENCE"] = true
			}
			if !broken[d.breaks] || len(broken) > 1 {
				t.Errorf("breaks %v, not %s alone", broken, d.breaks)
			}
		})
	}
}

// Each damage makes pages too long only where its own rule forbids it.
func TestLimitDamagesBreakOneRuleEach(t *testing.T) {
	const operation = spec.ListTagMappings
	a, list := aroundEmbedded(), &fakeList{operation: operation, rows: fakeRows(130)}
	for _, d := range limitDamages {
		t.Run(d.name, func(t *testing.T) {
			h := a.paged(operation, d.paging)(list.answer)
			broken := map[string]bool{}
			for _, limit := range []string{absent, "1", "2", "7", "99", "100", "0", "-1", "101", "1000", "ten", ""} {
				rule, most := "PAGE-LIMIT-HONOURED", sizeOf(limit)
				switch {
				case limit == absent:
					rule, most = "PAGE-LIMIT-ABSENT", 100
				case most == 0 || limit == "":
					rule, most = "PAGE-LIMIT-OUT-OF-RANGE", 100
				}
				if longestPage(h, operation, limit) > most {
					broken[rule] = true
				}
			}
			if !broken[d.breaks] || len(broken) > 1 {
				t.Errorf("breaks %v, not %s alone", broken, d.breaks)
			}
		})
	}
}

// absent is no limit for longestPage.
const absent = "absent"

// longestPage walks with the given limit; a refusal ends the walk.
func longestPage(h Handler, operation, limit string) int {
	r := Request{Operation: operation, Header: http.Header{}}.clone()
	if limit != absent {
		r.Query.Set("limit", limit)
	}
	longest := 0
	for {
		answer, err := h(r)
		rows, cursor, ok := pageIn(answer)
		if err != nil || !ok || cursor == "" {
			return max(longest, len(rows))
		}
		longest = max(longest, len(rows))
		r.Query.Set("starting_after", cursor)
	}
}

func TestCursorFormsAreUnique(t *testing.T) {
	forms := map[string]cursorForm{"uuid": uuidCursor, "email": emailCursor, "timestamp": timestampCursor, "number": numberCursor,
		"opaque": opaqueCursor, "urn": urnCursor, "undashed": undashedCursor, "addressee": addresseeCursor, "link": linkCursor,
		"date": dateCursor, "epoch": epochCursor, "late": late(uuidCursor, numberCursor)}
	for name, form := range forms {
		rapid.Check(t, func(rt *rapid.T) {
			a, b := rapid.IntRange(0, 100_000).Draw(rt, "a"), rapid.IntRange(0, 100_000).Draw(rt, "b")
			if (form(a) == form(b)) != (a == b) {
				rt.Errorf("%s: %d and %d become %q and %q", name, a, b, form(a), form(b))
			}
		})
	}
}

func TestPagingLeavesTheRestToTheTarget(t *testing.T) {
	const operation = spec.ListTagMappings
	list := &fakeList{operation: operation, rows: fakeRows(30)}
	h := aroundEmbedded().paged(operation, paging{before: otherWay})(list.answer)
	for name, change := range map[string]func(*Request){
		"a limit out of range":   func(r *Request) { r.Query.Set("limit", "0") },
		"a cursor of the target": func(r *Request) { r.Query.Set("starting_after", list.rows[9].text("id")) },
		"another operation":      func(r *Request) { r.Operation = spec.ListMembers },
	} {
		r := Request{Operation: operation, Header: http.Header{}}.clone()
		change(&r)
		want, _ := list.answer(r)
		if got, err := h(r); err != nil || got.Status != want.Status || string(got.Body) != string(want.Body) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	refusing := aroundEmbedded().paged(operation, paging{})(func(Request) (Response, error) { return refusal(http.StatusUnauthorized), nil })
	if got, err := refusing(Request{Operation: operation, Header: http.Header{}}.clone()); err != nil || got.Status != http.StatusUnauthorized {
		t.Errorf("a refusal of the target became %d, %v", got.Status, err)
	}
}

func TestListCacheReadsAgainAfterAChange(t *testing.T) {
	const operation = spec.ListPlacementTests
	list := &fakeList{operation: operation, rows: fakeRows(150)}
	h := aroundEmbedded().paged(operation, paging{})(list.answer)
	fakeWalk(t, h, operation, 7, nil)
	if list.asked != 2 {
		t.Errorf("a list of two pages was read with %d requests", list.asked)
	}
	list.rows = fakeRows(151)
	if n := len(fakeWalk(t, h, operation, 7, nil).ids); n != 150 {
		t.Errorf("%d rows before a request that may change something", n)
	}
	if _, err := h(Request{Operation: spec.CreatePlacementTest, Method: http.MethodPost, Header: http.Header{}}); err != nil {
		t.Fatal(err)
	}
	if n := len(fakeWalk(t, h, operation, 7, nil).ids); n != 151 {
		t.Errorf("%d rows after it", n)
	}
}

// A cursor is outdated only by its own kind of change.
func TestOutdatedCursors(t *testing.T) {
	const operation = spec.ListPlacementTests
	for _, c := range []struct {
		requirement, change string
		row                 int // the row that is deleted
		outdated            bool
	}{
		{"PAGE-INSERT", spec.CreatePlacementTest, 0, true},
		{"PAGE-INSERT", spec.DeletePlacementTest, 9, false},
		{"PAGE-REMOVE", spec.DeletePlacementTest, 9, true},
		{"PAGE-REMOVE", spec.DeletePlacementTest, 8, false},
		{"PAGE-REMOVE", spec.CreatePlacementTest, 0, false},
	} {
		list := &fakeList{operation: operation, rows: fakeRows(30)}
		i := slices.IndexFunc(changeDefects(), func(d Defect) bool {
			return d.Breaks == (spec.Pair{Requirement: c.requirement, Operation: operation}) && strings.HasSuffix(d.ID, "-ends-walk")
		})
		h := changeDefects()[i].Apply(aroundEmbedded())(list.answer)
		r := Request{Operation: operation, Header: http.Header{}}.clone()
		r.Query.Set("limit", "10")
		first, _ := h(r)
		_, cursor, _ := pageIn(first)
		if _, err := h(Request{Operation: c.change, ID: list.rows[c.row].text("id"), Header: http.Header{}}); err != nil {
			t.Fatal(err)
		}
		r.Query.Set("starting_after", cursor)
		answer, _ := h(r)
		if rows, _, _ := pageIn(answer); (len(rows) == 0) != c.outdated {
			t.Errorf("%s after %s of row %d: %d rows", c.requirement, c.change, c.row, len(rows))
		}
	}
}

func TestPagingServesManyAtOnce(t *testing.T) {
	const operation = spec.ListPlacementTests
	var mu sync.Mutex
	list := &fakeList{operation: operation, rows: fakeRows(120)}
	target := func(r Request) (Response, error) {
		mu.Lock()
		defer mu.Unlock()
		return list.answer(r)
	}
	h := aroundEmbedded().paged(operation, paging{})(target)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if _, err := h(Request{Operation: spec.CreatePlacementTest, Header: http.Header{}}); err != nil {
				t.Error(err)
			}
			if w := fakeWalk(t, h, operation, 5+i, nil); len(w.ids) != 120 {
				t.Errorf("%d rows", len(w.ids))
			}
		})
	}
	wait.Wait()
}

// Rows that were created at the same time have different cursors: a walk of the list ends.
func TestRowsOfOneMomentHaveCursors(t *testing.T) {
	a := aroundEmbedded()
	list := &fakeList{operation: spec.ListLeadLabels, rows: fakeRows(40, func(_ int, row map[string]any) {
		row["timestamp_created"] = "2026-01-02T03:04:05.000Z"
	})}
	walk := fakeWalk(t, anchored{target: a, serves: isList}.apply(list.answer), list.operation, 7, nil)
	if !walk.ends || len(walk.lacks(everyID(list.rows))) > 0 {
		t.Errorf("%+v", walk)
	}
}
