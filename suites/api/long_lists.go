package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Bounds of the lists that specs read whole. What exceeds them is left out before the first
// spec: which specs run at the same time must not decide.
const (
	maxListRows  = 4000
	maxListPages = 100      // of the largest size
	maxLists     = 48 << 20 // bytes of memory of all rows together
	largeLists   = 16 << 20 // bytes from which on fewSpecs run at the same time
	fewSpecs     = 4
	samplePages  = 10
)

var errLong = errors.New("the list is too long")

func (e *Env) maxListRows() int { return cmp.Or(e.MaxListRows, maxListRows) }

// MeasureLists reads the lists of the selected operations, and returns those that are too
// long for specs that read them whole, with the input that these lack.
func (e *Env) MeasureLists(ctx context.Context) map[string]string {
	e.Begin()
	key, ok := e.Profile.FullKey(dataset.Main)
	if !ok {
		return nil
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	sizes := map[string]int{}
	e.TooLong = map[string]string{}
	for _, op := range spec.Operations() {
		parameter, named := e.Profile.CursorParameter(op)
		if op.Answer != spec.Page || !named || !e.Profile.Implements(op.ID) ||
			!slices.ContainsFunc(spec.Pairs(), func(p spec.Pair) bool { return p.Operation == op.ID && e.Judges(p) }) {
			continue
		}
		all.Go(func() {
			request := client.Request{Operation: op.ID, Method: op.Method, Path: op.Path, Query: url.Values{}, Key: key.ForClient(),
				Allowed: client.AnyRefusal(http.StatusOK, http.StatusNotImplemented)}
			size, w := measured(ctx, paging.List(e.Send, request, parameter), e.maxListRows())
			e.Spent(len(w.Pages))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(w.Err, errLong), w.End == paging.Capped:
				e.TooLong[op.ID] = fmt.Sprintf("a list of at most %d rows and %d pages from %s", e.maxListRows(), maxListPages, op.ID)
			default:
				sizes[op.ID] = size
			}
		})
	}
	all.Wait()
	used := 0
	for _, id := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b)) }) {
		if used += sizes[id]; used > maxLists {
			e.TooLong[id] = fmt.Sprintf("lists whose rows take at most %d MiB of memory together, %s among them", maxLists>>20, id)
		}
	}
	e.large = used > largeLists
	return e.TooLong
}

// measured walks the list, until it shows too many rows, and returns how much memory they take.
func measured(ctx context.Context, fetch paging.Fetch, most int) (size int, w paging.Walk) {
	rows := 0
	w = paging.Run(ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		page, err := fetch(ctx, cursor, limit)
		for i := range page.Rows {
			size += schemas.Memory(page.Rows[i].Value)
			page.Rows[i].Value = nil
		}
		if rows += len(page.Rows); rows > most {
			return page, errLong
		}
		return page, err
	}, PagesOf(spec.MaxLimit), maxListPages)
	return size, w
}

// Sample is Walk in the largest pages, but reads only the first ones of a list that is too long.
func Sample(api *API, list Call) Walk {
	if api.TooLong[list.Operation.ID] == "" {
		return api.Walk(list, PagesOf(spec.MaxLimit))
	}
	w := Walk{List: list}
	w.Walk = paging.Run(api.Ctx, api.fetchAny(list, &w.Responses), PagesOf(spec.MaxLimit), samplePages)
	return w
}
