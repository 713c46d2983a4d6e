package traffic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// walk is a chain of pages, each with the cursor of the one before.
type walk struct {
	api.Walk
	pages []*exchange
	view  string // the list as the keys of one workspace see it; "" if the recording does not tell
	whole bool   // from the first page to the last one

	otherKey         bool // than that of the whole walks around it
	created, deleted bool // rows were while it was under way
}

func (w walk) first() *exchange           { return w.pages[0] }
func (w walk) began() time.Time           { return w.first().Sent }
func (w walk) ended() time.Time           { return w.pages[len(w.pages)-1].ended }
func (w walk) filters() map[string]string { return w.first().filters }

// query returns what tells the rows of the walk from those of others.
func (w walk) query() string { return fmt.Sprint(w.view, w.filters()) }

// shows reports whether the walk shows the row.
func (w walk) shows(key string) bool { return w.Keys()[key] > 0 }

// viewOf returns the list as the key sees it; "" if the recording does not tell whose it is. Without
// keys, the rows do.
func viewOf(x *exchange) string {
	workspace := ""
	switch {
	case x.key != nil && x.key.known:
		workspace = "role " + x.key.Workspace
	case x.key != nil:
		workspace = "key " + x.key.Token
	case len(x.op().Owner) == 1:
		for i, row := range x.rows {
			owner, _ := row.Value[x.op().Owner[0]].(string)
			if i > 0 && owner != workspace {
				return ""
			}
			workspace = owner
		}
	}
	if workspace == "" {
		return ""
	}
	return x.host + " " + x.op().ID + " " + workspace
}

// walks returns the walks of the segment, in the order in which they began. Several pages may follow
// one.
func (j *Judge) walks() (all []walk) {
	var pages []*exchange
	byCursor := map[string][]*exchange{}
	for _, x := range j.segment {
		if x.op().Answer == spec.One || !x.OK() || x.vague || len(x.violations) > 0 {
			continue
		}
		query := fmt.Sprintf("%s %s %p %v ", x.host, x.op().ID, x.key, x.filters)
		for _, before := range slices.Backward(byCursor[query+x.cursor]) {
			if !before.ended.After(x.Sent.Add(time.Millisecond)) { // many programs write whole milliseconds
				x.before, before.followed = before, true
				break
			}
		}
		if next := x.Cursor(); next != "" {
			byCursor[query+next] = append(byCursor[query+next], x)
		}
		pages = append(pages, x)
	}
	for _, x := range pages {
		if !x.followed {
			all = append(all, walkTo(x))
		}
	}
	slices.SortStableFunc(all, func(a, b walk) int { return a.began().Compare(b.began()) })
	return all
}

// walkTo returns the walk that ends with the page. paging.Run says how it ends.
func walkTo(x *exchange) (w walk) {
	for ; x != nil; x = x.before {
		w.pages = append(w.pages, x)
	}
	slices.Reverse(w.pages)
	w.List, w.view = w.first().Call, viewOf(w.first())
	for _, x := range w.pages {
		w.Responses = append(w.Responses, x.Response)
		if viewOf(x) != w.view {
			w.view = ""
		}
	}
	at := 0
	w.Walk.Walk = paging.Run(context.Background(), func(context.Context, string, int) (paging.Page, error) {
		if at == len(w.pages) {
			return paging.Page{}, errors.New("the recording ends")
		}
		at++
		return w.pages[at-1].page().Pages[0], nil
	}, paging.Fixed(0), len(w.pages)+1)
	w.whole = w.Complete() && w.first().cursor == ""
	return w
}

// judgeWalks compares each walk with those around it.
func (j *Judge) judgeWalks(walks []walk, rows histories) {
	whole := map[string][]walk{} // that show all rows, by their views
	alike := map[string][]walk{} // whole walks, by their queries
	for _, w := range walks {
		if !w.whole || w.view == "" {
			continue
		}
		alike[w.query()] = append(alike[w.query()], w)
		if k := w.first().key; len(w.filters()) == 0 && (k == nil || !k.known || slices.Contains(k.Scopes, "all:all")) {
			whole[w.view] = append(whole[w.view], w)
		}
	}
	for _, w := range walks {
		j.judgeWalk(w, whole[w.view], alike[w.query()], rows)
	}
	for _, view := range slices.Sorted(maps.Keys(whole)) {
		if all := whole[view]; all[0].List.Operation.ID == spec.ListWebhookEvents {
			j.judgeDeliveries(all)
		}
	}
}

// around returns the list that is sure to exist while the walk is under way: the rows that the last of
// the others before it and the first one after it show alike, and that nobody seems to create or delete.
// It also returns the walk before.
func (j *Judge) around(w walk, others []walk, rows histories) (oracle.List, walk) {
	var before, after walk
	for _, other := range others {
		switch {
		case !other.ended().After(w.began()) && (before.pages == nil || other.ended().After(before.ended())):
			before = other
		case !other.began().Before(w.ended()) && after.pages == nil:
			after = other
		}
	}
	if before.pages == nil || after.pages == nil || w.first().cursor != "" {
		return oracle.List{Operation: w.List.Operation}, walk{}
	}
	list := oracle.Between(w.List.Operation, before.Rows(), after.Rows())
	list.Rows = slices.DeleteFunc(list.Rows, func(row paging.Row) bool { return rows.concern(row, w, j.profile.Visibility()) })
	return list, before
}

