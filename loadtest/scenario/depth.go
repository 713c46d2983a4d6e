package scenario

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// place is a page of a list: the cursor that leads to it and the number of rows
// before it.
type place struct {
	op     spec.Operation
	cursor string // empty for the first page
	rows   int
	page   int // from 1, in pages of the scenario's limit
}

func (p place) label() string { return p.op.ID + pageOfLabel + strconv.Itoa(p.page) }

// pageOfLabel separates the operation and the page in a request's label.
const pageOfLabel = " page="

// mostPagesToPlaces limits the pages read on the way to the places of one list.
const mostPagesToPlaces = 12_000

// depth compares the latency of pages by their place in the list. It first
// walks to the places, then requests all of them in turn at a fixed rate.
func (r *runner) depth() error {
	limit := 1
	if len(r.scenario.Limits) > 0 {
		limit = max(1, r.scenario.Limits[0])
	}
	var places []place
	for _, share := range r.shares {
		found, err := r.placesOf(share.op, limit)
		if err != nil {
			return err
		}
		places = append(places, found...)
	}
	if err := r.warmUp(r.scenario.Rate, limit); err != nil {
		return err
	}
	c, err := r.count("depth", schedule.Constant(r.scenario.Rate, r.scenario.Duration), func(uint64) generate.Mix {
		return func(seq uint64) generate.Request { return r.pageAt(places[seq%uint64(len(places))], limit) }
	})
	r.depths(places, c.recording)
	r.shallow(places)
	return err
}

// shallow notes the lists without a second page. If no list has one, the
// scenario is inconclusive.
func (r *runner) shallow(places []place) {
	deep := map[string]bool{}
	for _, p := range places {
		deep[p.op.ID] = deep[p.op.ID] || p.page > 1
	}
	if !slices.ContainsFunc(r.shares, func(s share) bool { return deep[s.op.ID] }) {
		r.void("no list has a second page: deep pages were not measured")
		return
	}
	for _, share := range r.shares {
		if _, known := r.env.Profile.CursorParameter(share.op); known && !deep[share.op.ID] {
			r.note("%s has no second page to compare", share.op.ID)
		}
	}
}

// pageAt returns the request for one page.
func (r *runner) pageAt(p place, limit int) generate.Request {
	request := pageRequest(r.env.Profile, r.subjects.mainKey, p.op, p.cursor, limit)
	return generate.Request{Label: p.label(), Method: p.op.Method, Path: p.op.Path + "?" + request.Query.Encode(), Key: request.Key,
		Asked: judge.Request{Operation: p.op, Valid: true, Owner: r.subjects.main.ID, Limit: limit}}
}

// placesOf walks a list as far as the places require, and to its end if that is
// near.
func (r *runner) placesOf(op spec.Operation, limit int) ([]place, error) {
	found := []place{{op: op, page: 1}}
	if _, known := r.env.Profile.CursorParameter(op); !known {
		r.note("%s: only the first page is requested, because the profile does not name the parameter starting_after", op.ID)
		return found, nil
	}
	var wanted []int // rows that precede a wanted page
	for _, page := range r.scenario.Pages {
		wanted = append(wanted, (page-1)*limit)
	}
	slices.Sort(wanted)
	const most = 100
	rows, last := 0, place{}
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
			last = place{op, cursor, before, before/limit + 1}
		}
		if page.Cursor != "" && slices.Contains(wanted, rows) {
			found = append(found, place{op, page.Cursor, rows, rows/limit + 1})
		}
		return page, nil
	}
	w := paging.Run(r.ctx, fetch, sizes, mostPagesToPlaces)
	switch {
	case broken != nil:
		return nil, fmt.Errorf("walking to the pages of %s: %w", op.ID, broken)
	case !w.Complete():
		r.note("%s: the end of the list was not reached (%s)", op.ID, w.End)
	}
	if last.cursor != "" && last.rows > found[len(found)-1].rows {
		found = append(found, last)
	}
	return found, nil
}

// pageRequest returns the request for the page after a cursor. A limit of 0
// sends none.
func pageRequest(profile *profile.Profile, key client.Key, op spec.Operation, cursor string, limit int) client.Request {
	query := url.Values{}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if cursor != "" {
		name, _ := profile.CursorParameter(op)
		query.Set(name, cursor)
	}
	return client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: query, Key: key}
}

// fetch reads the page after a cursor at the profile's pace.
func (r *runner) fetch(ctx context.Context, op spec.Operation, cursor string, limit int) (paging.Page, error) {
	ex := r.env.Client.Do(ctx, pageRequest(r.env.Profile, r.subjects.mainKey, op, cursor, limit))
	if ex.Err != nil {
		return paging.Page{}, ex.Err
	}
	s := r.looked(judge.Request{Operation: op, Valid: true, Owner: r.subjects.main.ID, Limit: limit}, ex)
	return pageOf(ex, s, limit)
}

// depths compares the latency of the places.
func (r *runner) depths(places []place, rec measure.Recording) {
	worst := threshold.Figure{}
	for _, share := range r.shares {
		d := load.Depth{Operation: share.op.ID}
		for _, p := range places {
			h := rec.Labels[p.label()].Response
			if p.op.ID != share.op.ID || h.Count() == 0 {
				continue
			}
			d.Points = append(d.Points, load.DepthPoint{Page: int64(p.page), Rows: int64(p.rows), Count: h.Count(),
				P50MS: ms(h.Quantile(0.5).Value), P99MS: ms(h.Quantile(0.99).Value)})
		}
		if n := len(d.Points); n > 1 {
			first := rec.Labels[places[slices.IndexFunc(places, func(p place) bool { return p.op.ID == share.op.ID })].label()].Response.Quantile(0.5)
			deepest := place{op: share.op, page: int(d.Points[n-1].Page)}
			end := rec.Labels[deepest.label()].Response.Quantile(0.5)
			if first.Value > 0 && first.Low > 0 && first.High > 0 {
				ratio := threshold.Figure{Value: float64(end.Value) / float64(first.Value),
					Low: float64(end.Low) / float64(first.High), High: float64(end.High) / float64(first.Low)}
				d.Ratio = ratio.Value
				if ratio.Value > worst.Value {
					worst = ratio
				}
			}
		}
		r.out.Depth = append(r.out.Depth, d)
	}
	if worst.Value > 0 {
		r.figures[threshold.Depth] = worst
	}
}
