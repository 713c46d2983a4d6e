package suites

import (
	"fmt"
	"net/http"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// pages judges limits and walks of every paged list (section Pagination).
func pages() []Spec {
	var specs []Spec
	for _, op := range bound("PAGE-LIMIT-ACCEPTED") {
		walks := []string{"PAGE-WALK-ENDS", "PAGE-WALK-ONCE", "PAGE-WALK-COMPLETE", "PAGE-WALK-SEQUENCE", "PAGE-LIMIT-HONOURED", cursorRequirement(op)}
		if spec.Has(spec.Pair{Requirement: "PAGE-ORDER", Operation: op.ID}) {
			walks = append(walks, "PAGE-ORDER")
		}
		specs = append(specs,
			Spec{op.ID, "accepts and honours limits from 1 to 100", on(op, "PAGE-LIMIT-ACCEPTED", "PAGE-LIMIT-HONOURED"), limitsInRange(op)},
			Spec{op.ID, "serves a page without a limit", on(op, "PAGE-LIMIT-ABSENT"), limitAbsent(op)},
			Spec{op.ID, "refuses or clamps a limit out of range", on(op, "PAGE-LIMIT-OUT-OF-RANGE"), limitsOutOfRange(op)},
			Spec{op.ID, "shows the same rows, each once, in order, for every page size", on(op, walks...), walksAgree(op)})
	}
	return specs
}

func limitsInRange(op spec.Operation) func(*check) {
	return func(c *check) {
		list := c.as(dataset.Main, op)
		var calls []call
		limits := []int{1, 2, 7, 99, 100}
		for _, limit := range limits {
			calls = append(calls, list.with("limit", strconv.Itoa(limit)))
		}
		for i, a := range c.send(calls...) {
			if c.serves("PAGE-LIMIT-ACCEPTED", a) {
				c.honours(a, limits[i])
			} else {
				c.missing("PAGE-LIMIT-HONOURED", op.ID, "%s", a.lacks())
			}
		}
	}
}

// honours judges that the page is no longer than the limit. A page without rows
// is shorter than every limit, which is no merit of the server's.
func (c *check) honours(a answer, limit int) {
	n := len(a.Rows)
	if n == 0 {
		c.missing("PAGE-LIMIT-HONOURED", a.call.op.ID, "a row in the list")
		return
	}
	c.assess("PAGE-LIMIT-HONOURED", a.call.op.ID)
	if n > limit {
		c.violate("PAGE-LIMIT-HONOURED", a, "/items", fmt.Sprintf("at most %d items", limit), fmt.Sprintf("%d items", n))
	}
}

func limitAbsent(op spec.Operation) func(*check) {
	return func(c *check) {
		a := c.one(c.as(dataset.Main, op))
		if !c.serves("PAGE-LIMIT-ABSENT", a) {
			return
		}
		if n := len(a.Rows); n > maxLimit {
			c.violate("PAGE-LIMIT-ABSENT", a, "/items", "at most 100 items", fmt.Sprintf("%d items", n))
		}
		if a.cursor() != "" {
			c.observe(spec.SilenceDefaultLimit, op.ID, "%d items", len(a.Rows))
		}
	}
}

func limitsOutOfRange(op spec.Operation) func(*check) {
	return func(c *check) {
		list := c.as(dataset.Main, op)
		limits := []string{"0", "-1", "101", "1000", "99999999999999999999", "1.5", "ten"}
		var calls []call
		for _, limit := range limits {
			calls = append(calls, list.with("limit", limit).open())
		}
		for i, a := range c.send(calls...) {
			switch {
			case a.ok():
				c.assess("PAGE-LIMIT-OUT-OF-RANGE", op.ID)
				c.observe(spec.SilenceLimitRange, op.ID, "limit %s: %d items", limits[i], len(a.Rows))
				if n := len(a.Rows); n > maxLimit {
					c.violate("PAGE-LIMIT-OUT-OF-RANGE", a, "/items", "a refusal, or at most 100 items", fmt.Sprintf("%d items", n))
				}
			case a.Status == http.StatusOK:
				c.missing("PAGE-LIMIT-OUT-OF-RANGE", op.ID, "%s", a.lacks())
			case a.Status >= 400 && a.Status < 500:
				c.weigh("PAGE-LIMIT-OUT-OF-RANGE", a)
				c.observe(spec.SilenceLimitRange, op.ID, "limit %s: %d", limits[i], a.Status)
			default:
				c.violate("PAGE-LIMIT-OUT-OF-RANGE", a, "status", "a refusal (4xx), or a page of at most 100 items", describe(a))
			}
		}
	}
}

// walksAgree walks the list in several ways, one after the other so that rows
// that come or go meanwhile can be told from rows that a walk leaves out. What
// the first and the last walk leave out cannot be told, so they are ways that
// are walked again in between.
func walksAgree(op spec.Operation) func(*check) {
	return func(c *check) {
		list := c.as(dataset.Main, op)
		var tours []journey
		for _, sizes := range []paging.Sizes{pagesOf(50), pagesOf(100), pagesOf(7), paging.Cycle(1, 2, 7, 99, 100), pagesOf(0), pagesOf(50), pagesOf(100)} {
			tours = append(tours, c.tour(list, sizes))
		}
		for _, j := range tours {
			c.ends(j)
			c.cursors(j)
			c.pageSizes(j)
			if spec.Has(spec.Pair{Requirement: "PAGE-ORDER", Operation: op.ID}) {
				c.ordered("PAGE-ORDER", j, "")
			}
		}
		c.agree(tours)
	}
}

// ends judges how one walk ended.
func (c *check) ends(j journey) {
	op := j.list.op.ID
	switch j.End {
	case paging.Broken:
		c.missing("PAGE-WALK-ENDS", op, "%s", j.Err)
	case paging.Capped:
		c.missing("PAGE-WALK-ENDS", op, "a list that ends within %d pages", c.maxPages())
	case paging.CursorRepeated:
		c.violate("PAGE-WALK-ENDS", j.last(), "/next_starting_after", "a cursor that leads on", fmt.Sprintf("the cursor %q again, on page %d", j.last().cursor(), len(j.Pages)))
	case paging.NoNewRows:
		c.violate("PAGE-WALK-ENDS", j.last(), "/items", "rows that were not shown yet", fmt.Sprintf("no new row on the last pages up to page %d", len(j.Pages)))
	case paging.Done:
		c.assess("PAGE-WALK-ENDS", op)
		c.observe(spec.SilenceLastCursor, op, "%s", lastCursor(j.last()))
	}
}

// lastCursor tells what the last page of a walk carries for a cursor.
func lastCursor(a answer) string {
	page, _ := a.Body().(map[string]any)
	cursor, present := page["next_starting_after"]
	switch {
	case !present:
		return "absent"
	case cursor == nil:
		return "null"
	case cursor == "":
		return "empty string"
	default:
		return "a cursor on an empty page"
	}
}

// cursorRequirement says which kind of cursor the list has.
func cursorRequirement(op spec.Operation) string {
	if spec.Has(spec.Pair{Requirement: "PAGE-CURSOR-TIMESTAMP", Operation: op.ID}) {
		return "PAGE-CURSOR-TIMESTAMP"
	}
	return "PAGE-CURSOR-VALUE"
}

func (c *check) cursors(j journey) {
	requirement := cursorRequirement(j.list.op)
	if !slices.ContainsFunc(j.Pages, func(p paging.Page) bool { return p.Cursor != "" }) {
		c.missing(requirement, j.list.op.ID, "a page with a cursor")
	}
	for i, page := range j.Pages {
		if page.Cursor == "" {
			continue
		}
		c.assess(requirement, j.list.op.ID)
		kind := cursorKind(page.Cursor)
		c.observe(spec.SilenceCursorKind, j.list.op.ID, "%s", kind)
		switch {
		case requirement == "PAGE-CURSOR-TIMESTAMP" && kind != "timestamp":
			c.violate(requirement, j.at(i), "/next_starting_after", "a timestamp", strconv.Quote(page.Cursor))
		case kind == "other":
			c.violate(requirement, j.at(i), "/next_starting_after", "a UUID, a timestamp or an email address", strconv.Quote(page.Cursor))
		}
	}
}

// cursorKind tells a cursor's kind; the specification does not say how exact a
// timestamp in a cursor is, so every ISO 8601 form with a date and time serves.
func cursorKind(cursor string) string {
	if _, err := uuid.Parse(cursor); err == nil && len(cursor) == 36 {
		return "UUID"
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700"} {
		if _, err := time.Parse(layout, cursor); err == nil {
			return "timestamp"
		}
	}
	if address, err := mail.ParseAddress(cursor); err == nil && address.Address == cursor {
		return "email address"
	}
	return "other"
}

// pageSizes judges every page of a walk against its limit, and observes short pages.
func (c *check) pageSizes(j journey) {
	if len(j.Pages) == 0 {
		c.missing("PAGE-LIMIT-HONOURED", j.list.op.ID, "%s", j.Err)
	}
	for i, page := range j.Pages {
		if page.Limit == 0 {
			continue
		}
		c.honours(j.at(i), page.Limit)
		if len(page.Rows) < page.Limit && i < len(j.Pages)-1 && len(j.Pages[i+1].Rows) > 0 {
			c.observe(spec.SilenceShortPages, j.list.op.ID, "a page that is not the last holds fewer items than the limit")
		}
	}
}

// ordered judges that the ids of a walk run in one direction: want is "asc",
// "desc", or "" for either. A row that was shown before has no place in the
// order; that it is shown again is for PAGE-WALK-ONCE to say.
func (c *check) ordered(requirement string, j journey, want string) {
	direction := want
	previous := ""
	seen := map[string]bool{}
	for p, page := range j.Pages {
		for i, row := range page.Rows {
			id, ok := row.Value["id"].(string)
			if !ok || seen[id] { // without an id: the schemas have found it
				continue
			}
			seen[id] = true
			if previous != "" {
				runs := "asc"
				if strings.ToLower(id) < strings.ToLower(previous) {
					runs = "desc"
				}
				c.assess(requirement, j.list.op.ID)
				if direction == "" {
					direction = runs
				} else if runs != direction {
					c.violate(requirement, j.at(p), pointerIn(i)+"/id", "an id "+map[string]string{"asc": "above ", "desc": "below "}[direction]+previous, id)
				}
			}
			previous = id
		}
	}
	if want == "" && direction != "" {
		c.observe(spec.SilenceDirection, j.list.op.ID, "%s", direction)
	}
	if previous == "" || direction == "" {
		c.missing(requirement, j.list.op.ID, "at least two rows in the list")
	}
}

// agree judges that walks of different page sizes show the same rows, each
// once, in the same order.
func (c *check) agree(tours []journey) {
	op := tours[0].list.op
	walks := make([]paging.Walk, len(tours))
	for i, j := range tours {
		if !j.Complete() {
			want := fmt.Sprintf("walks that end (%s)", j.End)
			if j.End == paging.Broken {
				want = j.Err.Error()
			}
			for _, r := range []string{"PAGE-WALK-ONCE", "PAGE-WALK-COMPLETE", "PAGE-WALK-SEQUENCE"} {
				c.missing(r, op.ID, "%s", want)
			}
			return
		}
		walks[i] = j.Walk
	}
	if len(walks[0].Rows()) < 2 {
		for _, r := range []string{"PAGE-WALK-ONCE", "PAGE-WALK-COMPLETE", "PAGE-WALK-SEQUENCE"} {
			c.missing(r, op.ID, "at least two rows in the list")
		}
		return
	}
	for i, j := range tours {
		c.once("PAGE-WALK-ONCE", tours, i)
		c.complete("PAGE-WALK-COMPLETE", j, paging.Missing(walks, i))
		c.sameOrder("PAGE-WALK-SEQUENCE", tours[0], j)
	}
}

// once judges that a walk repeats no row. Rows without an id may be alike, and
// may come and go, so there a row counts as repeated if walks before and after
// show it less often.
func (c *check) once(requirement string, tours []journey, i int) {
	j := tours[i]
	c.assess(requirement, j.list.op.ID)
	for _, repeat := range j.Repeats() {
		if j.Pages[repeat.Again.Page].Rows[repeat.Again.Item].Value["id"] == nil && !shownMoreOften(tours, i, repeat.Again.Key) {
			continue
		}
		c.violate(requirement, j.at(repeat.Again.Page), pointerIn(repeat.Again.Item),
			"a row that was not shown yet", fmt.Sprintf("the row %s again, which was %s", shorten(repeat.Again.Key), repeat.First))
	}
}

func shownMoreOften(tours []journey, i int, key string) bool {
	here := tours[i].Keys()[key]
	less := func(others []journey) bool {
		return len(others) == 0 || slices.ContainsFunc(others, func(other journey) bool { return other.Keys()[key] < here })
	}
	return less(tours[:i]) && less(tours[i+1:])
}

func (c *check) complete(requirement string, j journey, missing []paging.Row) {
	c.assess(requirement, j.list.op.ID)
	for _, row := range missing {
		c.violate(requirement, j.at(0), "/items", "the row "+shorten(row.Key)+" somewhere in the walk, as in walks before and after it",
			fmt.Sprintf("%d rows on %d pages without it", len(j.Rows()), len(j.Pages)))
	}
}

func (c *check) sameOrder(requirement string, first, second journey) {
	c.assess(requirement, second.list.op.ID)
	if swap, differ := paging.Disorder(first.Walk, second.Walk); differ {
		c.violate(requirement, second.at(swap.Actual.Page), pointerIn(swap.Actual.Item),
			"the row "+shorten(swap.Want)+", as with another page size", shorten(swap.Actual.Key))
	}
}

// shorten keeps what recognises a row short enough to read.
func shorten(key string) string {
	const most = 80
	if len(key) <= most {
		return key
	}
	return strings.ToValidUTF8(key[:most], "") + "…"
}
