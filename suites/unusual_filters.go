package suites

import (
	"slices"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"

	. "outreach.example/conformance/suites/match"

	. "outreach.example/conformance/suites/api"
)

// expectNoRow filters by an id that no row has. A server may refuse it.
func expectNoRow(api *API, f oracle.Filter) {
	if len(api.Do(api.Request()).Rows()) == 0 {
		api.NotAssessed("rows of %s", api.Operation().ID)
	}
	use, list := f.By(api.FreshID()), api.Request().MayBeRefused()
	shown := Ask(api, list, oracle.Query{Parameters: use.Query, Sizes: []int{MaxLimit}, Pages: 1}).Walk
	if len(shown.Pages) == 0 {
		api.NotAssessed("a server that does not refuse an id that no row has")
	}
	api.Expect(shown).To(ShowNoStrangers(f.Extra(), use))
}

// expectRowsOfOthers filters by an id that rows have and one that no row has. A server may
// refuse it.
func expectRowsOfOthers(api *API, f oracle.Filter) {
	list := api.Request()
	before := api.Read(list)
	known := oracle.All(before.Rows(), f.Fields[0])
	if len(known) == 0 {
		api.NotAssessed("rows of %s with values to filter by", list.Operation.ID)
	}
	for _, ids := range []string{known[0] + "," + api.FreshID(), api.FreshID() + "," + known[0], manyIDs(api, known)} {
		use := f.By(ids)
		shown := Ask(api, list.MayBeRefused(), oracle.Query{Parameters: use.Query, Sizes: []int{MaxLimit}, Pages: oracle.WholeWalk}).Walk
		if len(shown.Pages) == 0 {
			api.NotAssessed("a server that does not refuse an id that no row has")
		}
		after := api.Read(list)
		for _, id := range f.Requirements {
			api.For(id).Expect(shown).To(SelectRows(id, use, before, after))
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
		ChargeRepeats(api, Ask(api, list.MayBeRefused(), oracle.Query{Parameters: f.By(id + "," + id).Query, Sizes: []int{MaxLimit}, Pages: oracle.WholeWalk}).Walk)
	}
}

// expectWholeSearch searches for the longest text of a row with letters added to its end: a
// server may cut what it searches for. Which words of the text must occur is open. So the
// row may show if it shows, too, with the letters before the text, or after its first word. A
// row that has no word of the search may not.
func expectWholeSearch(api *API, list Call, f oracle.Filter, before Walk) {
	texts := oracle.All(before.Rows(), f.Fields[0])
	texts = slices.DeleteFunc(texts, func(text string) bool { return strings.TrimSpace(text) != text })
	if len(texts) == 0 {
		return
	}
	longest := slices.MaxFunc(texts, func(a, b string) int { return len(a) - len(b) })
	rest := oracle.AbsentWord
	if len(longest)+2*len(rest) > client.MaxURLValue {
		return
	}
	longer := api.Read(FilteredBy(api, list, f.By(longest+rest).Query))
	for _, row := range before.Rows() {
		if oracle.Scalar(row.Value[f.Fields[0]]) != longest || longer.Keys()[row.Key] == 0 {
			continue
		}
		words := strings.Fields(longest)
		for _, text := range []string{rest + longest, words[0] + " " + rest} {
			if len(words) > 1 && api.Read(FilteredBy(api, list, f.By(text).Query)).Keys()[row.Key] > 0 {
				return
			}
		}
		api.For(f.Extra()).Expect(longer).To(NotShowRow(row.Key, "the row of the text "+Shorten(longest)))
		return
	}
}
