package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/spec"
)

// depth compares the latency of pages by their place in the list. It first
// walks to the places, then requests all of them in turn at a fixed rate.
func (r *runner) depth() error {
	limit := max(1, r.scenario.PageSizes()[0])
	var places []verdict.Page
	for _, op := range r.mix.Operations() {
		found, err := r.placesOf(op, limit)
		if err != nil {
			return err
		}
		places = append(places, found...)
	}
	if err := r.warmUp(limit); err != nil {
		return err
	}
	c, err := r.count("depth", r.schedule(), func(seq uint64) generate.Request { return r.pageAt(places[seq%uint64(len(places))], limit) })
	r.draft.Depths(places, c)
	r.shallow(places)
	return err
}

// shallow notes the lists without a second page. If no list has one, the
// scenario is inconclusive.
func (r *runner) shallow(places []verdict.Page) {
	deep := map[string]bool{}
	for _, p := range places {
		deep[p.Operation] = deep[p.Operation] || p.Page > 1
	}
	if !slices.Contains(slices.Collect(maps.Values(deep)), true) {
		r.draft.Void("no list has a second page: deep pages were not measured")
		return
	}
	for _, op := range r.mix.Operations() {
		if _, known := r.env.Profile.CursorParameter(op); known && !deep[op.ID] {
			r.draft.Note("%s has no second page to compare", op.ID)
		}
	}
}

// pageAt returns the request for one page.
func (r *runner) pageAt(p verdict.Page, limit int) generate.Request {
	op := spec.MustOperation(p.Operation)
	request, asked := r.subjects.Page(op, p.Cursor, limit)
	return generate.Request{Label: scenario.PageLabel(op.ID, p.Page), Method: op.Method, Path: op.Path + "?" + request.Query.Encode(), Key: request.Key, Asked: asked}
}

// placesOf walks a list as far as the places require, and to its end if that is
// near. limit is the number of rows on a page.
func (r *runner) placesOf(op spec.Operation, limit int) ([]verdict.Page, error) {
	found := []verdict.Page{{Operation: op.ID, Page: 1}}
	if _, known := r.env.Profile.CursorParameter(op); !known {
		r.draft.Note("%s: only the first page is requested, because the profile does not name the parameter starting_after", op.ID)
		return found, nil
	}
	var wanted []int // rows that precede a wanted page
	for _, page := range r.scenario.Pages {
		wanted = append(wanted, (page-1)*limit)
	}
	slices.Sort(wanted)
	rows := 0
	// The next page ends at a wanted place or has the maximum size.
	sizes := func(int) int {
		if i := slices.IndexFunc(wanted, func(w int) bool { return w > rows }); i >= 0 {
			return min(spec.MaxLimit, wanted[i]-rows)
		}
		return spec.MaxLimit
	}
	last := verdict.Page{Operation: op.ID}
	var broken error
	w := paging.Run(r.ctx, func(ctx context.Context, cursor string, size int) (paging.Page, error) {
		page, _, err := r.page(ctx, r.env.Client, op, cursor, size)
		if broken = err; len(page.Rows) == 0 {
			return page, err
		}
		if cursor != "" {
			last.Page, last.Rows, last.Cursor = rows/limit+1, rows, cursor
		}
		rows += len(page.Rows)
		if page.Cursor != "" && slices.Contains(wanted, rows) {
			found = append(found, verdict.Page{Operation: op.ID, Page: rows/limit + 1, Rows: rows, Cursor: page.Cursor})
		}
		return page, nil
	}, sizes, prepare.MostPages)
	if broken != nil {
		return nil, fmt.Errorf("walking to the pages of %s: %w", op.ID, broken)
	}
	if !w.Complete() {
		r.draft.Note("%s: the end of the list was not reached (%s)", op.ID, w.End)
	}
	if last.Rows > found[len(found)-1].Rows {
		found = append(found, last)
	}
	return found, nil
}

// page reads the page after a cursor. All of its rows are checked.
func (r *runner) page(ctx context.Context, api *client.Client, op spec.Operation, cursor string, limit int) (paging.Page, client.Exchange, error) {
	request, asked := r.subjects.Page(op, cursor, limit)
	ex := api.Do(ctx, request)
	if ex.Err != nil {
		return paging.Page{}, ex, ex.Err
	}
	page, err := prepare.PageOf(ex, r.check(asked, ex), limit)
	return page, ex, err
}
