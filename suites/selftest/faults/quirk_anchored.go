package faults

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// ranked is a row with its place in the list's order: its id, or where the list
// shows none, its position in the target's list.
type ranked struct {
	listRow
	rank string
}

// anchored serves lists in the target's place: from rows that it read whole, in
// pages that it cuts itself. Unlike paging it stays right while rows come and
// go, since its cursors stand for the row that a page ended with.
type anchored struct {
	target     *Target
	serves     func(Request) bool // which requests for lists; the rest is the target's
	descending bool               // direction unless sort_order says
	// without lists meanings of parameters that the target is not to see.
	without []string
	// choose returns the rows that are shown, in ascending order, of all that
	// the target shows; nil shows all.
	choose func(Request, []ranked) []ranked
}

func (l anchored) apply(next Handler) Handler {
	caches := map[string]*listCache{}
	for _, op := range spec.Operations() {
		if op.Answer == spec.Page {
			caches[op.ID] = &listCache{next: next, cursor: l.target.parameter(op.ID, profile.MeaningStartingAfter)}
		}
	}
	var ends aliases // cursor → rank of the row that the page ended with
	return func(r Request) (Response, error) {
		if isList(r) && l.serves(r) && sizeOf(r.Query.Get("limit")) > 0 {
			return l.page(next, caches[r.Operation], &ends, r)
		}
		answer, err := next(r)
		for _, changed := range map[string][]string{
			spec.CreatePlacementTest: {spec.ListPlacementTests},
			spec.DeletePlacementTest: {spec.ListPlacementTests},
			spec.DeleteSubsequence:   {spec.ListSubsequences},
		}[r.Operation] {
			caches[changed].forget()
		}
		return answer, err
	}
}

func (l anchored) page(next Handler, cache *listCache, ends *aliases, r Request) (Response, error) {
	cursor := r.Query.Get(cache.cursor)
	from, known := ends.get(r.Operation + cursor)
	if cursor != "" && !known {
		return next(r)
	}
	asked := r.clone()
	asked.Query = l.target.filters(r)
	for _, meaning := range l.without {
		if name, ok := l.target.Profile.Parameter(r.Operation, meaning); ok {
			asked.Query.Del(name)
		}
	}
	// One row is asked for every time, so that the target counts the request
	// and refuses a key that it would refuse.
	asked.Query.Set("limit", "1")
	if answer, err := next(asked); err != nil || answer.Status != http.StatusOK {
		return answer, err
	}
	list, ok := cache.read(asked)
	if !ok {
		return next(asked) // whatever kept the list from being read is the answer
	}
	rows := rank(list)
	if l.choose != nil {
		rows = l.choose(r, rows)
	}
	descending := l.descending
	if order := r.Query.Get(profile.MeaningSortOrder); order != "" {
		descending = order == "desc"
	}
	if descending {
		slices.Reverse(rows)
	}
	if known {
		rows = slices.DeleteFunc(rows, func(row ranked) bool { return (row.rank <= from) != descending || row.rank == from })
	}
	shown := rows[:min(len(rows), sizeOf(r.Query.Get("limit")))]
	docs := make([]listRow, len(shown))
	for i, row := range shown {
		docs[i] = row.listRow
	}
	if len(shown) == len(rows) {
		return pageOf(docs, ""), nil
	}
	last := shown[len(shown)-1]
	cursor = last.cursor(r.Operation)
	ends.set(r.Operation+cursor, last.rank)
	return pageOf(docs, cursor), nil
}

// rank puts the rows in ascending order.
func rank(list []listRow) []ranked {
	rows := make([]ranked, len(list))
	for i, row := range list {
		rows[i] = ranked{row, strings.ToLower(row.text("id"))}
		if rows[i].rank == "" {
			rows[i].rank = fmt.Sprintf("%08d", i)
		}
	}
	slices.SortFunc(rows, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	return rows
}

// cursor is of the kind that the list has.
func (r ranked) cursor(operation string) string {
	switch {
	case isTimed(operation):
		return r.text("timestamp_created")
	case r.text("id") != "":
		return r.rank
	default:
		return uuidCursor(hashed(r.rank))
	}
}

// tally counts requests by workspace and operation.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

// next returns how many requests there were before.
func (t *tally) next(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]int{}
	}
	t.of[what]++
	return t.of[what] - 1
}
