package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// List is a list as walks with the key that sees everything show it.
type List struct {
	Operation spec.Operation
	Rows      []paging.Row
	changed   map[string]bool // keys of rows that changed between the walks
}

// Between returns the list as two walks show it, one before and one after the queries.
// Rows that the walks do not show alike changed meanwhile: no query is held to them.
func Between(list spec.Operation, before, after []paging.Row) List {
	l := List{Operation: list, changed: map[string]bool{}}
	later := map[string]paging.Row{}
	for _, row := range after {
		later[row.Key] = row
	}
	for _, row := range before {
		again, still := later[row.Key]
		if still && (row.Same(again) || len(differing(list.Resource, row.Value, again.Value)) == 0) {
			l.Rows = append(l.Rows, row)
		} else {
			l.changed[row.Key] = true
		}
	}
	earlier := map[string]bool{}
	for _, row := range before {
		earlier[row.Key] = true
	}
	for _, row := range after {
		if !earlier[row.Key] {
			l.changed[row.Key] = true
		}
	}
	return l
}

// Query is one question to a list. The zero value asks for all rows.
type Query struct {
	// Parameters are the values of filters, of flags and of the sort order, by the key
	// of the parameter.
	Parameters map[string]string `json:"parameters,omitempty"`
	Sizes      []int             `json:"limits"` // of the pages in turn; 0 sends no limit
	Pages      int               `json:"pages"`  // at most
}

// maxPages bounds the pages of a query in a file.
const maxPages = 1000

// Check returns an error for a query that cannot be asked.
func (q Query) Check() error {
	if q.Pages < 1 || q.Pages > maxPages {
		return fmt.Errorf("pages: want 1 to %d", maxPages)
	}
	if len(q.Sizes) == 0 {
		return errors.New("limits: want at least one (0 sends no limit)")
	}
	for _, size := range q.Sizes {
		if size < 0 || size > spec.MaxLimit {
			return fmt.Errorf("limits: want 0 to %d, got %d", spec.MaxLimit, size)
		}
	}
	return nil
}

// Page is one page that a target showed to a query.
type Page struct {
	paging.Page
	// Doubt means that the page breaks a rule on shapes: its values are not compared.
	Doubt bool
}

// Mismatch is a difference between a page and what the list predicts.
type Mismatch struct {
	Requirement spec.ID
	Page        int    // counts from 0
	Pointer     string // JSON pointer into the page
	Expected    string
	Actual      string
	Missing     string // key of the row that must be shown and is not; "" for another difference
}

// Comparison is what came of comparing a walk with a list.
type Comparison struct {
	Mismatches []Mismatch
	Assessed   map[spec.ID]int // how often each requirement was put to the test
	// Unlisted are the keys of rows that the pages show and the list does not. Rows that
	// are newer than the list are left out.
	Unlisted []string
}

// Requirements returns the requirements that only Compare judges. It may find violations
// of those on pages, orders and single filters, too.
func Requirements(list string) []spec.ID {
	ids := []spec.ID{spec.ListSameValues}
	if spec.Has(spec.FilterCombined.On(list)) {
		ids = append(ids, spec.FilterCombined)
	}
	return ids
}

// Compare compares the pages that a target showed to the query with what the list
// predicts. complete says that they are the whole walk.
func (l List) Compare(q Query, pages []Page, complete bool) Comparison {
	c := comparison{List: l, query: q, parameters: slices.Sorted(maps.Keys(q.Parameters)), pages: pages,
		known: make(map[string]paging.Row, len(l.Rows)), Comparison: Comparison{Assessed: map[spec.ID]int{}}}
	for _, row := range l.Rows {
		c.known[row.Key] = row
		c.newest = max(c.newest, row.Key)
	}
	c.missingID = c.charge()
	c.rows()
	c.order()
	c.missing(complete)
	return c.Comparison
}

// comparison compares one walk.
type comparison struct {
	List
	Comparison
	query      Query
	parameters []string // of the query, sorted
	pages      []Page
	known      map[string]paging.Row
	newest     string       // key of the newest row: ids are time-ordered
	missingID  spec.ID      // that a missing row breaks
	shown      []paging.Row // without repetitions
}

func (c *comparison) find(id spec.ID, page int, pointer, expected, actual string) {
	c.add(Mismatch{Requirement: id, Page: page, Pointer: pointer, Expected: expected, Actual: actual})
}

