package suites

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// maxLimit is the highest limit (section Limits).
const maxLimit = 100

// pagesOf asks for pages of one size; pagesOf(0) sends no limit.
func pagesOf(limit int) paging.Sizes { return paging.Fixed(limit) }

// fetch reads the page of a list behind a cursor, by send: valid, or one that
// charges a refusal otherwise. pages collects the answers, so that a violation
// can show the request that it came from. An answer that is no page ends the
// walk with the input that is missing.
func (c *check) fetch(list call, send func(...call) []answer, pages *[]answer) paging.Fetch {
	parameter := c.cursorParameter(list.op)
	return func(_ context.Context, cursor string, limit int) (paging.Page, error) {
		k := list
		if limit > 0 {
			k = k.with("limit", strconv.Itoa(limit))
		}
		if cursor != "" {
			k = k.with(parameter, cursor)
		}
		a := send(k)[0]
		*pages = append(*pages, a)
		if !a.ok() {
			return paging.Page{}, errors.New(a.lacks()) // which the rules have charged
		}
		page := paging.Page{Limit: limit, Cursor: a.cursor()}
		for _, row := range a.Rows {
			page.Rows = append(page.Rows, paging.Row{Key: keyOf(row), Value: row})
		}
		return page, nil
	}
}

// cursorParameter is the query parameter that takes the cursor.
func (c *check) cursorParameter(op spec.Operation) string {
	if op.ID == spec.ListLeadLabels || op.ID == spec.ListLeadLists {
		return c.parameter(op, "starting_after")
	}
	return "starting_after"
}

// keyOf recognises a row: by its id, or by all it says where it shows none.
func keyOf(row map[string]any) string {
	if id, ok := row["id"].(string); ok {
		return foldID(id)
	}
	encoded, err := json.Marshal(row) // sorts the members
	if err != nil {
		panic(fmt.Sprintf("suites: a decoded row cannot be written: %v", err))
	}
	return string(encoded)
}

// journey is a walk with the answers it was made of.
type journey struct {
	paging.Walk
	answers []answer
	list    call
}

// at returns the answer that showed the page.
func (j journey) at(page int) answer { return j.answers[page] }

// last returns the walk's last answer.
func (j journey) last() answer { return j.answers[len(j.answers)-1] }

// tour walks a list, however it ends.
func (c *check) tour(list call, sizes paging.Sizes) journey {
	j := journey{list: list}
	j.Walk = paging.Run(c.ctx, c.fetch(list, c.valid, &j.answers), sizes, c.maxPages())
	return j
}

// walk walks a list to its end; one that cannot be read whole ends the spec.
func (c *check) walk(list call, sizes paging.Sizes) journey {
	j := c.tour(list, sizes)
	switch j.End {
	case paging.Done:
		return j
	case paging.Broken:
		c.lack("%s from %s", j.Err, list.op.ID)
	case paging.Capped:
		c.lack("a list of %s that ends within %d pages", list.op.ID, c.maxPages())
	default:
		c.lack("a walk of %s that ends (%s)", list.op.ID, j.End)
	}
	panic("unreachable")
}

// pointerIn is the JSON pointer to an item of a page.
func pointerIn(item int) string { return "/items/" + strconv.Itoa(item) }

// missingBetween returns the rows that a walk before and one after both show
// and the one between them does not.
func missingBetween(before, between, after journey) []paging.Row {
	return paging.Missing([]paging.Walk{before.Walk, between.Walk, after.Walk}, 1)
}

// sample returns up to n keys of a list's rows, spread over it.
func sample(rows map[string]map[string]any, n int) []string {
	keys := slices.Sorted(maps.Keys(rows))
	if len(keys) <= n {
		return keys
	}
	picked := make([]string, n)
	for i := range picked {
		picked[i] = keys[i*len(keys)/n]
	}
	return picked
}
