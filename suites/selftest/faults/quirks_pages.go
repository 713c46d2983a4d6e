package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

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
		return quirk("pages/"+id, allowed, "limit", doc, when(paged, changeParam("limit", change)))
	}
	short := func(id, doc string, size func(n int) int) Quirk {
		return limits(id, spec.OpenPointShortPages, doc, func(limit string) string {
			if n := sizeOf(limit); n > 0 {
				return strconv.Itoa(size(n))
			}
			return limit
		})
	}
	unasked := func(n string) Quirk {
		return limits("default-"+n, spec.OpenPointDefaultLimit, "returns "+n+" rows per page when no limit is sent",
			func(limit string) string { return cmp.Or(limit, n) })
	}
	return []Quirk{
		unasked("1"), unasked("7"), unasked("100"),
		limits("limit-clamped", spec.OpenPointLimitRange, "clamps an out-of-range limit", func(limit string) string {
			if limit == "" {
				return limit
			}
			n, _ := strconv.Atoi(limit) // the nearest number, or 0
			return strconv.Itoa(max(1, min(n, 100)))
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
}

// changeParam changes a parameter of the query; "" drops it.
func changeParam(key string, change func(value string) string) verb {
	return func(x *exchange) {
		if value := change(x.param(key)); value != "" {
			setParam(key, value)(x)
		} else {
			dropParam(key)(x)
		}
	}
}

func cursorQuirks() []Quirk {
	cursors := func(id, allowed, doc string, r rule) Quirk { return quirk("pages/"+id, allowed, "cursor", doc, r) }
	last := func(id, doc string, cursor any) Quirk {
		return cursors("last-cursor-"+id, spec.OpenPointLastCursor, doc,
			when(all(paged, served, noCursor), member("next_starting_after", constant(cursor))))
	}
	kind := func(id, doc string, write cursorForm) Quirk {
		return quirk("pages/cursor-"+id, spec.OpenPointCursorKind, "rows, cursor", doc,
			when(func(x *exchange) bool { return paged(x) && !isTimed(x.Operation) }, serve(pager{anchored: true, form: write})))
	}
	deleted := func(id, doc string, code int, inner ...rule) Quirk {
		return quirk("pages/deleted-cursor-"+id, spec.OpenPointDeletedCursor, "cursor, rows, when changes show, delete", "refuses a cursor whose row was deleted"+doc,
			append([]rule{
				when(all(paged, served, atDeleted), refuse(code)),
				when(all(paged, served), noteLastRow),
				when(all(deletes, served), func(x *exchange) { x.memory.put("deleted "+x.ID, true) }),
			}, inner...)...)
	}
	return []Quirk{
		quirk("pages/filtered-after-cutting", spec.OpenPointShortPages, "rows, cursor", "filters each page of the whole list, so that a page without matches leads on",
			when(all(paged, filtered), serve(pager{anchored: true, hidden: filterKeys(), after: func(s *page) {
				s.rows = among(s.rows, s.read(func(*Request) {}))
			}}))),
		deleted("refused", "", 400),
		deleted("not-found", ", and sorts every list newest first by default", 404, when(paged, newestFirst)),
		deleted("before-the-list", ", and shows the deleted row for a while", 422, deletedLater...),
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
	for _, f := range filtersIn("") {
		keys = append(keys, f.Key)
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

// endEmpty adds an empty page after the last, which may lead to itself.
func endEmpty(toItself bool) verb {
	return func(x *exchange) {
		final := "ffffffff-ffff-7fff-bfff-ffffffffffff"
		if isTimed(x.Operation) {
			final = "2099-12-31T23:59:59.999Z"
		}
		ended := x.param(profile.ParamStartingAfter) == final
		if ended {
			dropParam(profile.ParamStartingAfter)(x)
		}
		if !x.served() || !ended && !noCursor(x) {
			return
		}
		if ended {
			x.reply(pageOf(nil, ""))
		}
		if !ended || toItself {
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
		lists("rows-go", unstable, "loses rows during walks, because somebody else deletes them", whileOthers(loseRows),
			when(namesLost, swapID(func(*exchange) string { return noSuchTest })), on(spec.CreatePlacementTest, served, noteCreated)),
		lists("rows-come-and-go", unstable, "gains and loses rows during walks, because somebody else changes them", whileOthers(addGuest)),
		lists("rows-come-late", spec.OpenPointVisibility, "shows a row that somebody else made in the largest pages at once, and in smaller ones only after a while",
			when(all(paged, func(x *exchange) bool { return x.Operation != spec.ListSubsequences }), serve(pager{anchored: true, before: func(s *page) { // a deletion there would move the rows
				others := "rows of others " + s.home().ID + s.Operation
				largest := s.param("limit") == strconv.Itoa(spec.MaxLimit)
				if largest && s.sinceChange(others) > 4*s.Profile.Visibility() { // seldom: a check that looks again must not meet the next one
					s.note(others)
					s.memory.count(others)
				}
				n := s.memory.counted(others)
				for earlier := range n {
					showGuest(s, earlier)
				}
				if largest || !hiddenFor(s.exchange, others) {
					showGuest(s, n)
				}
			}}))),
		lists("whole-group", "Workspace group members: nothing limits a sub-workspace's key to its own row", "shows a sub-workspace all members of its group",
			on(spec.ListGroupMembers, served, func(x *exchange) {
				if admin, ok := x.Profile.AdminKey(x.home()); ok {
					x.Request = x.withToken(admin.Token)
					x.again()
				}
			})),
	}
}

// People in the same workspaces change a list after this many reads.
const actEvery = 9

// whileOthers serves lists that others change: change gets the number of reads before.
func whileOthers(change func(s *page, reads int)) rule {
	return when(paged, serve(pager{anchored: true, before: func(s *page) { change(s, s.countRead(s.Operation)) }}))
}

func (x *exchange) countRead(list string) int { return x.memory.count("reads " + x.home().ID + list) }

// isLost reports whether others have deleted a row after so many reads. They touch nothing that
// the profile lists or the run created.
func isLost(x *exchange, id string, reads int) bool {
	const most = 12
	w := x.home()
	return hashed(id)%100 < min(reads/actEvery, most) && !x.memory.has("changed "+id) &&
		!slices.Contains(slices.Concat(w.Campaigns, w.PlacementTests, w.Subsequences, w.ExpendableSubsequences), id)
}

func namesLost(x *exchange) bool {
	return x.ID != "" && isLost(x, strings.ToLower(x.ID), x.countRead(listOf(x.Operation)))
}

func loseRows(s *page, reads int) {
	s.list = slices.DeleteFunc(s.list, func(r row) bool {
		return isLost(s.exchange, cmp.Or(r.text("retry_group_id"), r.rank), reads) // all attempts of a delivery
	})
}

// addGuest shows a guest that comes and goes with the number of reads.
func addGuest(s *page, reads int) {
	const stay = 14
	if reads%(actEvery+stay) >= actEvery {
		showGuest(s, reads/(actEvery+stay))
	}
}

// showGuest shows a row next to one like it, another one at each visit. Only the list shows it.
func showGuest(s *page, visit int) {
	const fewRows = 20
	whole := s.listFor(s.Operation, s.token())
	if _, gets := spec.MustOperation(s.Operation).Get(); gets || len(whole) <= fewRows {
		return
	}
	host := whole[visit*7%len(whole)].rank
	rank := host + "+"
	if isUUID(host) { // the random part follows the time
		rank = fmt.Sprintf("%sfff%09x", host[:24], visit)
	}
	i := slices.IndexFunc(s.list, func(r row) bool { return r.rank == host })
	if i < 0 {
		return
	}
	guest := maps.Clone(s.list[i].fields)
	damage(guest, "id", constant(rank))
	damage(guest, "domain", constant(fmt.Sprintf("guest-%d.example", visit)))
	s.list = slices.Insert(s.list, i+1, newRow(guest, rank))
}
