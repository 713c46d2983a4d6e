package suites

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// maxLimit is the highest limit (section Limits).
const maxLimit = 100

// pagesOf asks for pages of one size; 0 sends no limit. A size that follows from the number
// of rows may be too high for a limit: the largest pages are read then.
func pagesOf(size int) paging.Sizes { return paging.Fixed(min(size, maxLimit)) }

// Walk is a list read page by page, with the responses that it was made of. Rows have no
// values if only their keys were read.
type Walk struct {
	paging.Walk
	List      Call
	sizes     paging.Sizes
	responses []Response
}

// At returns the response that showed the page, counted from 0.
func (w Walk) At(page int) Response { return w.responses[page] }

// Last returns the last response.
func (w Walk) Last() Response { return w.responses[len(w.responses)-1] }

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

// unread says what would have let the walk be read to its end; "" if it was.
func (w Walk) unread(maxPages int) string {
	switch w.End {
	case paging.Done:
		return ""
	case paging.Broken:
		return w.Err.Error()
	case paging.Capped:
		return fmt.Sprintf("a list that ends within %d pages", maxPages)
	default:
		return fmt.Sprintf("walks that end (%s)", w.End)
	}
}

// Walk reads a list page by page. A walk that would not end, or that repeats a row, breaks
// a requirement on walks, whatever the spec makes of it.
func (api *API) Walk(list Call, sizes paging.Sizes) Walk {
	w := api.unjudgedWalk(list, sizes)
	api.chargeEnd(w)
	api.chargeRepeats(w)
	return w
}

// WalkKeys is Walk for a caller that needs only the keys of the rows.
func (api *API) WalkKeys(list Call, sizes paging.Sizes) Walk {
	return api.Walk(list.keys(), sizes)
}

// unjudgedWalk is Walk for a spec that judges by itself how the walk ends, and whether it
// repeats a row.
func (api *API) unjudgedWalk(list Call, sizes paging.Sizes) Walk {
	w := Walk{List: list, sizes: sizes}
	w.Walk = paging.Run(api.ctx, api.fetch(list, &w.responses), sizes, api.maxPages())
	return w
}

// chargeEnd charges a walk that would not end.
func (api *API) chargeEnd(w Walk) {
	api.chargeWalk(w, spec.PageWalkEnds, ending(w, api.maxPages()))
}

// chargeRepeats charges the rows of a whole walk that were shown before. Rows without an id
// may be alike.
func (api *API) chargeRepeats(w Walk) {
	if w.Complete() {
		api.chargeWalk(w, spec.PageWalkOnce, repeatedRows(w, func(row paging.Row) bool { return row.ByID }))
	}
}

// chargeWalk charges what was found on a walk to the requirement on walks of the whole
// list, or to that on filtered walks.
func (api *API) chargeWalk(w Walk, id spec.ID, found Verdict) {
	if w.isFiltered() {
		id = spec.FilterWalk
	}
	for _, f := range found.Findings {
		api.violated(id.On(w.List.Operation.ID), f, "")
	}
	if found.More > 0 {
		api.evidence.ViolatedAgain(id.On(w.List.Operation.ID), found.More)
	}
}

// isFiltered reports whether the list is read through a filter for which there is a
// requirement on walks.
func (w Walk) isFiltered() bool {
	if !spec.Has(spec.FilterWalk.On(w.List.Operation.ID)) {
		return false
	}
	for name := range w.List.query {
		if name != "limit" && name != "sort_order" {
			return true
		}
	}
	return false
}

// ReadAll reads a list to its end in the largest pages. The spec ends if the
// list cannot be read whole.
func (api *API) ReadAll(list Call) Walk { return api.ReadAllIn(list, pagesOf(maxLimit)) }

// ReadAllIn is ReadAll in pages of other sizes.
func (api *API) ReadAllIn(list Call, sizes paging.Sizes) Walk {
	return api.whole(api.Walk(list, sizes))
}

// whole ends the spec if the walk was not read to its end.
func (api *API) whole(w Walk) Walk {
	if lacks := w.unread(api.maxPages()); lacks != "" {
		api.NotAssessed("%s from %s", lacks, w.List.Operation.ID)
	}
	return w
}

// ReadRows reads a whole list, whether it is paged or not.
func (api *API) ReadRows(list Call) Walk {
	if list.Operation.Answer == spec.Page {
		return api.ReadAll(list)
	}
	r := api.MustDo(list)
	page := paging.Page{Rows: r.pageRows()}
	return Walk{Walk: paging.Walk{Pages: []paging.Page{page}, End: paging.Done}, responses: []Response{r}, List: list}
}

