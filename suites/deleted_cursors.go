package suites

import (
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// A cursor may name a row, and a server may refuse it with any 4xx once the row is deleted.
// The run itself, or somebody else, may delete that row between two pages.

// behind returns the call for the page behind another one.
func (api *API) behind(k Call, page Response) Call {
	k = k.WithQuery(api.cursorParameter(k.Operation), page.Cursor())
	k.from = &page.Call
	return k
}

// askBehind is ask for a page behind another one. If the row of the cursor is gone, a refusal
// is right, and the response holds the page that gave the cursor, as it is now.
func (api *API) askBehind(k Call, request client.Request) Response {
	var r, open Response
	api.Client.DoWith(api.ctx, request, func(ex client.Exchange) {
		r = api.judged(k, ex)
		if ex.Status/100 == 4 {
			open = api.judged(k.MayBeRefused(), ex)
		}
	})
	if r.Err != nil || r.Status/100 != 4 || !k.allowed.Valid() {
		return r
	}
	page, back := api.pageBefore(k)
	if back == 0 {
		return r
	}
	api.observeOn(k.Operation.ID, spec.OpenPointDeletedCursor, "refused: %d", r.Status)
	open.again, open.back = &page, back
	return open
}

// pageBefore reads the page that gave the cursor of a refused call until it gives another one:
// then a row that the cursor may name is gone. back is how many pages before the refused one it
// is: if the cursor of that page is refused, too, the page before it counts. back is 0 if the
// same cursor is served after all.
func (api *API) pageBefore(k Call) (page Response, back int) {
	refusable := func(k Call) Response {
		k = k.MayBeRefused()
		r := api.ask(k, k.request())
		api.record(r)
		return r
	}
	api.look(func() bool {
		switch page = refusable(*k.from); {
		case page.OK():
			page.Call = *k.from
			if page.Cursor() != k.query.Get(api.cursorParameter(k.Operation)) {
				back = 1
			}
		case page.Status/100 == 4 && k.from.from != nil:
			if page, back = api.pageBefore(*k.from); back > 0 {
				back++
			}
		}
		return back > 0 || refusable(k).Status/100 != 4
	})
	return page, back
}
