package suites

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// A probe is one use of a filter: what is sent, and what the specification
// says of each row of the unfiltered list.
type probe struct {
	query map[string]string // meaning of the parameter → value
	// says tells which requirement speaks of the row, and whether the row must
	// be in the filtered list (or out of it); "" where nothing is said.
	says func(row map[string]any) (requirement string, in bool)
}

// filter is one filter of one list.
type filter struct {
	op           string
	title        string
	requirements []string
	probes       func(rows []map[string]any) []probe // made from an unfiltered walk
}

// handful bounds how many values of a filter are tried.
const handful = 4

// filters compares every filter with unfiltered walks.
func filters() []Spec {
	var specs []Spec
	for _, f := range filterTable() {
		op := spec.MustOperation(f.op)
		specs = append(specs, Spec{op.ID, f.title, on(op, f.requirements...), func(c *check) { c.compare(op, f) }})
	}
	for _, op := range bound("FILTER-WALK") {
		specs = append(specs, Spec{op.ID, "pages through filtered rows as through all", on(op, "FILTER-WALK"), func(c *check) { c.walkFiltered(op) }})
	}
	return specs
}

// compare walks the list without the filter, with it, and without it again:
// only rows that both unfiltered walks show alike are expected or ruled out.
func (c *check) compare(op spec.Operation, f filter) {
	list := c.as(dataset.Main, op)
	before := c.walk(list, pagesOf(maxLimit))
	probes := f.probes(valuesOf(before.Rows()))
	if len(probes) == 0 {
		c.lack("rows of %s with values to filter by", op.ID)
	}
	filtered := make([]journey, len(probes))
	var work []func()
	for i, p := range probes {
		k := c.filtered(list, p)
		work = append(work, func() { filtered[i] = c.walk(k, pagesOf(maxLimit)) })
	}
	c.together(work...)
	after := c.walk(list, pagesOf(maxLimit))

	for i, p := range probes {
		c.judgeProbe(op, p, before, filtered[i], after)
	}
	for _, r := range f.requirements {
		if !c.judged[c.own(r, op.ID)] {
			c.missing(r, op.ID, "rows of %s that differ in what the filter selects", op.ID)
		}
	}
}

// filtered adds the probe's parameters to the list's call.
func (c *check) filtered(list call, p probe) call {
	for _, meaning := range slices.Sorted(maps.Keys(p.query)) {
		list = list.with(c.parameter(list.op, meaning), p.query[meaning])
	}
	return list
}

func (c *check) judgeProbe(op spec.Operation, p probe, before, filtered, after journey) {
	shown := filtered.Keys()
	later := byKey(after)
	for _, row := range before.Rows() {
		requirement, in := p.says(row.Value)
		again, still := later[row.Key]
		if requirement == "" || !still {
			continue
		}
		if r, sameIn := p.says(again); r != requirement || sameIn != in {
			continue // the row has changed meanwhile
		}
		c.assess(requirement, op.ID)
		if in && shown[row.Key] == 0 {
			c.violate(requirement, filtered.at(0), "/items", "the row "+shorten(row.Key)+", which the unfiltered list shows",
				fmt.Sprintf("%d rows without it", len(filtered.Rows())))
		}
	}
	filtered.strangers(p, func(requirement string, page, item int, row paging.Row) {
		c.violate(requirement, filtered.at(page), pointerIn(item), "no row that the filter leaves out", shorten(describe(row.Value)))
	})
}

// strangers visits the rows that the probe's filter leaves out, with the
// requirement that says so.
func (j journey) strangers(p probe, visit func(requirement string, page, item int, row paging.Row)) {
	for i, page := range j.Pages {
		for k, row := range page.Rows {
			if requirement, in := p.says(row.Value); requirement != "" && !in {
				visit(requirement, i, k, row)
			}
		}
	}
}

// walkFiltered judges FILTER-WALK with the first probe that selects several rows.
func (c *check) walkFiltered(op spec.Operation) {
	list := c.as(dataset.Main, op)
	rows := valuesOf(c.walk(list, pagesOf(maxLimit)).Rows())
	for _, f := range filterTable() {
		if f.op != op.ID {
			continue
		}
		for _, p := range f.probes(rows) {
			k, ok := c.knownFilter(list, p)
			if !ok {
				continue
			}
			tours := []journey{c.tour(k, pagesOf(maxLimit))}
			if len(tours[0].Rows()) < 5 {
				continue
			}
			tours = append(tours, c.tour(k, pagesOf(3)), c.tour(k, paging.Cycle(1, 2, 7)), c.tour(k, pagesOf(maxLimit)))
			c.sameFiltered(op, p, tours)
			return
		}
	}
	c.lack("a filter of %s that selects five rows or more", op.ID)
}

// knownFilter is filtered for probes whose parameter names may be unknown.
func (c *check) knownFilter(list call, p probe) (call, bool) {
	for meaning := range p.query {
		if _, ok := c.Profile.Parameter(list.op.ID, meaning); !ok {
			return call{}, false
		}
	}
	return c.filtered(list, p), true
}