// add leaves out what no requirement binds. Those on pages and values bind no plain list and no
// single resource: there, the caller says what a mismatch breaks.
func (c *comparison) add(m Mismatch) {
	if c.Operation.Answer != spec.Page || spec.Has(m.Requirement.On(c.Operation.ID)) {
		c.Mismatches = append(c.Mismatches, m)
	}
}

// says returns what the specification says of the row under the query: the requirement
// and whether the row must be shown or not; "" if nothing is said.
func (c *comparison) says(row paging.Row) (requirement spec.ID, in bool) {
	in = true
	for _, parameter := range c.parameters {
		var speaks, selects bool
		for _, f := range Filters(c.Operation.ID) {
			if f.Key != parameter {
				continue
			}
			speaks = true
			id, selected := f.says(c.query.Parameters, row)
			if id != "" && !selected {
				return id, false
			}
			selects = selects || id != ""
		}
		in = in && (selects || !speaks)
	}
	if in {
		return c.missingOf(row), true
	}
	return "", false
}

// missingOf returns the requirement that the row breaks if it is missing. A row on the last
// day of a window tells of that day; one on the only day tells of both ends.
func (c *comparison) missingOf(row paging.Row) spec.ID {
	on := map[spec.ID]bool{}
	for _, f := range Filters(c.Operation.ID) {
		if value := c.query.Parameters[f.Key]; value != "" && !isFar(value) {
			id, _ := f.says(c.query.Parameters, row)
			on[id] = true
		}
	}
	switch first, last := on[spec.FilterDaysStartInclusive], on[spec.FilterDaysEndInclusive]; {
	case first && last:
		return spec.FilterCombined
	case last && c.missingID == spec.FilterDaysStartInclusive, last && c.missingID == spec.FilterDaysStartMissing:
		return spec.FilterDaysEndInclusive
	default:
		return c.missingID
	}
}

// decisive returns the fields that the filters of the query read.
func (c *comparison) decisive() []string {
	var fields []string
	for _, f := range Filters(c.Operation.ID) {
		if _, used := c.query.Parameters[f.Key]; used {
			fields = append(fields, f.field())
		}
	}
	return fields
}

// charge returns the requirement that a missing row breaks: that of the only filter, if
// there is one. Both ends of a window are one filter.
func (c *comparison) charge() spec.ID {
	var used []Filter
	for _, f := range Filters(c.Operation.ID) {
		value, given := c.query.Parameters[f.Key]
		if given && !isFar(value) && !slices.ContainsFunc(used, f.alongside) {
			used = append(used, f)
		}
	}
	switch {
	case len(used) > 1:
		return spec.FilterCombined
	case len(used) == 1:
		return c.missingFor(used[0])
	default:
		return c.walks(spec.PageWalkComplete)
	}
}

// missingFor returns the requirement on the rows that the filter selects: that of the
// other filter of the parameter if this one selects none.
func (c *comparison) missingFor(filter Filter) spec.ID {
	for _, f := range Filters(c.Operation.ID) {
		if f.Key != filter.Key {
			continue
		}
		for _, row := range c.Rows {
			if id, in := f.says(c.query.Parameters, row); id != "" && in {
				return id
			}
		}
	}
	return c.walks(spec.PageWalkComplete)
}

// walks returns the requirement on the walk: plain, or that of sorted or filtered walks.
func (c *comparison) walks(plain spec.ID) spec.ID {
	switch order := c.query.Parameters[profile.ParamSortOrder]; {
	case len(c.query.Parameters) == 0:
		return plain
	case order == "asc":
		return spec.SortAsc
	case order == "desc":
		return spec.SortDesc
	default:
		return spec.FilterWalk
	}
}

// rows compares each row that was shown by itself.
func (c *comparison) rows() {
	seen := map[string]bool{}
	for p, page := range c.pages {
		limit := page.Limit
		if limit == 0 {
			limit = spec.MaxLimit
		}
		if len(page.Rows) > limit {
			c.find(spec.PageLimitHonoured, p, "/items", fmt.Sprintf("at most %d items", limit), fmt.Sprintf("%d items", len(page.Rows)))
		}
		for i, row := range page.Rows {
			if row.ByID && seen[row.Key] {
				c.find(c.walks(spec.PageWalkOnce), p, c.Operation.RowPointer(i), "a row that was not shown yet", "the row "+row.Key+" again")
				continue
			}
			seen[row.Key] = true
			c.shown = append(c.shown, row)
			if !c.changed[row.Key] {
				c.row(p, c.Operation.RowPointer(i), row, page.Doubt)
			}
		}
	}
}

