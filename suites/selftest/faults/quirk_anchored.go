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

// ranked is a row with its rank in the list: its id or, if it has none, its
// position in the target's list.
type ranked struct {
	listRow
	rank string
}

// anchored serves lists instead of the target, from cached rows, in its own
// pages. Unlike paging it stays correct while rows come and go, because its
// cursors refer to the last row of a page.
type anchored struct {
	target     *Target
	serves     func(Request) bool // selects requests; the rest goes to the target
	descending bool               // default direction
	// without lists the meanings of parameters that are hidden from the target.
	without []string
	// choose selects the rows to show, in ascending order; nil shows all.
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
	// One row is requested every time, so that the target counts the request
	// and refuses bad keys.
	asked.Query.Set("limit", "1")
	if answer, err := next(asked); err != nil || answer.Status != http.StatusOK {
		return answer, err
	}
	list, ok := cache.read(asked)
	if !ok {
		return next(asked) // the target's refusal is the answer
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

// rank returns the rows in ascending order.
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

// cursor returns a cursor of the list's kind.
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

// next returns how many such requests came before.
func (t *tally) next(what string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]int{}
	}
	t.of[what]++
	return t.of[what] - 1
}
