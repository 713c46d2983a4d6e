package traffic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/match"
)

// interned shares the values of rows that are alike: pages show most rows many times.
type interned struct {
	last   map[string]map[string]any // by the key of the row
	memory int
}

func (in *interned) forget() { *in = interned{last: map[string]map[string]any{}} }

func (in *interned) intern(resource string, values []map[string]any) []paging.Row {
	rows := make([]paging.Row, len(values))
	for i, value := range values {
		rows[i] = paging.RowOf(resource, value)
		key := resource + rows[i].Key
		if last, ok := in.last[key]; ok && reflect.DeepEqual(last, value) {
			rows[i].Value = last
			continue
		}
		in.last[key] = value
		in.memory += schemas.Memory(value)
	}
	return rows
}

// view is a list as the keys of one workspace see it.
type view struct{ host, list, workspace string }

// viewOf returns the view that a page shows; false if the recording does not tell whose it is.
// Without keys, the rows do.
func (j *Judge) viewOf(x *exchange) (v view, ok bool) {
	v = view{host: x.host, list: x.op().ID}
	switch {
	case x.key == nil:
		v.workspace = ownerOf(x)
	case x.key.known:
		v.workspace = "role " + x.key.Workspace
	default:
		v.workspace = "key " + x.key.Token
	}
	return v, v.workspace != ""
}

// ownerOf returns the workspace that all rows of a page name; "" if they name none.
func ownerOf(x *exchange) (owner string) {
	if len(x.op().Owner) != 1 {
		return ""
	}
	for _, row := range x.rows {
		text, _ := row.Value[x.op().Owner[0]].(string)
		if text == "" || owner != "" && owner != text {
			return ""
		}
		owner = text
	}
	return owner
}

// walk is a chain of pages, each with the cursor of the one before.
type walk struct {
	api.Walk
	pages []*exchange
	view  view
	known bool // whose view it is
	whole bool // from the first page to the last one
}

func (w walk) first() *exchange { return w.pages[0] }
func (w walk) began() time.Time { return w.pages[0].Sent }
func (w walk) ended() time.Time { return w.pages[len(w.pages)-1].ended }

// filters returns the parameters that select or change rows.
func (w walk) filters() map[string]string { return w.first().filters }

// query returns what tells the rows of the walk from those of others.
func (w walk) query() string { return fmt.Sprint(w.view, w.filters()) }

// node is a page in the tree of walks: several pages may follow one.
type node struct {
	*exchange
	before   *node
	followed bool
}

// walks returns the walks of the segment, in the order in which they began.
func (j *Judge) walks() (all []walk) {
	var nodes []*node
	byCursor := map[string][]*node{}
	for _, x := range j.segment {
		blank := slices.ContainsFunc(slices.Collect(maps.Values(x.filters)), func(value string) bool { return strings.TrimSpace(value) == "" })
		if x.op().Answer == spec.One || !x.OK() || x.unnamed || blank || len(x.violations) > 0 { // what it asks for is open
			continue
		}
		n := &node{exchange: x}
		of := fmt.Sprintf("%s %s %p %v\n", x.host, x.op().ID, x.key, x.filters)
		if x.cursor != "" {
			for _, before := range slices.Backward(byCursor[of+x.cursor]) {
				if !before.ended.After(x.Sent.Add(time.Millisecond)) { // many programs write whole milliseconds
					n.before, before.followed = before, true
					break
				}
			}
		}
		if next := x.Cursor(); next != "" {
			byCursor[of+next] = append(byCursor[of+next], n)
		}
		nodes = append(nodes, n)
	}
	for _, n := range nodes {
		if !n.followed {
			all = append(all, j.walkTo(n))
		}
	}
	slices.SortStableFunc(all, func(a, b walk) int { return a.began().Compare(b.began()) })
	return all
}

