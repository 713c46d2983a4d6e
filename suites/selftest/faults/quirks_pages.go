package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// pageQuirks cut lists into pages in legal ways, and show lists in other orders and lists that
// others change.
func pageQuirks() []Quirk {
	return slices.Concat(limitQuirks(), cursorQuirks(), listQuirks())
}

func limitQuirks() []Quirk {
	limits := func(id, allowed, doc string, change func(limit string) string) Quirk {
		return quirk("pages/"+id, allowed, "limit", doc, when(paged, func(x *exchange) {
			limit := change(x.Query.Get("limit"))
			if setParam("limit", limit)(x); limit == "" {
				dropParam("limit")(x)
			}
		}))
	}
	short := func(id, doc string, size func(n int) int) Quirk {
		return limits(id, spec.OpenPointShortPages, doc, func(limit string) string {
			if n := sizeOf(limit); limit != "" && n > 0 {
				return strconv.Itoa(size(n))
			}
			return limit
		})
	}
	quirks := []Quirk{
		limits("limit-clamped", spec.OpenPointLimitRange, "clamps an out-of-range limit", func(limit string) string {
			n, err := strconv.ParseFloat(limit, 64)
			switch {
			case sizeOf(limit) > 0:
				return limit
			case err != nil:
				return largestPage
			}
			return strconv.Itoa(int(min(max(n, 1), 100)))
		}),
		limits("limit-ignored", spec.OpenPointLimitRange, "ignores an out-of-range limit", func(limit string) string {
			if sizeOf(limit) == 0 {
				return ""
			}
			return limit
		}),
		short("one-short", "returns one row fewer per page than the limit allows", func(n int) int { return max(1, n-1) }),
		short("small", "never returns more than 25 rows per page", func(n int) int { return min(n, 25) }),
		short("uneven", "returns a varying number of rows per page below the limit", func(n int) int { return 1 + n*2/3 - n%5*n/12 }),
	}
	for _, n := range []string{"1", "7", "100"} {
		quirks = append(quirks, quirk("pages/default-"+n, spec.OpenPointDefaultLimit, "limit", "returns "+n+" rows per page when no limit is sent",
			when(all(paged, not(having("limit", func(limit string) bool { return limit != "" }))), setParam("limit", n))))
	}
	return quirks
}

func cursorQuirks() []Quirk {
	cursors := func(id, allowed, doc string, r rule) Quirk { return quirk("pages/"+id, allowed, "cursor", doc, r) }
	last := func(id, doc string, cursor any) Quirk {
		return cursors("last-cursor-"+id, spec.OpenPointLastCursor, doc,
			when(all(paged, served, noCursor), member("next_starting_after", constant(cursor))))
	}
	kind := func(id, doc string, write cursorForm) Quirk {
		return cursors("cursor-"+id, spec.OpenPointCursorKind, doc, when(func(x *exchange) bool { return paged(x) && !isTimed(x.Operation) }, inForm(write)))
	}
	deleted := func(id, doc string, code int, inner ...rule) Quirk {
		return quirk("pages/deleted-cursor-"+id, spec.OpenPointDeletedCursor, "cursor, rows, when changes show, delete", "refuses a cursor whose row was deleted"+doc,
			append([]rule{
				when(all(paged, served, atDeleted), refuse(code)),
				when(all(paged, served), noteLastRow),
				when(deletes, remember(func(x *exchange) string { return "deleted " + x.ID }, func(*exchange) any { return true })),
			}, inner...)...)
	}
	return []Quirk{
		quirk("pages/filtered-after-cutting", spec.OpenPointShortPages, "rows, cursor", "filters each page of the whole list, so that a page without matches leads on",
			when(all(paged, filtered), serve(pager{anchored: true, hidden: filterKeys(), after: func(s *page) {
				s.rows = among(s.rows, s.read(func(*Request) {}))
			}}))),
		deleted("refused", "", http.StatusBadRequest),
		deleted("not-found", ", and sorts every list newest first by default", http.StatusNotFound, when(paged, newestFirst)),
		deleted("before-the-list", ", and shows the deleted row for a while", http.StatusUnprocessableEntity, deletedLater...),
		last("null", "shows a null cursor on the last page", nil),
		last("empty", "shows an empty cursor on the last page", ""),
		cursors("empty-last-page", spec.OpenPointLastCursor, "ends every list with an empty page", when(paged, endEmpty(false))),
		cursors("empty-last-page-with-cursor", spec.OpenPointLastCursor, "ends every list with an empty page that has a cursor", when(paged, endEmpty(true))),
		kind("uuid", "uses UUIDs as cursors", uuidCursor),
		kind("timestamp", "uses timestamps as cursors", timestampCursor),
		// A plus must be escaped in a query.
		kind("email", "uses email addresses with a plus sign as cursors", func(n int) string { return fmt.Sprintf("page+%x@cursors.example", n) }),
	}
}