// judgeWalk compares a walk with what the whole list says of its query.
func (j *Judge) judgeWalk(w walk, whole, alike []walk, rows histories) {
	op, ends := w.List.Operation, spec.PageWalkEnds
	list, before := j.around(w, whole, rows)
	w.created, w.deleted = rows.changing(w)
	w.otherKey = before.pages != nil && before.first().key != w.first().key && len(w.filters()) == 0
	found := list.Compare(oracle.Query{Parameters: w.filters(), Pages: len(w.pages)}, w.shown(before), w.whole)
	for _, m := range found.Mismatches {
		j.charge(w.breaks(m, list, alike), op.ID, w.pages[m.Page], m.Pointer, m.Expected, m.Actual)
	}
	for id, times := range found.Assessed {
		j.counts(w.renamed(id), op.ID, times)
	}
	for _, id := range w.assesses() {
		j.counts(id, op.ID, min(1, len(w.Rows())))
	}
	if len(w.filters()) > 0 {
		ends = spec.FilterWalk
		j.judgeQuery(w, alike, rows)
	}
	if op.Answer == spec.Page && w.End != paging.Broken {
		j.enterVerdict(ends, op.ID, verdictOf(api.End(), w.Walk))
	}
}

// shown returns the pages for a comparison with a walk before. Values that break a rule on shapes are
// not compared.
func (w walk) shown(before walk) []oracle.Page {
	doubt := slices.ContainsFunc(before.pages, func(x *exchange) bool { return x.doubt })
	pages := make([]oracle.Page, len(w.pages))
	for i, page := range w.Pages {
		pages[i] = oracle.Page{Page: page, Doubt: doubt || w.pages[i].doubt}
	}
	return pages
}

// breaks returns the requirement that a mismatch breaks; "" for none. What only some pages or page sizes
// show breaks that on walks.
func (w walk) breaks(m oracle.Mismatch, list oracle.List, alike []walk) spec.ID {
	used, field := w.used(), m.Pointer[strings.LastIndex(m.Pointer, "/")+1:]
	switch {
	case m.Requirement == spec.PageLimitHonoured: // judgePage judges it
		return ""
	case m.Requirement == spec.ListSameValues && slices.Contains(api.ChangesByItself, field), w.selects(m):
		return ""
	case m.Missing != "" && len(used) > 0 && slices.ContainsFunc(alike, func(other walk) bool { return other.shows(m.Missing) }):
		return spec.FilterWalk
	case m.Missing != "" && len(used) == 1:
		row := list.Rows[slices.IndexFunc(list.Rows, func(row paging.Row) bool { return row.Key == m.Missing })]
		if says, in := used[0].By(w.filters()[used[0].Key]).Says(row); in {
			return says
		}
	case strings.HasSuffix(string(m.Requirement), "-EXTRA") && m.Page > 0 && len(w.filters()) == 1:
		return spec.FilterWalk
	}
	return w.renamed(m.Requirement)
}

// renamed returns the requirement on a walk by another key, or while rows come or go.
func (w walk) renamed(id spec.ID) spec.ID {
	switch {
	case w.otherKey && (id == spec.PageWalkComplete || id == spec.ListSameValues):
		return spec.ScopeSameRows
	case id != spec.PageWalkComplete && id != spec.PageWalkOnce || w.created == w.deleted || len(w.pages) == 1:
		return id
	case w.created:
		return spec.PageInsert
	}
	return spec.PageRemove
}

// sorted returns the requirement on the order of rows that the query asks for, or else the other one.
func (w walk) sorted(other spec.ID) spec.ID {
	switch w.filters()[profile.ParamSortOrder] {
	case "asc":
		return spec.SortAsc
	case "desc":
		return spec.SortDesc
	}
	return other
}

// judgeQuery compares a walk with others of its query: they show the same rows, whatever the size of the
// pages.
func (j *Judge) judgeQuery(w walk, alike []walk, rows histories) {
	list, _ := j.around(w, alike, rows)
	for _, m := range list.Compare(oracle.Query{Pages: len(w.pages)}, w.shown(walk{}), w.whole).Mismatches {
		if m.Missing != "" && w.whole {
			j.charge(w.sorted(spec.FilterWalk), w.List.Operation.ID, w.first(), m.Pointer, m.Expected, m.Actual)
		}
	}
}

// used returns the filters of the query that leave out rows.
func (w walk) used() []oracle.Filter {
	return slices.DeleteFunc(slices.Clone(oracle.Filters(w.List.Operation.ID)), func(f oracle.Filter) bool {
		value := w.filters()[f.Key]
		return value == "" || f.IsWindow() && (strings.HasPrefix(value, "1970") || strings.HasPrefix(value, "2100"))
	})
}

// selects reports whether the query selects the row of the mismatch after all: in another letter case
// of an id, or another notation of a number.
func (w walk) selects(m oracle.Mismatch) bool {
	at, err := strconv.Atoi(m.Pointer[strings.LastIndex(m.Pointer, "/")+1:])
	return err == nil && slices.ContainsFunc(w.used(), func(f oracle.Filter) bool {
		asked, value := w.filters()[f.Key], oracle.Scalar(w.pages[m.Page].rows[at].Value[f.Fields[0]])
		return f.Extra() == m.Requirement && (f.ByID() || f.Values != nil) && strings.Contains(strings.ToLower(asked), strings.ToLower(value))
	})
}

// assesses returns what the walk puts to the test by itself, beside what a comparison counts.
func (w walk) assesses() (ids []spec.ID) {
	for _, f := range w.used() {
		ids = append(ids, f.Extra())
	}
	for _, part := range oracle.Parts(w.List.Operation.ID) {
		if w.filters()[part.Key] == "true" {
			ids = append(ids, part.Requirement("TRUE"))
		}
	}
	if len(w.Rows()) > 1 {
		ids = append(ids, w.sorted(spec.PageOrder))
	}
	if len(w.pages) > 1 && len(w.filters()) == 0 {
		ids = append(ids, spec.PageWalkOnce)
	}
	return ids
}
