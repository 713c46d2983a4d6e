package suites

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"

	. "outreach.example/conformance/suites/api"
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

// expectFilter reads the list through the filter. It must show the rows that the filter
// selects, and no others.
func expectFilter(api *API, f oracle.Filter) {
	list := api.Request()
	tried := tryFilter(api, list, f, Shared)
	if tried.differs() { // again: a new row may show later in one view than in another
		api.Eventually(func() bool { // only waits: the verdict follows
			tried = tryFilter(api, list, f, (*API).Read)
			tried.before = Settled(api, tried.before) // other specs create rows meanwhile
			return !tried.differs()
		}).Should(gomega.BeTrue())
	}
	for _, id := range f.Requirements {
		for _, read := range tried.reads {
			api.For(id).Judge(tried.verdict(id, read))
		}
	}
	if f.Kind == spec.Search {
		expectWholeSearch(api, list, f, tried.before)
	}
	for _, id := range f.Requirements {
		if !api.For(id).Judged() {
			api.For(id).Missing("rows of %s that differ in what the filter selects", list.Operation.ID)
		}
	}
}

// filterTrial is what a filter shows between two reads of the whole list.
type filterTrial struct {
	filter        oracle.Filter
	before, after Walk
	reads         []filteredRead
}

// filteredRead is a read of the list through a use of the filter.
type filteredRead struct {
	oracle.Use
	query        oracle.Query // it may have other parameters, too
	mayBeRefused bool
	walk         Walk // no page if it was refused
}

// tryFilter reads the whole list, then through the filter, and whole again.
func tryFilter(api *API, list Call, f oracle.Filter, whole func(*API, Call) Walk) filterTrial {
	tried := filterTrial{filter: f, before: whole(api, list)}
	all := oracle.List{Operation: list.Operation, Rows: tried.before.Rows()}
	tried.reads = Each(api, filteredReads(f, all, Named(api, list.Operation.ID)), func(read filteredRead) filteredRead {
		if read.mayBeRefused {
			read.walk = Ask(api, list.MayBeRefused(), read.query).Walk
		} else {
			read.walk = Ask(api, list, read.query).Walk
			if read.isWhole() {
				Whole(api, read.walk)
			}
		}
		return read
	})
	if len(tried.reads) == 0 {
		api.NotAssessed("rows of %s with values to filter by", list.Operation.ID)
	}
	tried.after = whole(api, list)
	return tried
}

// filteredReads returns the reads that try a filter: alone, beside the flags of the list, and
// beside each other filter, also after the first page.
func filteredReads(f oracle.Filter, list oracle.List, named func(parameter string) bool) (reads []filteredRead) {
	const perPair = 2 // reads beside each other filter
	whole := func(u oracle.Use) oracle.Query {
		return oracle.Query{Parameters: u.Query, Sizes: []int{spec.MaxLimit}, Pages: oracle.WholeWalk}
	}
	for _, u := range f.Uses(list.Rows, handful) {
		reads = append(reads, filteredRead{Use: u, query: whole(u)})
	}
	for _, u := range list.Alone(f, handful) { // a server may want both ends of a window
		reads = append(reads, filteredRead{Use: u, query: whole(u), mayBeRefused: true})
	}
	for _, u := range list.Flagged(f, handful, named) {
		reads = append(reads, filteredRead{Use: u, query: u.BeyondFirst(list.Rows)})
	}
	for _, u := range list.Beside(f, perPair, named) {
		reads = append(reads, filteredRead{Use: u, query: oracle.Query{Parameters: u.Query, Sizes: []int{spec.MaxLimit}, Pages: 1}})
	}
	for _, b := range list.BesideBeyond(f, perPair, named) {
		reads = append(reads, filteredRead{Use: b.Use, query: b.Query})
	}
	return reads
}

// isWhole reports whether the read goes to the end, so that all selected rows must show.
func (r filteredRead) isWhole() bool { return r.query.Pages == oracle.WholeWalk }

// differs reports whether a read shows other rows than the requirements say.
func (t filterTrial) differs() bool {
	return slices.ContainsFunc(t.reads, func(read filteredRead) bool {
		return slices.ContainsFunc(t.filter.Requirements, func(id spec.ID) bool { return len(t.verdict(id, read).Findings) > 0 })
	})
}

// verdict judges a read by one requirement of the filter. Only a whole one can lack rows.
func (t filterTrial) verdict(id spec.ID, read filteredRead) Verdict {
	switch {
	case read.isWhole() && read.walk.Complete():
		return selectedRows(id, read.Use, read.walk, t.before, t.after)
	case id == t.filter.Extra() && len(read.walk.Pages) > 0:
		return strangers("", read.Use, read.walk)
	}
	return Verdict{}
}

