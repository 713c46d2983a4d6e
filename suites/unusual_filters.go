package suites

import (
	"slices"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
)

// readBy reads the list through the filter by ids of which some belong to no row. A server may
// refuse that, which ends the spec.
func readBy(api *API, use oracle.Use) Walk {
	shown := Ask(api, api.Request().MayBeRefused(), oracle.Query{Parameters: use.Query, Sizes: []int{spec.MaxLimit}, Pages: oracle.WholeWalk}).Walk
	if len(shown.Pages) == 0 {
		api.NotAssessed("a server that does not refuse an id that no row has")
	}
	return shown
}

// expectNoRow filters by an id that no row has.
func expectNoRow(api *API, f oracle.Filter) {
	if len(api.Do(api.Request()).Rows()) == 0 {
		api.NotAssessed("rows of %s", api.Operation().ID)
	}
	use := f.By(api.FreshID())
	api.For(f.Extra()).Judge(strangers(f.Extra(), use, readBy(api, use)))
}

// expectRowsOfOthers filters by ids that rows have beside ids that no row has.
func expectRowsOfOthers(api *API, f oracle.Filter) {
	list := api.Request()
	before := api.Read(list)
	known := oracle.All(before.Rows(), f.Fields[0])
	if len(known) == 0 {
		api.NotAssessed("rows of %s with values to filter by", list.Operation.ID)
	}
	uses := []oracle.Use{f.By(known[0] + "," + api.FreshID()), f.By(api.FreshID() + "," + known[0]), f.By(manyIDs(api, known))}
	walks := Each(api, uses, func(use oracle.Use) Walk { return readBy(api, use) })
	after := api.Read(list)
	for i, walk := range walks {
		for _, id := range f.Requirements {
			api.For(id).Judge(selectedRows(id, uses[i], walk, before, after))
		}
	}
}

// manyIDs returns a list of about 30 ids: half of them are known at most, and a known one
// stands last.
func manyIDs(api *API, known []string) string {
	const many = 30
	var ids []string
	known = known[:min(len(known), many/2)]
	for len(ids) < many-len(known) {
		ids = append(ids, api.FreshID())
	}
	return strings.Join(append(ids, known...), ",")
}

// expectOnce filters by an id that stands twice in the list. Each row must be shown once. A
// server may refuse it.
func expectOnce(api *API, list Call, f oracle.Filter, rows []paging.Row) {
	for _, id := range oracle.Distinct(rows, f.Fields[0], 1) {
		ChargeRepeats(api, Ask(api, list.MayBeRefused(), oracle.Query{Parameters: f.By(id + "," + id).Query, Sizes: []int{spec.MaxLimit}, Pages: oracle.WholeWalk}).Walk)
	}
}

// expectWholeSearch searches for the longest text of a row with letters added to its end: a
// server may cut what it searches for. Which words of the text must occur is open. So the
// row may show if it shows, too, with the letters before the text, or after its first word. A
// row that has no word of the search may not.
func expectWholeSearch(api *API, list Call, f oracle.Filter, before Walk) {
	const rest = oracle.AbsentWord
	texts := oracle.All(before.Rows(), f.Fields[0])
	texts = slices.DeleteFunc(texts, func(text string) bool {
		return strings.TrimSpace(text) != text || len(text)+2*len(rest) > client.MaxURLValue
	})
	if len(texts) == 0 {
		return
	}
	longest := slices.MaxFunc(texts, func(a, b string) int { return len(a) - len(b) })
	search := func(text string) Walk { return api.Read(FilteredBy(api, list, f.By(text).Query)) }
	longer := search(longest + rest)
	rows := before.Rows()
	found := slices.IndexFunc(rows, func(row paging.Row) bool {
		return oracle.Scalar(row.Value[f.Fields[0]]) == longest && longer.Keys()[row.Key] > 0
	})
	if found < 0 {
		return
	}
	key := rows[found].Key
	if words := paging.Tokens(longest); len(words) > 1 && (search(rest + longest).Keys()[key] > 0 || search(words[0] + " " + rest).Keys()[key] > 0) {
		return
	}
	api.For(f.Extra()).Expect(longer).To(NotShowRow(key, "the row of the text "+Shorten(longest)))
}