// fetch is fetchAny for a list that may be read whole, or ends the spec. A search finds few rows.
func (api *API) fetch(list Call, responses *[]Response) paging.Fetch {
	if lacks := api.tooLong[list.Operation.ID]; lacks != "" && list.query["search"] == nil {
		api.NotAssessed("%s", lacks)
	}
	return api.fetchAny(list, responses)
}

// fetchAny reads the page behind a cursor and keeps the response, so that a
// violation can show the request. A response that is no page ends the walk with
// the input that is missing.
func (api *API) fetchAny(list Call, responses *[]Response) paging.Fetch {
	api.cursorParameter(list.Operation)
	rows, most := 0, 2*api.maxListRows() // the list may grow during the run
	return func(_ context.Context, cursor string, limit int) (paging.Page, error) {
		k := list
		if limit > 0 {
			k = k.WithQuery("limit", strconv.Itoa(limit))
		}
		if cursor != "" {
			k = api.behind(k, (*responses)[len(*responses)-1])
		}
		r := api.Do(k)
		back := r.back
		if back > 0 { // the walk goes on from there
			r = *r.again
			limit, _ = strconv.Atoi(r.Call.query.Get("limit"))
			*responses = (*responses)[:len(*responses)-back]
		}
		*responses = append(*responses, r)
		if lacks := r.shortfall(); lacks != "" {
			return paging.Page{}, errors.New(lacks) // the rules have charged it
		}
		if rows += len(r.pageRows()); rows > most {
			return paging.Page{}, fmt.Errorf("a list of at most %d rows", most)
		}
		return paging.Page{Limit: limit, Rows: r.pageRows(), Cursor: r.Cursor(), Back: back}, nil
	}
}

// cursorParameter returns the query parameter that takes the cursor, or ends the
// spec.
func (api *API) cursorParameter(op spec.Operation) string {
	name, ok := api.Profile.CursorParameter(op)
	if !ok {
		api.NotAssessed("the entry parameters.%s.%s", op.ID, profile.ParamStartingAfter)
	}
	return name
}

// pointerIn returns the JSON pointer to an item of a page.
func pointerIn(item int) string { return "/items/" + strconv.Itoa(item) }

// onWalk makes a matcher of walks.
func onWalk(words string, judge func(Walk) Verdict) types.GomegaMatcher {
	return &expectation[Walk]{words: words, judge: judge}
}

// End matches a walk that ended on a page without a cursor, or on an empty page.
func End(maxPages int) types.GomegaMatcher {
	return onWalk("let the walk end", func(w Walk) Verdict { return ending(w, maxPages) })
}

// ending judges how the walk ended.
func ending(w Walk, maxPages int) Verdict {
	switch w.End {
	case paging.CursorRepeated:
		return Verdict{Assessed: 1, Findings: []Finding{{w.Last(), "/next_starting_after", "a cursor that no earlier page had",
			fmt.Sprintf("the cursor %q again, on page %d: it leads to pages that the walk has read", w.Last().Cursor(), len(w.Pages))}}}
	case paging.NoNewRows:
		return Verdict{Assessed: 1, Findings: []Finding{{w.Last(), "/items", "rows that were not shown yet",
			fmt.Sprintf("no new row on the last pages up to page %d", len(w.Pages))}}}
	case paging.Done:
		return Verdict{Assessed: 1}
	default:
		return Verdict{Missing: w.unread(maxPages)}
	}
}

// ShowEveryRowOnce matches a walk that repeats no row.
func ShowEveryRowOnce() types.GomegaMatcher { return ShowEveryRowOnceAmong(nil, 0) }

// ShowEveryRowOnceAmong is ShowEveryRowOnce for the walk at the index of several
// walks of one list. Rows without an id may be alike, and may come and go: such a
// row counts as repeated only if walks before and after show it less often.
func ShowEveryRowOnceAmong(walks []Walk, index int) types.GomegaMatcher {
	return onWalk("show every row once", func(w Walk) Verdict {
		return repeatedRows(w, func(row paging.Row) bool {
			return walks == nil || row.ByID || shownMoreOften(walks, index, row.Key)
		})
	})
}