func (c *comparison) row(page int, pointer string, row paging.Row, doubt bool) {
	whole, known := c.known[row.Key]
	if id, in := c.says(row); id != "" && !in {
		c.find(id, page, pointer, "only rows that the query selects: "+shownQuery(c.query.Parameters), part(row.Value, c.decisive()...))
	}
	if !known { // it may have been created and deleted meanwhile
		if !row.ByID || row.Key < c.newest {
			c.Unlisted = append(c.Unlisted, row.Key)
		}
		return
	}
	if doubt {
		return
	}
	c.Assessed[spec.ListSameValues]++
	apart := c.parts(page, pointer, row.Value, whole.Value)
	if row.Same(whole) {
		return
	}
	for _, field := range differing(c.Operation.Resource, whole.Value, row.Value) {
		switch value, shown := whole.Value[field]; {
		case apart[field]:
		case shown:
			c.find(spec.ListSameValues, page, pointer+"/"+field, "the value that the whole list shows: "+show(value), schemas.Member(row.Value, field, show))
		default:
			c.find(spec.ListSameValues, page, pointer+"/"+field, "absent or null, as in the whole list", schemas.Member(row.Value, field, show))
		}
	}
}

// differing returns the documented fields in which two views of a row differ, sorted. A
// field that is absent is one that is null.
func differing(resource string, before, now map[string]any) []string {
	before, now = spec.Documented(resource, before), spec.Documented(resource, now)
	fields := map[string]bool{}
	for field, value := range before {
		if !schemas.Agree(value, now[field]) {
			fields[field] = true
		}
	}
	for field, value := range now {
		if !schemas.Agree(before[field], value) {
			fields[field] = true
		}
	}
	return slices.Sorted(maps.Keys(fields))
}

// parts compares the parts of the row that flags leave out. It returns the fields whose
// values need no comparison.
func (c *comparison) parts(page int, pointer string, row, whole map[string]any) map[string]bool {
	apart := map[string]bool{}
	for _, part := range Parts(c.Operation.ID) {
		field := part.Fields[0]
		shown := row[field] != nil
		switch {
		case c.query.Parameters[part.Key] == "true":
			apart[field] = true
			if shown {
				c.find(part.Requirement("TRUE"), page, pointer+"/"+field, "absent or null", show(row[field]))
			}
		case shown != (whole[field] != nil):
			apart[field] = true
			c.find(part.Requirement("DEFAULT"), page, pointer+"/"+field, "shown just as without any parameter", schemas.Member(row, field, show))
		}
	}
	return apart
}

// missing finds the rows that must be shown and were not: all that the query selects if
// the walk is complete, otherwise those before the last one that was shown.
func (c *comparison) missing(complete bool) {
	direction := c.direction()
	if len(c.pages) == 0 || !complete && (!c.ordered() || direction == 0 || len(c.shown) == 0) {
		return
	}
	left := map[string]int{}
	for _, page := range c.pages {
		for _, row := range page.Rows {
			left[row.Key]++
		}
	}
	for _, row := range c.Rows {
		id, in := c.says(row)
		if id == "" || !in || !complete && strings.Compare(row.Key, c.shown[len(c.shown)-1].Key) != -direction {
			continue
		}
		c.Assessed[id]++
		if left[row.Key] > 0 {
			if !row.ByID { // rows without an id may be alike
				left[row.Key]--
			}
			continue
		}
		c.add(Mismatch{Requirement: id, Page: len(c.pages) - 1, Pointer: "/items", Missing: row.Key,
			Expected: "the row " + row.Key + ", which the whole list shows", Actual: fmt.Sprintf("%d rows without it", len(c.shown))})
	}
}

// maxShown is how many bytes of a value a mismatch shows.
const maxShown = 160

// show renders a decoded value as JSON, bounded.
func show(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "a value that JSON cannot hold"
	}
	return schemas.Shorten(string(encoded), maxShown)
}
