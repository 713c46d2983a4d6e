package faults

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

const touchesRows = "rows"

// listQuirks show lists in the other direction, and lists that others change
// during walks.
func listQuirks() []Quirk {
	return []Quirk{
		{ID: "lists/descending", Allowed: spec.OpenPointDirection, Doc: "sorts every list newest first by default",
			Touches: []string{touchesRows, touchesCursor},
			Apply:   func(a *Target) Middleware { return anchored{target: a, serves: isList, descending: true}.apply }},
		{ID: "lists/rows-go", Allowed: "Pagination: nothing says that a list is stable; others use the workspace too",
			Doc: "loses rows during walks, because somebody else deletes them", Touches: []string{touchesRows, touchesCursor},
			Apply: func(a *Target) Middleware { return others{target: a, goes: true}.apply }},
		{ID: "lists/rows-come-and-go", Allowed: "Pagination: nothing says that a list is stable; others use the workspace too",
			Doc: "gains and loses rows during walks, because somebody else changes them", Touches: []string{touchesRows, touchesCursor},
			Apply: func(a *Target) Middleware { return others{target: a}.apply }},
		{ID: "lists/whole-group", Allowed: "Workspace group members: nothing limits a sub-workspace's key to its own row",
			Doc: "shows a sub-workspace all members of its group", Touches: []string{touchesRows, touchesCursor}, Apply: wholeGroup},
	}
}

// wholeGroup answers a sub-workspace's request for group members with the rows of its
// admin workspace.
func wholeGroup(a *Target) Middleware {
	return func(next Handler) Handler {
		return func(r Request) (Response, error) {
			answer, err := next(r)
			key, known := a.keyOf(r)
			if err != nil || !known || r.Operation != spec.ListGroupMembers || answer.Status != http.StatusOK {
				return answer, err
			}
			admin, ok := a.Profile.AdminKey(a.Profile.Workspaces[key.Workspace])
			if !ok {
				return answer, err
			}
			return next(r.withToken(admin.Token))
		}
	}
}

// others simulates people in the same workspaces. They delete rows (goes), or
// create rows and delete them soon after. They touch nothing that the profile
// lists or the run created.
type others struct {
	target *Target
	goes   bool

	mu   *sync.Mutex
	rows map[string]*otherRows // by workspace and operation
	own  map[string]bool       // ids of tests that the run created
}

// otherRows is what others did to one list.
type otherRows struct {
	reads int
	gone  map[string]bool // ranks of rows that were deleted
	guest *ranked         // the row that others created
	host  string          // rank of the row that the guest copies: a filter shows both or neither
	since int             // number of reads when the guest came
	count int             // guests so far
}

// The interval of others' actions in reads of a list, the stay of a guest, and
// the minimum size of a list they touch.
const (
	actEvery  = 9
	guestStay = 14
	mostGone  = 12
	fewRows   = 20
)

func (o others) apply(next Handler) Handler {
	o.mu, o.rows, o.own = &sync.Mutex{}, map[string]*otherRows{}, map[string]bool{}
	lists := anchored{target: o.target, serves: isList, choose: o.choose}.apply(next)
	return func(r Request) (Response, error) {
		if (r.Operation == spec.GetPlacementTest || r.Operation == spec.DeletePlacementTest) && o.missing(r.ID) {
			r = r.naming(neverIssued)
		}
		answer, err := lists(r)
		if r.Operation == spec.CreatePlacementTest && answer.Status == http.StatusOK {
			o.mu.Lock()
			o.own[textIn(answer, "id")] = true
			o.mu.Unlock()
		}
		return answer, err
	}
}

// neverIssued is a version 7 UUID from before the service existed.
const neverIssued = "00000000-0001-7000-8000-000000000001"

// missing reports whether others deleted the test. A guest is deleted at the
// latest when it is requested: only the list shows it.
func (o others) missing(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, rows := range o.rows {
		if rows.guest != nil && rows.guest.rank == strings.ToLower(id) {
			rows.guest = nil
			return true
		}
		if rows.gone[strings.ToLower(id)] {
			return true
		}
	}
	return false
}