// filterKeys returns the parameters that select rows.
func filterKeys() (keys []string) {
	for _, f := range filterTable {
		keys = append(keys, f.key)
	}
	return keys
}

var newestFirst = serve(pager{anchored: true, before: func(s *page) { s.down = s.Query.Get(profile.ParamSortOrder) != "asc" }})

// noteLastRow notes with which row the page ends.
func noteLastRow(x *exchange) {
	if rows, cursor, ok := pageIn(x.answer); ok && cursor != "" && len(rows) > 0 {
		x.memory.put("last row "+x.Operation+cursor, rows[len(rows)-1].text("id"))
	}
}

// atDeleted is a request with the cursor of a page whose last row was deleted.
func atDeleted(x *exchange) bool {
	id, ok := x.memory.get("last row " + x.Operation + x.param(profile.ParamStartingAfter))
	return ok && x.memory.has("deleted "+id.(string))
}

// inForm replaces the target's cursors.
func inForm(write cursorForm) verb {
	return func(x *exchange) {
		if original, ok := x.memory.get(x.Operation + x.param(profile.ParamStartingAfter)); ok {
			setParam(profile.ParamStartingAfter, original.(string))(x)
		}
		if cursor := textOf(x.body(), "next_starting_after"); cursor != "" {
			ours := write(hashed(x.Operation + cursor))
			x.memory.put(x.Operation+ours, cursor)
			member("next_starting_after", constant(ours))(x)
		}
	}
}

// endEmpty adds an empty page after the last, which may lead to itself.
func endEmpty(toItself bool) verb {
	return func(x *exchange) {
		final, next := "ffffffff-ffff-7fff-bfff-ffffffffffff", ""
		if isTimed(x.Operation) {
			final = "2099-12-31T23:59:59.999Z"
		}
		if toItself {
			next = final
		}
		ended := x.param(profile.ParamStartingAfter) == final
		if ended {
			dropParam(profile.ParamStartingAfter)(x)
		}
		switch {
		case !x.served():
		case ended:
			x.reply(pageOf(nil, next))
		case noCursor(x):
			member("next_starting_after", constant(final))(x)
		}
	}
}

func listQuirks() []Quirk {
	const unstable = "Pagination: nothing says that a list is stable; others use the workspace too"
	lists := func(id, allowed, doc string, rules ...rule) Quirk {
		return quirk("lists/"+id, allowed, "rows, cursor", doc, rules...)
	}
	return []Quirk{
		lists("descending", spec.OpenPointDirection, "sorts every list newest first by default", when(paged, newestFirst)),
		lists("rows-go", unstable, "loses rows during walks, because somebody else deletes them", others(rowsGo)...),
		lists("rows-come-and-go", unstable, "gains and loses rows during walks, because somebody else changes them", others(guestsCome)...),
		lists("whole-group", "Workspace group members: nothing limits a sub-workspace's key to its own row", "shows a sub-workspace all members of its group",
			on(spec.ListGroupMembers, served, func(x *exchange) {
				if admin, ok := x.Profile.AdminKey(x.home()); ok {
					x.Request, x.decided = x.withToken(admin.Token), false
				}
			})),
	}
}

// The interval of others' actions in reads of a list, the stay of a guest, the most rows that
// others delete, and the size of a list up to which they leave it alone.
const (
	actEvery  = 9
	guestStay = 14
	mostGone  = 12
	fewRows   = 20
)