// walkTo returns the walk that ends with the page. paging.Run says how it ends.
func (j *Judge) walkTo(n *node) (w walk) {
	for ; n != nil; n = n.before {
		w.pages = append(w.pages, n.exchange)
	}
	slices.Reverse(w.pages)
	w.List, w.known = w.first().Call, true
	for i, x := range w.pages {
		w.Responses = append(w.Responses, x.Response)
		v, ok := j.viewOf(x)
		w.known = w.known && ok && (i == 0 || v == w.view)
		w.view = v
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

// together judges what the exchanges of the segment show together.
func (j *Judge) together() {
	walks := j.walks()
	changes := j.changes()
	whole := map[view][]walk{}   // that show all rows
	alike := map[string][]walk{} // whole walks of one query
	for _, w := range walks {
		if w.whole {
			alike[w.query()] = append(alike[w.query()], w)
		}
		if w.whole && w.known && len(w.filters()) == 0 && (w.first().key == nil || !w.first().key.known || slices.Contains(w.first().key.Scopes, "all:all")) {
			whole[w.view] = append(whole[w.view], w)
		}
	}
	for _, w := range walks {
		j.judgeWalk(w, whole[w.view], alike[w.query()], changes)
	}
	for v, all := range whole {
		if v.list == spec.ListWebhookEvents {
			j.judgeDeliveries(all)
		}
	}
	j.judgeRows(walks, changes)
}

// around returns the last walk that ended before the walk began, and the first that began after
// it ended; false if there is none.
func around(w walk, whole []walk) (before, after walk, ok bool) {
	for _, other := range whole {
		switch {
		case !other.ended().After(w.began()) && (before.pages == nil || other.ended().After(before.ended())):
			before = other
		case !other.began().Before(w.ended()) && (after.pages == nil || other.began().Before(after.began())):
			after = other
		}
	}
	return before, after, before.pages != nil && after.pages != nil
}

// judgeWalk compares a walk with the walks around it, and its pages with each other.
func (j *Judge) judgeWalk(w walk, whole, alike []walk, changes changes) {
	op := w.List.Operation
	list, before := oracle.List{Operation: op}, walk{}
	if one, two, ok := around(w, whole); ok && w.known && w.first().cursor == "" {
		list, before = oracle.Between(op, one.Rows(), two.Rows()), one
		list.Rows = slices.DeleteFunc(list.Rows, func(row paging.Row) bool { return changes.concern(row, w, j.profile.Visibility()) })
	}
	query := oracle.Query{Parameters: w.filters(), Pages: len(w.pages)}
	pages := make([]oracle.Page, len(w.Pages))
	for i, page := range w.Pages {
		pages[i] = oracle.Page{Page: page, Doubt: w.pages[i].doubt || before.doubtful()}
	}
	if before.pages != nil && len(w.filters()) == 0 && before.first().key != w.first().key {
		j.sameRows(w, list)
	}
	found := list.Compare(query, pages, w.whole)
	bad := map[spec.ID]bool{}
	for _, m := range found.Mismatches {
		id := w.charged(w.refined(m, list, alike), before, changes)
		if field := m.Pointer[strings.LastIndex(m.Pointer, "/")+1:]; id == "" || m.Requirement == spec.ListSameValues && slices.Contains(match.ChangesByItself, field) ||
			m.Requirement == spec.PageLimitHonoured || w.selects(m) {
			continue
		}
		bad[id], bad[m.Requirement] = true, true
		j.charge(id, op.ID, w.pages[m.Page], m.Pointer, m.Expected, m.Actual)
	}
	for id, times := range found.Assessed {
		if !bad[id] {
			j.counts(w.charged(id, before, changes), op.ID, times)
		}
	}
	ends := spec.PageWalkEnds
	if len(w.filters()) > 0 {
		ends = spec.FilterWalk
		j.sameQuery(w, alike, changes)
	}
	if op.Answer == spec.Page && w.End != paging.Broken {
		j.verdict(ends, op.ID, judged(match.End(0), w.Walk))
	}
	for _, id := range w.held() {
		if !bad[id] && len(w.Rows()) > 0 {
			j.counts(id, op.ID, 1)
		}
	}
}

func (w walk) doubtful() bool {
	return slices.ContainsFunc(w.pages, func(x *exchange) bool { return x.doubt })
}

// selects reports whether the query selects the row of the mismatch after all: in another letter case
// of an id, or another notation of a number.
func (w walk) selects(m oracle.Mismatch) bool {
	at, err := strconv.Atoi(m.Pointer[strings.LastIndex(m.Pointer, "/")+1:])
	return err == nil && slices.ContainsFunc(oracle.Filters(w.List.Operation.ID), func(f oracle.Filter) bool {
		value := plain(oracle.Scalar(w.pages[m.Page].rows[at].Value[f.Fields[0]]))
		return f.Extra() == m.Requirement && f.Kind != spec.Exclude && slices.ContainsFunc(strings.Split(w.filters()[f.Key], ","), func(given string) bool { return plain(given) == value })
	})
}

// plain returns an id in lower case, and a number in one notation.
func plain(value string) string {
	if number, err := strconv.ParseFloat(value, 64); err == nil {
		return fmt.Sprint(number)
	}
	return paging.FoldID(value)
}

// refined returns the requirement that a mismatch breaks, if one filter of the query explains it. What
// only some pages or page sizes show breaks that on walks.
func (w walk) refined(m oracle.Mismatch, list oracle.List, alike []walk) spec.ID {
	var used []oracle.Filter
	for _, f := range oracle.Filters(w.List.Operation.ID) {
		value := w.filters()[f.Key]
		far := value != "" && f.IsWindow() && (strings.HasPrefix(value, "1970") || strings.HasPrefix(value, "2100"))
		if value != "" && !far {
			used = append(used, f)
		}
	}
	switch {
	case m.Missing != "" && len(used) > 0 && slices.ContainsFunc(alike, func(other walk) bool { return other.shows(m.Missing) }):
		return spec.FilterWalk
	case m.Missing != "" && len(used) == 1:
		row := list.Rows[slices.IndexFunc(list.Rows, func(row paging.Row) bool { return row.Key == m.Missing })]
		if id, in := used[0].By(w.filters()[used[0].Key]).Says(row); in {
			return id
		}
	case strings.HasSuffix(string(m.Requirement), "-EXTRA") && m.Page > 0 && len(w.filters()) == 1:
		return spec.FilterWalk
	}
	return m.Requirement
}

// charged returns the requirement that a mismatch breaks: rows may come and go during the walk, and
// another key may have made the walk before.
func (w walk) charged(id spec.ID, before walk, c changes) spec.ID {
	created, deleted := c.during(w)
	switch {
	case id != spec.PageWalkComplete && id != spec.PageWalkOnce && id != spec.ListSameValues:
	case before.pages != nil && before.first().key != w.first().key && len(w.filters()) == 0 && id != spec.PageWalkOnce:
		return "" // sameRows judges it
	case id == spec.ListSameValues || created == deleted || len(w.pages) == 1:
	case created:
		return spec.PageInsert
	default:
		return spec.PageRemove
	}
	return id
}

// held returns what the walk puts to the test by itself, beside what a comparison counts.
func (w walk) held() (ids []spec.ID) {
	for _, f := range oracle.Filters(w.List.Operation.ID) {
		if w.filters()[f.Key] != "" {
			ids = append(ids, f.Extra())
		}
	}
	for _, part := range oracle.Parts(w.List.Operation.ID) {
		if w.filters()[part.Key] == "true" {
			ids = append(ids, part.Requirement("TRUE"))
		}
	}
	switch order := w.filters()[profile.ParamSortOrder]; {
	case len(w.Rows()) < 2:
	case order == "asc":
		ids = append(ids, spec.SortAsc)
	case order == "desc":
		ids = append(ids, spec.SortDesc)
	default:
		ids = append(ids, spec.PageOrder)
	}
	if len(w.pages) > 1 && len(w.filters()) == 0 {
		ids = append(ids, spec.PageWalkOnce)
	}
	return ids
}

// sameQuery compares a walk with those of the same query around it: whatever the page size, they show
// the same rows.
func (j *Judge) sameQuery(w walk, alike []walk, changes changes) {
	one, two, ok := around(w, alike)
	if !ok || !w.whole || !w.known {
		return
	}
	id, shown := spec.FilterWalk, w.Keys()
	switch w.filters()[profile.ParamSortOrder] {
	case "asc":
		id = spec.SortAsc
	case "desc":
		id = spec.SortDesc
	}
	for _, row := range oracle.Between(w.List.Operation, one.Rows(), two.Rows()).Rows {
		if row.ByID && shown[row.Key] == 0 && !changes.concern(row, w, j.profile.Visibility()) {
			j.charge(id, w.List.Operation.ID, w.first(), "/items", "the row "+row.Key+", as in walks of the same query before and after", fmt.Sprintf("%d rows without it", len(shown)))
		}
	}
}

// sameRows compares a walk with what a full key of the workspace sees before and after it.
func (j *Judge) sameRows(w walk, list oracle.List) {
	op := w.List.Operation
	shown := map[string]sighting{}
	for _, x := range w.pages {
		for i, row := range x.rows {
			shown[row.Key] = sighting{x, i}
		}
	}
	for _, row := range list.Rows {
		s, ok := shown[row.Key]
		switch {
		case !ok && w.whole:
			j.charge(spec.ScopeSameRows, op.ID, w.pages[len(w.pages)-1], "", "the row "+row.Key+", as with the full key", fmt.Sprintf("%d rows without it", len(shown)))
		case ok && row.Same(s.rows[s.item]):
			j.counts(spec.ScopeSameRows, op.ID, 1)
		case ok && !s.doubt && row.ByID:
			j.verdict(spec.ScopeSameRows, op.ID, s.against(row.Value, match.ChangesByItself))
		}
	}
}
