package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// PagesOf asks for pages of one size; 0 sends no limit. A size that follows from the number
// of rows may be too high for a limit: the largest pages are read then.
func PagesOf(size int) paging.Sizes { return paging.Fixed(min(size, spec.MaxLimit)) }

// Walk is a list read page by page, with the responses that it was made of. Rows have no
// values if only their keys were read.
type Walk struct {
	paging.Walk
	List      Call
	sizes     paging.Sizes
	Responses []Response
}

// At returns the response that showed the page, counted from 0.
func (w Walk) At(page int) Response { return w.Responses[page] }

// Last returns the last response.
func (w Walk) Last() Response { return w.Responses[len(w.Responses)-1] }

// ByKey returns the rows by their id, or by all they say if they show none.
func (w Walk) ByKey() map[string]map[string]any {
	rows := map[string]map[string]any{}
	for _, row := range w.Rows() {
		rows[row.Key] = row.Value
	}
	return rows
}

// Values returns the rows in the order in which they were shown.
func (w Walk) Values() []map[string]any {
	rows := w.Rows()
	values := make([]map[string]any, len(rows))
	for i, row := range rows {
		values[i] = row.Value
	}
	return values
}

// Unread says what would have let the walk be read to its end; "" if it was.
func (w Walk) Unread() string {
	switch w.End {
	case paging.Done:
		return ""
	case paging.Broken:
		return w.Err.Error()
	case paging.Capped:
		return fmt.Sprintf("a list that ends within %d pages", MostPages)
	default:
		return fmt.Sprintf("walks that end (%s)", w.End)
	}
}

// Walk reads a list page by page, or at once if it has no pages. It ends early if a page cannot
// be read. A walk that would not end, or that repeats a row, breaks a requirement on walks,
// whatever the spec makes of it.
func (api *API) Walk(list Call, sizes paging.Sizes) Walk {
	w := Walk{List: list, sizes: sizes}
	if list.Operation.Answer != spec.Page {
		r := api.send([]Call{list})[0]
		w.Responses, w.End = []Response{r}, paging.Broken
		w.Err = errors.New(r.Shortfall())
		if r.OK() {
			w.Walk = paging.Walk{Pages: []paging.Page{{Rows: r.PageRows()}}, End: paging.Done}
		}
		return w
	}
	w.Walk = paging.Run(api.Ctx, Fetch(api, list, &w.Responses), sizes, MostPages)
	chargeEnd(api, w)
	if list.Query.Get("sort_order") == "" { // there are requirements on sorted walks
		ChargeRepeats(api, w)
	}
	return w
}

// Read reads a whole list in the largest pages. The spec ends if the list cannot be read to its
// end.
func (api *API) Read(list Call) Walk { return Whole(api, api.Walk(list, PagesOf(spec.MaxLimit))) }

// WalkWhile walks the list, and changes it after each page. It reads at most the given number
// of pages.
func WalkWhile(api *API, list Call, sizes paging.Sizes, pages int, change func(page Response)) Walk {
	w := Walk{List: list}
	fetch := Fetch(api, list, &w.Responses)
	w.Walk = paging.Run(api.Ctx, func(ctx context.Context, cursor string, limit int) (paging.Page, error) {
		page, err := fetch(ctx, cursor, limit)
		if err == nil {
			change(w.Last())
		}
		return page, err
	}, sizes, pages)
	return w
}

// chargeEnd charges a walk that would not end.
func chargeEnd(api *API, w Walk) {
	api.chargeWalk(w, spec.PageWalkEnds, ending(w))
}

// ChargeRepeats charges the rows of a whole walk that were shown before. Rows without an id
// may be alike.
func ChargeRepeats(api *API, w Walk) {
	if w.Complete() {
		api.chargeWalk(w, spec.PageWalkOnce, RepeatedRows(w, func(row paging.Row) bool { return row.ByID }))
	}
}

// chargeWalk charges what was found on a walk to the requirement on walks of the whole
// list, or to that on filtered walks.
func (api *API) chargeWalk(w Walk, id spec.ID, found Verdict) {
	if w.isFiltered() {
		id = spec.FilterWalk
	}
	for _, f := range found.Findings {
		Violated(api, id.On(w.List.Operation.ID), f, "")
	}
	if found.More > 0 {
		api.Evidence.ViolatedAgain(id.On(w.List.Operation.ID), found.More)
	}
}

// isFiltered reports whether the list is read through a filter for which there is a
// requirement on walks.
func (w Walk) isFiltered() bool {
	if !spec.Has(spec.FilterWalk.On(w.List.Operation.ID)) {
		return false
	}
	for name := range w.List.Query {
		if name != "limit" && name != "sort_order" {
			return true
		}
	}
	return false
}

// Whole ends the spec if the walk was not read to its end.
func Whole(api *API, w Walk) Walk {
	if lacks := w.Unread(); lacks != "" {
		api.NotAssessed("%s from %s", lacks, w.List.Operation.ID)
	}
	return w
}

// Fetch is fetchAny for a list that may be read whole, or ends the spec. A search finds few rows.
func Fetch(api *API, list Call, responses *[]Response) paging.Fetch {
	if lacks := api.TooLong[list.Operation.ID]; lacks != "" && list.Query["search"] == nil {
		api.NotAssessed("%s", lacks)
	}
	return api.fetchAny(list, responses)
}

