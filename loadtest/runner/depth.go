package runner

import (
	"context"
	"fmt"
	"slices"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/spec"
)

// mostPagesToPlaces limits the pages read on the way to the places of one list.
const mostPagesToPlaces = 12_000

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
	r.draft.Depths(places, c.Recording)
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
	if !slices.ContainsFunc(r.mix.Operations(), func(op spec.Operation) bool { return deep[op.ID] }) {
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
	const most = 100
	rows, last := 0, verdict.Page{}
	// The next page ends at a wanted place or has the maximum size.
	sizes := func(int) int {
		for _, w := range wanted {
			if w > rows {
				return min(most, w-rows)
			}
		}
		return most
	}
	var broken error
	fetch := func(ctx context.Context, cursor string, size int) (paging.Page, error) {
		page, err := r.fetch(ctx, op, cursor, size)
		if err != nil {
			broken = err
			return page, err
		}
		if len(page.Rows) == 0 {
			return page, nil
		}
		before := rows
		rows += len(page.Rows)
		if cursor != "" {
			last = verdict.Page{Operation: op.ID, Page: before/limit + 1, Rows: before, Cursor: cursor}
		}
		if page.Cursor != "" && slices.Contains(wanted, rows) {
			found = append(found, verdict.Page{Operation: op.ID, Page: rows/limit + 1, Rows: rows, Cursor: page.Cursor})
		}
		return page, nil
	}
	w := paging.Run(r.ctx, fetch, sizes, mostPagesToPlaces)
	switch {
	case broken != nil:
		return nil, fmt.Errorf("walking to the pages of %s: %w", op.ID, broken)
	case !w.Complete():
		r.draft.Note("%s: the end of the list was not reached (%s)", op.ID, w.End)
	}
	if last.Cursor != "" && last.Rows > found[len(found)-1].Rows {
		found = append(found, last)
	}
	return found, nil
}

// fetch reads the page after a cursor at the profile's pace.
func (r *runner) fetch(ctx context.Context, op spec.Operation, cursor string, limit int) (paging.Page, error) {
	request, asked := r.subjects.Page(op, cursor, limit)
	ex := r.env.Client.Do(ctx, request)
	if ex.Err != nil {
		return paging.Page{}, ex.Err
	}
	return prepare.PageOf(ex, r.check(asked, ex), limit)
}
