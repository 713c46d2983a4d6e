package suites

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"

	. "outreach.example/conformance/suites/match"
)

// filters compares every filter with unfiltered walks of the list.
func filters() {
	for _, op := range spec.Operations() {
		Describe(op.ID, func() {
			for _, f := range oracle.Filters(op.ID) {
				It(f.Title(), Requires(f.Requirements...), Needs(filterNamed(op, f)), func(api *API) { expectFilter(api, f) })
				if f.ByID() {
					It(f.Title()+" that no row has", Requires(f.Extra()), Needs(filterNamed(op, f)), func(api *API) { expectNoRow(api, f) })
				}
				if f.Kind == spec.AnyOf {
					It(f.Title()+" of which no row has one", Requires(f.Requirements...), Needs(filterNamed(op, f)), func(api *API) { expectRowsOfOthers(api, f) })
				}
			}
		})
	}
	for _, op := range spec.FilterWalk.Operations() {
		Describe(op.ID, func() {
			It("pages through filtered rows as through all", Requires(spec.FilterWalk), Needs(Cursor(op.ID), severalFilters(op, 1, "a filter of %s that selects several rows")), walkFiltered)
		})
	}
}

// filterNamed is the need for a walk through the filter.
func filterNamed(op spec.Operation, f oracle.Filter) Need {
	return All(func(*profile.Profile) []Need {
		needs := []Need{Cursor(op.ID)}
		for _, parameter := range slices.Sorted(maps.Keys(oracle.Window(op.ID, oracle.FarPast, oracle.FarFuture))) {
			if f.IsWindow() {
				needs = append(needs, Parameter(op.ID, parameter))
			}
		}
		return append(needs, Parameter(op.ID, f.Key))
	})
}

// severalFilters is the need for the names of n filters of the list that select rows.
func severalFilters(op spec.Operation, n int, words string) Need {
	return Input(fmt.Sprintf(words, op.ID), func(p *profile.Profile) bool {
		named := map[string]bool{}
		for _, f := range oracle.Filters(op.ID) {
			if _, ok := p.Parameter(op.ID, f.Key); ok && (f.Kind != spec.Exclude || n == 1) {
				named[f.Key] = true
			}
		}
		return len(named) >= n
	})
}

// handful is how many values of a filter are tried at most.
const handful = 4

// expectFilter compares uses of the filter with unfiltered walks. If they differ, it looks
// again: a row that was created meanwhile may show later in one view than in another. Other
// specs create more of them while it looks, so these do not count then.
func expectFilter(api *API, f oracle.Filter) {
	list := api.Request()
	tried := tryFilter(api, list, f, Shared)
	if tried.differs(f) {
		api.Eventually(func() bool {
			tried = tryFilter(api, list, f, (*API).Read)
			tried.before = Settled(api, tried.before)
			return !tried.differs(f)
		}).Should(gomega.BeTrue())
	}
	for _, t := range tried.uses {
		if !t.whole || !t.walk.Complete() && len(t.walk.Pages) > 0 {
			api.For(f.Extra()).Expect(t.walk).To(ShowNoStrangers(f.Extra(), t.use))
		}
		for _, id := range f.Requirements {
			if t.whole && t.walk.Complete() {
				api.For(id).Expect(t.walk).To(SelectRows(id, t.use, tried.before, tried.after))
			}
		}
	}
	if f.Kind == spec.Search {
		expectWholeSearch(api, list, f, tried.before)
	}
	for _, id := range f.Requirements {
		if !api.For(id).Judged() {
			api.For(id).NotAssessed("rows of %s that differ in what the filter selects", list.Operation.ID)
		}
	}
}

// filtersNewTests filters by status while there are tests that were created without one,
// with null, and with each that sends no email. A server may count a new test under a status that it does not show.
func filtersNewTests(api *API) {
	with := func(status any) string {
		return api.Do(api.RequestAs(dataset.Main, spec.CreatePlacementTest).WithField("status", status)).ID()
	}
	for _, status := range []string{"1", "2", "3"} { // a server may cache what a filter found
		api.Read(api.Request().WithQuery(profile.ParamStatus, status))
	}
	ids := []string{NewTest(api).ID(), with(nil), with(Paused), with(Completed)}
	listed := ListShowing(api, api.Request(), ids...)
	for _, id := range ids { // other rows do not count while they are new
		if row := listed.Row(id); row["status"] != nil {
			byStatus := api.Request().WithQuery(profile.ParamStatus, fmt.Sprint(row["status"]))
			api.For(spec.FilterStatusMissing).Expect(ListShowing(api, byStatus, id)).To(ShowRow(id, "the new test"))
		}
	}
	for _, f := range oracle.Filters(spec.ListPlacementTests) {
		if f.Key == profile.ParamStatus {
			expectFilter(api, f)
		}
	}
}