// selectedRows judges that a filtered walk shows each row that the requirement includes, and
// none that it excludes. Rows that changed between the unfiltered walks do not count.
func selectedRows(id spec.ID, u oracle.Use, filtered, before, after Walk) Verdict {
	found := strangers(id, u, filtered)
	found.Assessed = len(found.Findings)
	shown, later := filtered.Keys(), after.ByKey()
	for _, row := range before.Rows() {
		requirement, in := u.Says(row)
		still, stillIn := u.Says(paging.Row{Key: row.Key, Value: later[row.Key]})
		if requirement != id || still != id || in != stillIn || later[row.Key] == nil {
			continue
		}
		found.Assessed++
		if in && shown[row.Key] == 0 {
			found.Add(Found(filtered.At(0), "/items", "the row "+Shorten(row.Key)+", which the unfiltered list shows",
				fmt.Sprintf("%d rows without it", len(filtered.Rows()))))
		}
	}
	if found.Assessed == 0 {
		found.Missing = "rows of which some have the value of the filter, and others do not"
	}
	return found
}

// strangers judges that a filtered walk shows no row that the requirement excludes; "" means
// any requirement.
func strangers(id spec.ID, u oracle.Use, filtered Walk) Verdict {
	found := Verdict{Assessed: 1}
	for p, page := range filtered.Pages {
		for i, row := range page.Rows {
			if requirement, in := u.Says(row); requirement != "" && !in && (id == "" || requirement == id) {
				found.Add(Found(filtered.At(p), PointerIn(i), "only rows that the filter selects: "+u.String(), u.Part(row.Value)))
			}
		}
	}
	return found
}

// filtersNewTests filters by status while there are tests that were created without one,
// with null, and with each that sends no email. A server may file a new test under another status
// than it shows.
func filtersNewTests(api *API) {
	with := func(status any) string {
		return api.Do(api.RequestAs(dataset.Main, spec.CreatePlacementTest).WithField("status", status)).ID()
	}
	byStatus := func(status any) Call { return api.Request().WithQuery(profile.ParamStatus, fmt.Sprint(status)) }
	for _, status := range []int{1, 2, 3} { // a server may cache what a filter found
		api.Read(byStatus(status))
	}
	ids := []string{NewTest(api).ID(), with(nil), with(Paused), with(Completed)}
	listed := ListShowing(api, api.Request(), ids...)
	for _, id := range ids { // other rows do not count while they are new
		if row := listed.Row(id); row["status"] != nil {
			api.For(spec.FilterStatusMissing).Expect(ListShowing(api, byStatus(row["status"]), id)).To(ShowRow(id, "the new test"))
		}
	}
	for _, f := range oracle.Filters(spec.ListPlacementTests) {
		if f.Key == profile.ParamStatus {
			expectFilter(api, f)
		}
	}
}

// walkFiltered walks the list through each filter in several page sizes. The walks must agree.
func walkFiltered(api *API) {
	list := api.Request()
	rows := Shared(api, list).Rows()
	walked := Each(api, oracle.Filters(list.Operation.ID), func(f oracle.Filter) filteredWalks {
		if f.Kind == spec.AnyOf && Named(api, list.Operation.ID)(f.Key) {
			expectOnce(api, list, f, rows)
		}
		// Few rows first: the walk reaches its end in small pages, also in a long list.
		return walkThrough(api, list, slices.Concat(f.Narrowest(rows, handful), f.Widest(rows, handful)))
	})
	for _, w := range walked {
		if len(w.walks) == 0 { // the filter selects fewer than two rows
			continue
		}
		judgeWalks(api, w.walks, func(spec.ID) Requirement { return api.For(spec.FilterWalk) })
		for _, walk := range w.walks {
			api.For(spec.FilterWalk).Judge(strangers("", w.use, walk))
		}
	}
	if !api.For(spec.FilterWalk).Judged() {
		api.NotAssessed("a filter of %s that selects several rows", list.Operation.ID)
	}
}

// filteredWalks are walks through one use of a filter, one after the other.
type filteredWalks struct {
	use   oracle.Use
	walks []Walk
}

// walkThrough walks the list through the first of the uses that selects several rows: in the
// largest pages, in small ones, and in the largest again.
func walkThrough(api *API, list Call, uses []oracle.Use) filteredWalks {
	for _, u := range uses {
		k, ok := KnownFilter(api, list, u.Query)
		if !ok {
			continue
		}
		before := api.Walk(k, PagesOf(spec.MaxLimit))
		if n := len(before.Rows()); n >= 2 {
			return filteredWalks{u, []Walk{before, api.Walk(k, singlesAround(n, 2, 3, n/3)), api.Walk(k, PagesOf(spec.MaxLimit))}}
		}
	}
	return filteredWalks{}
}