// fetchAny reads the page behind a cursor and keeps the response, so that a
// violation can show the request. A response that is no page ends the walk with
// the input that is missing.
func (api *API) fetchAny(list Call, responses *[]Response) paging.Fetch {
	CursorParameter(api, list.Operation)
	rows, most := 0, 2*api.maxListRows() // the list may grow during the run
	return func(_ context.Context, cursor string, limit int) (paging.Page, error) {
		k := list
		if limit > 0 {
			k = k.WithQuery("limit", strconv.Itoa(limit))
		}
		if cursor != "" {
			k = Behind(api, k, (*responses)[len(*responses)-1])
		}
		r := api.send([]Call{k})[0]
		back := r.back
		if back > 0 { // the walk goes on from there
			r = *r.Again
			limit, _ = strconv.Atoi(r.Call.Query.Get("limit"))
			*responses = (*responses)[:len(*responses)-back]
		}
		*responses = append(*responses, r)
		if lacks := r.Shortfall(); lacks != "" {
			return paging.Page{}, errors.New(lacks) // the rules have charged it
		}
		if rows += len(r.PageRows()); rows > most {
			return paging.Page{}, fmt.Errorf("a list of at most %d rows", most)
		}
		return paging.Page{Limit: limit, Rows: r.PageRows(), Cursor: r.Cursor(), Back: back}, nil
	}
}

// CursorParameter returns the query parameter that takes the cursor, or ends the
// spec.
func CursorParameter(api *API, op spec.Operation) string {
	return api.Parameter(op.ID, profile.ParamStartingAfter)
}

// PointerIn returns the JSON pointer to an item of a page.
func PointerIn(item int) string { return "/items/" + strconv.Itoa(item) }

// ending judges how the walk ended.
func ending(w Walk) Verdict {
	switch w.End {
	case paging.CursorRepeated:
		return Verdict{Assessed: 1, Findings: []Finding{Found(w.Last(), "/next_starting_after", "a cursor that no earlier page had",
			fmt.Sprintf("the cursor %q again, on page %d: it leads to pages that the walk has read", w.Last().Cursor(), len(w.Pages)))}}
	case paging.NoNewRows:
		return Verdict{Assessed: 1, Findings: []Finding{Found(w.Last(), "/items", "rows that were not shown yet",
			fmt.Sprintf("no new row on the last pages up to page %d", len(w.Pages)))}}
	case paging.Done:
		return Verdict{Assessed: 1}
	default:
		return Verdict{Missing: w.Unread()}
	}
}

// RepeatedRows judges that the walk shows the rows that count once.
func RepeatedRows(w Walk, counts func(paging.Row) bool) Verdict {
	found := Verdict{Assessed: 1}
	for _, repeat := range w.Repeats() {
		at := repeat.Again
		if !counts(w.Pages[at.Page].Rows[at.Item]) {
			continue
		}
		found.Add(Found(w.At(at.Page), PointerIn(at.Item), "a row that was not shown yet",
			fmt.Sprintf("the row %s again, which was %s", Shorten(at.Key), repeat.First)))
	}
	return found
}

// Shorten keeps what identifies a row short enough to read.
func Shorten(key string) string {
	const most = 80
	if key = schemas.ShortenID(key); len(key) <= most {
		return key
	}
	return strings.ToValidUTF8(key[:most], "") + "…"
}

// MissingBetween returns the rows that a walk before and one after both show,
// and the one between them does not.
func MissingBetween(api *API, before, between, after Walk) []paging.Row {
	return MissingFrom(api, []Walk{before, between, after}, 1)
}

// MissingFrom returns the rows that the walk of that number leaves out, although walks
// before and after it show them. A row that somebody else or this run created may show late in a
// view: it is missing only if the same walk leaves it out for as long as that may take, and the
// last walk still shows it. A spec that has found such a row does not look again.
func MissingFrom(api *API, walks []Walk, i int) []paging.Row {
	missing := leftOut(walks, i)
	remain := func(counts func(key string) bool) {
		missing = slices.DeleteFunc(missing, func(row paging.Row) bool {
			_, deleted := api.changed(row)
			return deleted || !counts(row.Key)
		})
	}
	remain(func(string) bool { return true })
	if len(missing) == 0 || api.omits {
		return missing
	}
	again := func(w Walk) map[string]int { return Whole(api, api.Walk(KeysOf(w.List), w.sizes)).Keys() }
	if !api.look(func() bool {
		shown := again(walks[i])
		remain(func(key string) bool { return shown[key] == 0 })
		return len(missing) == 0
	}) {
		shown := again(walks[len(walks)-1])
		remain(func(key string) bool { return shown[key] > 0 })
	}
	api.omits = len(missing) > 0
	return missing
}

// MissingWhile is MissingBetween for a walk during which the list changed, which cannot be
// repeated. young are rows that the run created so shortly before that they may show late.
func MissingWhile(api *API, before, during, after Walk) (missing, young []paging.Row) {
	began := during.At(0).Sent
	for _, row := range leftOut([]Walk{before, during, after}, 1) {
		switch created, deleted := api.changed(row); {
		case deleted:
		case !created.IsZero() && began.Sub(created) < api.Profile.Visibility():
			young = append(young, row)
		default:
			missing = append(missing, row)
		}
	}
	return missing, young
}

// Settled returns the walk without rows that the run deleted, or created so shortly before
// that other views may show them late.
func Settled(api *API, w Walk) Walk {
	pages := make([]paging.Page, len(w.Pages))
	for i, page := range w.Pages {
		pages[i] = page
		pages[i].Rows = slices.DeleteFunc(slices.Clone(page.Rows), func(row paging.Row) bool {
			created, deleted := api.changed(row)
			return deleted || !created.IsZero() && w.At(i).Sent.Sub(created) < api.Profile.Visibility()
		})
	}
	w.Pages = pages
	return w
}

// leftOut returns the rows that walks before and after the walk of that number show, and
// that it does not.
func leftOut(walks []Walk, i int) []paging.Row {
	plain := make([]paging.Walk, len(walks))
	for j, walk := range walks {
		plain[j] = walk.Walk
	}
	return paging.Missing(plain, i)
}