// filterTrial is a walk through each use of a filter, between two unfiltered walks.
type filterTrial struct {
	before, after Walk
	uses          []triedUse
}

// triedUse is a walk through a use of the filter, also together with other parameters.
type triedUse struct {
	use   oracle.Use
	whole bool // the walk goes to the end, so that all that the use selects must show
	walk  Walk // no page if it is refused
}

// tryFilter walks the list without the filter, with it, and without it again: only rows
// that both unfiltered walks show alike are expected or ruled out.
func tryFilter(api *API, list Call, f oracle.Filter, unfiltered func(*API, Call) Walk) filterTrial {
	tried := filterTrial{before: unfiltered(api, list)}
	whole, named := oracle.List{Operation: list.Operation, Rows: tried.before.Rows()}, Named(api, list.Operation.ID)
	var work []func()
	try := func(u oracle.Use, whole bool, walk func() Walk) {
		i := len(tried.uses)
		tried.uses = append(tried.uses, triedUse{use: u, whole: whole})
		work = append(work, func() { tried.uses[i].walk = walk() })
	}
	for _, u := range f.Uses(whole.Rows, handful) {
		k := FilteredBy(api, list, u.Query)
		try(u, true, func() Walk { return api.Read(k) })
	}
	if len(work) == 0 {
		api.NotAssessed("rows of %s with values to filter by", list.Operation.ID)
	}
	ask := func(u oracle.Use, q oracle.Query) { try(u, false, func() Walk { return Ask(api, list, q).Walk }) }
	for _, u := range whole.Flagged(f, handful, named) {
		ask(u, u.BeyondFirst(whole.Rows))
	}
	for _, u := range whole.Beside(f, handful, named) {
		ask(u, oracle.Query{Parameters: u.Query, Sizes: []int{MaxLimit}, Pages: 1})
	}
	for _, b := range whole.BesideBeyond(f, handful, named) {
		ask(b.Use, b.Query)
	}
	for _, u := range whole.Alone(f, handful) { // a server may want both ends
		q := oracle.Query{Parameters: u.Query, Sizes: []int{MaxLimit}, Pages: oracle.WholeWalk}
		try(u, true, func() Walk { return Ask(api, list.MayBeRefused(), q).Walk })
	}
	api.Together(work...)
	tried.after = unfiltered(api, list)
	return tried
}

// differs reports whether a use of the filter shows other rows than the requirements say.
func (t filterTrial) differs(f oracle.Filter) bool {
	return slices.ContainsFunc(t.uses, func(tried triedUse) bool {
		if !tried.whole || !tried.walk.Complete() {
			return len(strangers(f.Extra(), tried.use, tried.walk)) > 0
		}
		return slices.ContainsFunc(f.Requirements, func(id spec.ID) bool {
			fits, err := SelectRows(id, tried.use, t.before, t.after).Match(tried.walk)
			return err == nil && !fits
		})
	})
}

// SelectRows matches a filtered walk that shows every row that the requirement
// includes, and no row that it excludes. Rows that changed between the unfiltered
// walks are left out.
func SelectRows(id spec.ID, u oracle.Use, before, after Walk) types.GomegaMatcher {
	return OnWalk("show the rows that the filter selects, and no others", func(w Walk) Verdict {
		var found Verdict
		shown, later := w.Keys(), map[string]paging.Row{}
		for _, row := range after.Rows() {
			later[row.Key] = row
		}
		for _, row := range before.Rows() {
			requirement, in := u.Says(row)
			again, still := later[row.Key]
			if requirement != id || !still {
				continue
			}
			if r, sameIn := u.Says(again); r != requirement || sameIn != in {
				continue
			}
			found.Assessed++
			if in && shown[row.Key] == 0 {
				found.Add(Found(w.At(0), "/items", "the row "+Shorten(row.Key)+", which the unfiltered list shows",
					fmt.Sprintf("%d rows without it", len(w.Rows()))))
			}
		}
		found.Add(strangers(id, u, w)...)
		if found.Assessed == 0 && len(found.Findings) == 0 {
			found.Missing = "rows of which some have the value of the filter, and others do not"
		}
		return found
	})
}