// repeatedRows judges that the walk shows the rows that count once.
func repeatedRows(w Walk, counts func(paging.Row) bool) Verdict {
	found := Verdict{Assessed: 1}
	for _, repeat := range w.Repeats() {
		at := repeat.Again
		if !counts(w.Pages[at.Page].Rows[at.Item]) {
			continue
		}
		found.add(Finding{w.At(at.Page), pointerIn(at.Item), "a row that was not shown yet",
			fmt.Sprintf("the row %s again, which was %s", shorten(at.Key), repeat.First)})
	}
	return found
}

func shownMoreOften(walks []Walk, index int, key string) bool {
	here := walks[index].Keys()[key]
	less := func(others []Walk) bool {
		return len(others) == 0 || slices.ContainsFunc(others, func(other Walk) bool { return other.Keys()[key] < here })
	}
	return less(walks[:index]) && less(walks[index+1:])
}

// ShowTheOrderOf matches a walk that shows its rows in the order of another.
func ShowTheOrderOf(other Walk) types.GomegaMatcher {
	return onWalk("keep the order of another walk", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		if swap, differ := paging.Disorder(other.Walk, w.Walk); differ {
			found.Findings = []Finding{{w.At(swap.Actual.Page), pointerIn(swap.Actual.Item),
				"the row " + shorten(swap.Want) + ", as with another page size", shorten(swap.Actual.Key)}}
		}
		return found
	})
}

// BeSortedByID matches a walk whose ids run in one direction: "asc", "desc", or
// "" for either. A row that was shown before has no place in the order;
// ShowEveryRowOnce judges that.
func BeSortedByID(direction string) types.GomegaMatcher {
	return onWalk("sort the rows by id", func(w Walk) Verdict {
		_, found := sortedByID(w, direction)
		return found
	})
}

// sortedByID returns the direction in which the ids run, and what breaks it.
func sortedByID(w Walk, direction string) (string, Verdict) {
	var found Verdict
	previous := ""
	seen := map[string]bool{}
	for p, page := range w.Pages {
		for i, row := range page.Rows {
			id := row.Key
			if !row.ByID || seen[id] { // the schemas judge a row without an id
				continue
			}
			seen[id] = true
			if previous != "" {
				runs := "asc"
				if strings.ToLower(id) < strings.ToLower(previous) {
					runs = "desc"
				}
				found.Assessed++
				if direction == "" {
					direction = runs
				} else if runs != direction {
					found.add(Finding{w.At(p), pointerIn(i) + "/id",
						"an id " + map[string]string{"asc": "above ", "desc": "below "}[direction] + previous, id})
				}
			}
			previous = id
		}
	}
	if found.Assessed == 0 {
		found.Missing = "at least two rows in " + w.List.Operation.ID
	}
	return direction, found
}

// ShowRow matches a walk that shows the row on exactly one page.
func ShowRow(id, what string) types.GomegaMatcher {
	return showTimes(id, 1, fmt.Sprintf("%s %s on one page", what, id))
}

// NotShowRow matches a walk that does not show the row.
func NotShowRow(id, what string) types.GomegaMatcher {
	return showTimes(id, 0, fmt.Sprintf("%s %s on no page", what, id))
}

func showTimes(id string, times int, expected string) types.GomegaMatcher {
	return onWalk("show "+expected, func(w Walk) Verdict {
		shown := w.Keys()[paging.FoldID(id)]
		if shown == times {
			return Verdict{Assessed: 1}
		}
		actual := "it is on no page"
		if shown > 0 {
			actual = fmt.Sprintf("it is shown %d times", shown)
		}
		return Verdict{Assessed: 1, Findings: []Finding{{w.Last(), "/items", expected, actual}}}
	})
}

// RespectLimits matches a walk whose pages are no longer than their limits.
func RespectLimits() types.GomegaMatcher {
	return onWalk("keep every page within its limit", func(w Walk) Verdict {
		var found Verdict
		for i, page := range w.Pages {
			if page.Limit == 0 {
				continue
			}
			one := atMost(page.Limit, len(page.Rows), w.At(i))
			found.Assessed += one.Assessed
			found.add(one.Findings...)
			if one.Missing != "" {
				found.Missing = one.Missing
			}
		}
		if len(w.Pages) == 0 {
			found.Missing = w.Err.Error()
		}
		return found
	})
}

// shorten keeps what identifies a row short enough to read.
func shorten(key string) string {
	const most = 80
	if key = schemas.ShortenID(key); len(key) <= most {
		return key
	}
	return strings.ToValidUTF8(key[:most], "") + "…"
}