func (c *check) sameFiltered(op spec.Operation, p probe, tours []journey) {
	const requirement = "FILTER-WALK"
	walks := make([]paging.Walk, len(tours))
	for i, j := range tours {
		switch j.End {
		case paging.Done:
		case paging.Broken:
			c.missing(requirement, op.ID, "%s", j.Err)
			return
		case paging.Capped:
			c.missing(requirement, op.ID, "a list that ends within %d pages", c.maxPages())
			return
		default:
			c.violate(requirement, j.last(), "/next_starting_after", "a walk that ends", string(j.End))
			return
		}
		walks[i] = j.Walk
	}
	for i, j := range tours {
		c.once(requirement, tours, i)
		c.complete(requirement, j, paging.Missing(walks, i))
		c.sameOrder(requirement, tours[0], j)
		j.strangers(p, func(_ string, page, item int, row paging.Row) {
			c.violate(requirement, j.at(page), pointerIn(item), "no row that the filter leaves out, whatever the page size", shorten(describe(row.Value)))
		})
	}
}

// reportFilters judges the two flags that leave out parts of a report.
func reportFilters() []Spec {
	op := spec.MustOperation(spec.ListPlacementReports)
	var specs []Spec
	for _, part := range []struct{ id, meaning, field string }{
		{"SPAM_ASSASSIN", "skip_spam_assassin", "spam_assassin_report"},
		{"BLACKLIST", "skip_blacklist", "blacklist_report"},
	} {
		skips, keeps := "FILTER-SKIP_"+part.id+"-TRUE", "FILTER-SKIP_"+part.id+"-DEFAULT"
		specs = append(specs, Spec{op.ID, "leaves out " + part.field + " when asked, and only then", on(op, skips, keeps), func(c *check) {
			list := c.as(dataset.Main, op)
			name := c.parameter(op, part.meaning)
			plain := c.walk(list, pagesOf(maxLimit))
			skipped := c.walk(list.with(name, "true"), pagesOf(maxLimit))
			kept := c.walk(list.with(name, "false"), pagesOf(maxLimit))
			again := c.walk(list, pagesOf(maxLimit))
			c.skipTrue(skips, part.field, plain, skipped, again)
			c.skipFalse(keeps, part.field, plain, kept, again)
		}})
	}
	return specs
}

// skipTrue: the part is gone from every row, and nothing else is gone.
func (c *check) skipTrue(requirement, field string, plain, skipped, again journey) {
	op := plain.list.op.ID
	if !slices.ContainsFunc(plain.Rows(), func(r paging.Row) bool { return r.Value[field] != nil }) {
		c.missing(requirement, op, "a report that shows %s without the flag", field)
		return
	}
	c.complete(requirement, skipped, missingBetween(plain, skipped, again))
	before, after := byKey(plain), byKey(again)
	for i, page := range skipped.Pages {
		for j, row := range page.Rows {
			if row.Value[field] != nil {
				c.violate(requirement, skipped.at(i), pointerIn(j)+"/"+field, "absent or null", shorten(describe(row.Value[field])))
			}
			for other := range before[row.Key] {
				if other != field && before[row.Key][other] != nil && after[row.Key][other] != nil && row.Value[other] == nil {
					c.violate(requirement, skipped.at(i), pointerIn(j)+"/"+other, "shown, as without the flag", "absent or null")
				}
			}
		}
	}
}

// skipFalse: a row shows the part without the flag just as with false, and none
// is gone.
func (c *check) skipFalse(requirement, field string, plain, kept, again journey) {
	op := plain.list.op.ID
	withFalse := byKey(kept)
	if gone := missingBetween(plain, kept, again); len(gone) > 0 {
		c.complete(requirement, kept, gone)
	}
	for i, page := range plain.Pages {
		for j, row := range page.Rows {
			other, ok := withFalse[row.Key]
			if !ok || other[field] == nil && row.Value[field] == nil {
				continue
			}
			c.assess(requirement, op)
			if (row.Value[field] == nil) != (other[field] == nil) {
				c.violate(requirement, plain.at(i), pointerIn(j)+"/"+field, "shown without the flag just as with false",
					fmt.Sprintf("without: %t, with false: %t", row.Value[field] != nil, other[field] != nil))
			}
		}
	}
	if !c.judged[c.own(requirement, op)] {
		c.missing(requirement, op, "a report that shows %s", field)
	}
}

func byKey(j journey) map[string]map[string]any {
	rows := map[string]map[string]any{}
	for _, row := range j.Rows() {
		rows[row.Key] = row.Value
	}
	return rows
}

func valuesOf(rows []paging.Row) []map[string]any {
	values := make([]map[string]any, len(rows))
	for i, row := range rows {
		values[i] = row.Value
	}
	return values
}

// containsWord reports whether any word of the term occurs in any text of the row.
func containsWord(row map[string]any, term string) bool {
	text := strings.ToLower(strings.Join(texts(row), "\n"))
	return slices.ContainsFunc(strings.Fields(strings.ToLower(term)), func(word string) bool { return strings.Contains(text, word) })
}

// texts returns every string in a JSON value.
func texts(value any) []string {
	switch value := value.(type) {
	case string:
		return []string{value}
	case map[string]any:
		var all []string
		for _, v := range value {
			all = append(all, texts(v)...)
		}
		return all
	case []any:
		var all []string
		for _, v := range value {
			all = append(all, texts(v)...)
		}
		return all
	}
	return nil
}