// others simulates people in the same workspaces, who change lists. They touch nothing that
// the profile lists or the run created.
func others(change func(s *page, list string, n int)) []rule {
	return []rule{
		when(isGone, swapID(func(*exchange) string { return noSuchTest })),
		when(paged, serve(pager{anchored: true, before: func(s *page) {
			list := s.othersName(s.Operation)
			change(s, list, s.memory.count("reads "+list))
		}})),
		on(spec.CreatePlacementTest, served, func(x *exchange) { x.memory.put("own "+textOf(x.body(), "id"), true) }),
	}
}

// othersName names a list of the workspace that asks.
func (x *exchange) othersName(operation string) string { return x.home().ID + " " + operation + " " }

// isGone is a request for a row that others deleted. They delete a guest at the latest when
// it is requested: only the list shows it.
func isGone(x *exchange) bool {
	if x.ID == "" {
		return false
	}
	list, id := x.othersName(listOf(x.Operation)), strings.ToLower(x.ID)
	value, _ := x.memory.get("guest " + list)
	if g, ok := value.(guest); ok && g.rank() == id {
		x.memory.take("guest " + list)
		return true
	}
	return x.memory.has("gone " + list + id)
}

// chosenRow returns the position of the row with which others do something at the nth read; ok
// is false if they do nothing.
func (s *page) chosenRow(n int) (i int, ok bool) {
	if n%actEvery != 0 || len(s.list) <= fewRows || filtered(s.exchange) {
		return 0, false
	}
	i = n * 7 % len(s.list)
	if n/actEvery%2 == 0 {
		i %= fewRows // suites look at the first rows most
	}
	return i, true
}

func rowsGo(s *page, list string, n int) {
	s.list = slices.DeleteFunc(s.list, func(r row) bool { return s.memory.has("gone " + list + r.rank) })
	i, ok := s.chosenRow(n)
	if !ok {
		return
	}
	if s.Operation == spec.ListWebhookEvents {
		i = 0 // a log loses its oldest attempts
	}
	w, id := s.home(), s.list[i].text("id")
	reserved := s.memory.has("own "+id) || slices.Contains(slices.Concat(w.PlacementTests, w.Subsequences, w.ExpendableSubsequences), id)
	if !reserved && s.memory.count("deletions of "+list) <= mostGone {
		s.memory.put("gone "+list+s.list[i].rank, true)
		s.list = slices.Delete(s.list, i, i+1)
	}
}

func guestsCome(s *page, list string, n int) {
	value, _ := s.memory.get("guest " + list)
	g, here := value.(guest)
	if here && n-g.since >= guestStay && !filtered(s.exchange) {
		s.memory.take("guest " + list)
		here = false
	}
	if i, ok := s.chosenRow(n); ok && !here {
		g, here = guest{s.list[i].rank, n}, true
		s.memory.put("guest "+list, g)
	}
	// It is like the host as this request shows it: filters show both or neither, and flags may
	// leave out parts of rows.
	if i := slices.IndexFunc(s.list, func(r row) bool { return r.rank == g.host }); here && i >= 0 {
		s.list = slices.Insert(s.list, i+1, g.like(s.list[i]))
	}
}

// guest is a row that others create and soon delete.
type guest struct {
	host  string // the rank of the row that it copies
	since int    // the read at which it came
}

// rank is the rank of the guest. The random part of an id follows its time; the guest's is
// higher.
func (g guest) rank() string {
	if !isUUID(g.host) {
		return g.host + "+"
	}
	return fmt.Sprintf("%sfff%09x", g.host[:24], g.since)
}

// like returns a row like the host, created a millisecond later.
func (g guest) like(host row) row {
	fields := copyOf(host.fields).(map[string]any)
	if host.text("id") != "" {
		fields["id"] = g.rank()
	}
	damage(fields, "domain", ofText(func(domain string) string { return fmt.Sprintf("guest-%d.%s", g.since, domain) }))
	if created, err := time.Parse(time.RFC3339Nano, host.text("timestamp_created")); err == nil {
		created = created.Add(time.Millisecond)
		fields["timestamp_created"] = written(created)
		damage(fields, "timestamp_created_date", constant(created.UTC().Format(time.DateOnly)))
	}
	return newRow(fields, g.rank())
}