func (o others) choose(r Request, list []ranked) []ranked {
	o.mu.Lock()
	defer o.mu.Unlock()
	key, _ := o.target.keyOf(r)
	at := o.rows[key.Workspace+" "+r.Operation]
	if at == nil {
		at = &otherRows{gone: map[string]bool{}}
		o.rows[key.Workspace+" "+r.Operation] = at
	}
	at.reads++
	if whole := len(o.target.filters(r)) == 0; whole && len(list) > fewRows {
		o.act(r, key.Workspace, at, list)
	}
	if at.guest != nil {
		if i := slices.IndexFunc(list, func(row ranked) bool { return row.rank == at.host }); i >= 0 {
			// Made of the host as this request shows it: flags may leave out parts of rows.
			list = slices.Insert(list, i+1, *guestOf(list[i], at.count))
		}
	}
	return slices.DeleteFunc(list, func(row ranked) bool { return at.gone[row.rank] })
}

// act performs the others' action at this read.
func (o others) act(r Request, role string, at *otherRows, list []ranked) {
	if at.guest != nil && at.reads-at.since >= guestStay {
		at.guest = nil
	}
	if at.reads%actEvery != 0 || at.guest != nil {
		return
	}
	i := at.reads * 7 % len(list)
	if at.reads/actEvery%2 == 0 {
		i %= fewRows // suites look at the first rows most
	}
	if r.Operation == spec.ListWebhookEvents && o.goes {
		i = len(at.gone) // a log loses its oldest attempts
	}
	switch row := list[i]; {
	case !o.goes:
		at.count++
		at.guest, at.host, at.since = guestOf(row, at.count), row.rank, at.reads
	case len(at.gone) < mostGone && !o.isReserved(role, row):
		at.gone[row.rank] = true
	}
}

// isReserved reports whether the run works with the row.
func (o others) isReserved(role string, row ranked) bool {
	w := o.target.Profile.Workspaces[role]
	id := row.text("id")
	return o.own[id] || slices.Contains(slices.Concat(w.PlacementTests, w.Subsequences, w.ExpendableSubsequences), id)
}

// guestOf returns a row like its host, created a millisecond later.
func guestOf(host ranked, count int) *ranked {
	fields := map[string]any{}
	for name, value := range host.fields {
		fields[name] = value
	}
	rank := host.rank + "+"
	if id := host.text("id"); id != "" {
		// The random part of an id follows its time; the guest's is higher.
		rank = fmt.Sprintf("%sfff%09x", host.rank[:24], count)
		fields["id"] = rank
	}
	if domain, ok := fields["domain"].(string); ok {
		fields["domain"] = fmt.Sprintf("guest-%d.%s", count, domain)
	}
	if created, err := time.Parse(time.RFC3339Nano, host.text("timestamp_created")); err == nil {
		created = created.Add(time.Millisecond).UTC()
		fields["timestamp_created"] = created.Format("2006-01-02T15:04:05.000Z")
		if fields["timestamp_created_date"] != nil {
			fields["timestamp_created_date"] = created.Format(time.DateOnly)
		}
	}
	return &ranked{listRow{encode(fields), fields}, rank}
}

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
	// filtersPages cuts pages from the list without filters, and filters each of them.
	filtersPages bool
}

func (l anchored) apply(next Handler) Handler {
	caches := map[string]*listCache{}
	for _, op := range spec.Operations() {
		if op.Answer == spec.Page {
			caches[op.ID] = &listCache{next: next, cursor: l.target.parameter(op.ID, profile.ParamStartingAfter)}
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
	matching, ok := cache.read(asked)
	if !ok {
		return next(asked) // the target's refusal is the answer
	}
	list := matching
	if l.filtersPages {
		whole := asked.clone()
		for _, name := range l.target.filtersOf(r.Operation) {
			whole.Query.Del(name)
		}
		if list, ok = cache.read(whole); !ok {
			return next(whole)
		}
	}
	rows := rank(list)
	if l.choose != nil {
		rows = l.choose(r, rows)
	}
	descending := l.descending
	if order := r.Query.Get(profile.ParamSortOrder); order != "" {
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
	if l.filtersPages {
		docs = among(docs, matching)
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

// cursor returns a cursor of the list's kind. No two rows have the same, although they may
// have the same timestamp.
func (r ranked) cursor(operation string) string {
	switch {
	case isTimed(operation):
		return timestampCursor(hashed(r.rank))
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