// strangers finds the rows that the requirement excludes from the filtered list;
// "" means any requirement.
func strangers(id spec.ID, u oracle.Use, w Walk) []Finding {
	expected := "only rows that the filter selects: " + u.String()
	var found []Finding
	for i, page := range w.Pages {
		for k, row := range page.Rows {
			if requirement, in := u.Says(row); requirement != "" && !in && (id == "" || requirement == id) {
				found = append(found, Found(w.At(i), PointerIn(k), expected, u.Part(row.Value)))
			}
		}
	}
	return found
}

// walkFiltered walks the list through each filter: in thirds by the value that selects the
// most rows, and in small pages by one that selects few.
func walkFiltered(api *API) {
	list := api.Request()
	rows := Shared(api, list).Rows()
	var walked []filteredWalks
	var work []func()
	walk := func(uses []oracle.Use, sizes func(rows int) paging.Sizes) {
		i := len(walked)
		walked = append(walked, filteredWalks{})
		work = append(work, func() { walked[i] = walkThrough(api, list, uses, sizes) })
	}
	for _, f := range oracle.Filters(list.Operation.ID) {
		if f.Kind == spec.AnyOf && Named(api, list.Operation.ID)(f.Key) {
			expectOnce(api, list, f, rows)
		}
		widest := f.Widest(rows, handful)
		walk(widest, func(rows int) paging.Sizes { return PagesOf(min(MaxLimit-1, (rows+2)/3)) })
		// Few rows: the walk reaches its end in small pages, also in a long list.
		walk(slices.Concat(f.Narrowest(rows, handful), widest), func(int) paging.Sizes { return smallFirst })
	}
	api.Together(work...)
	compared := false
	for _, w := range walked {
		if len(w.walks) > 0 {
			expectSameFiltered(api, w.use, w.walks)
			compared = true
		}
	}
	if !compared {
		api.NotAssessed("a filter of %s that selects several rows", list.Operation.ID)
	}
}

// smallFirst asks for single rows, then for 3 at a time, one page after another. The largest
// pages take it to the end of a long list.
func smallFirst(page int) int {
	switch {
	case page < 4:
		return 1
	case page < 12:
		return 3
	default:
		return MaxLimit
	}
}

// filteredWalks are walks through one use of a filter.
type filteredWalks struct {
	use   oracle.Use
	walks []Walk
}

// walkThrough walks the list through the first of the uses that selects several rows: in
// the largest pages, in other sizes, and in the largest pages again.
func walkThrough(api *API, list Call, uses []oracle.Use, sizes func(rows int) paging.Sizes) filteredWalks {
	const several = 2
	for _, u := range uses {
		k, ok := KnownFilter(api, list, u.Query)
		if !ok {
			continue
		}
		first := api.Walk(k, PagesOf(MaxLimit))
		n := len(first.Rows())
		if n < several {
			continue
		}
		return filteredWalks{u, []Walk{first, api.Walk(k, sizes(n)), api.Walk(k, PagesOf(MaxLimit))}}
	}
	return filteredWalks{}
}

func expectSameFiltered(api *API, u oracle.Use, walks []Walk) {
	for _, walk := range walks {
		if !api.Expect(walk).To(EndFiltered(api.MostPages())) {
			return
		}
	}
	for i, walk := range walks {
		api.Expect(walk).To(ShowEveryRowOnceAmong(walks, i))
		api.Expect(walk).To(ShowTheRows(MissingFrom(api, walks, i)))
		api.Expect(walk).To(ShowTheOrderOf(walks[0]))
		if spec.Has(spec.PageOrder.On(walk.List.Operation.ID)) {
			api.Expect(walk).To(BeSortedByID(""))
		}
		api.Expect(walk).To(ShowNoStrangers("", u))
		api.Expect(walk).To(RespectLimits())
	}
}

// EndFiltered matches a filtered walk that ends.
func EndFiltered(maxPages int) types.GomegaMatcher {
	return OnWalk("let the filtered walk end", func(w Walk) Verdict {
		switch w.End {
		case paging.Done:
			return Verdict{Assessed: 1}
		case paging.Broken, paging.Capped:
			return Verdict{Missing: w.Unread(maxPages)}
		default:
			return Verdict{Assessed: 1, Findings: []Finding{Found(w.Last(), "/next_starting_after", "a walk that ends", string(w.End))}}
		}
	})
}

// ShowNoStrangers matches a filtered walk without rows that the filter leaves out.
func ShowNoStrangers(id spec.ID, u oracle.Use) types.GomegaMatcher {
	return OnWalk("show no row that the filter leaves out", func(w Walk) Verdict {
		found := Verdict{Assessed: 1}
		found.Add(strangers(id, u, w)...)
		return found
	})
}
