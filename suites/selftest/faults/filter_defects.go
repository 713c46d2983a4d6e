package faults

import (
	"net/url"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// filterDefects break the filters. They use only what the target shows with and
// without the filter: they do not know what it selects.
func filterDefects() []Defect {
	var defects []Defect
	for _, f := range filterTable {
		defects = append(defects, f.defects()...)
	}
	return slices.Concat(defects, partDefects(), filteredWalkDefects(), droppedFilterDefects(), smallPageDefects(), keptSearchDefects(), []Defect{emailAloneDefect()},
		searchedPartDefects(), idListDefects(), []Defect{dayCutAloneDefect()})
}

// emailAloneDefect leaves the names of members out of a search.
func emailAloneDefect() Defect {
	const operation = spec.ListMembers
	return Defect{operation + "/search-by-email-alone", spec.Pair{Requirement: "FILTER-SEARCH_MEMBER-MISSING", Operation: operation},
		"does not look at names, in the filter by email",
		func(a *Target) Middleware {
			name := a.parameter(operation, profile.ParamSearch)
			return a.paged(operation, paging{before: func(s *page) {
				term := strings.ToLower(s.request.Query.Get(name))
				s.list = slices.DeleteFunc(slices.Clone(s.list), func(r listRow) bool { return !strings.Contains(strings.ToLower(r.text("email")), term) })
			}})
		}}
}

// searchedPartDefects find a URL or an email address by one of its parts.
func searchedPartDefects() []Defect {
	before := func(sign string) func(string) string {
		return func(text string) string {
			part, _, _ := strings.Cut(text, sign)
			return part
		}
	}
	pathOf := func(text string) string {
		u, err := url.Parse(text)
		if err != nil || len(u.Path) < 2 {
			return ""
		}
		return u.RequestURI()
	}
	isPart := func(value string) bool { return given(value) && !isURL(value) && !isEmail(value) }
	var defects []Defect
	for _, d := range []struct {
		name, what, field string
		is                func(value string) bool
		part              func(text string) string
	}{
		{"bare-domain", "domain", "webhook_url", isPart, domainOf},
		{"bare-domain", "domain", "lead_email", isPart, domainOf},
		{"local-part", "part before the @", "lead_email", isPart, before("@")},
		{"path", "path", "webhook_url", isPart, pathOf},
		{"url-without-query", "part before the query", "webhook_url", isURL, before("?")},
	} {
		f := filterTable[slices.IndexFunc(filterTable, func(f filter) bool { return f.kind == whole && f.field == d.field })]
		f.is = d.is
		defects = append(defects, f.showsExtra("by-"+d.name, "shows every row whose "+d.what+" is searched for, in the filter by "+f.field,
			func(a *Target) Middleware {
				name := a.parameter(f.operation, f.meaning)
				return a.paged(f.operation, paging{before: func(s *page) {
					f.apply(s, name, func(chosen *selection) []listRow {
						return chosen.adding(chosen.matching(func(text string) bool { return d.part(text) == chosen.value })...)
					})
				}})
			}))
	}
	return defects
}

// idListDefects misread an id that stands twice in the list.
func idListDefects() []Defect {
	const list = spec.ListTagMappings
	ids := func(a *Target, r Request) []string {
		return strings.Split(r.Query.Get(a.parameter(list, profile.ParamResourceIDs)), ",")
	}
	return []Defect{
		breakingWith("FILTER-WALK", list, "resources-repeated", "shows rows twice if their id stands twice in the list", func(a *Target) Middleware {
			return a.paged(list, paging{before: func(s *page) {
				given := ids(a, s.request)
				if len(given) < 2 || given[0] != given[1] {
					s.size = 0
					return
				}
				var twice []listRow
				for _, row := range s.list {
					twice = append(twice, row, row)
				}
				s.list = twice
			}})
		}),
	}
}

// dayCutAloneDefect ends a window without a start at the beginning of its last day.
func dayCutAloneDefect() Defect {
	const list = spec.ListPlacementReports
	f := filterTable[slices.IndexFunc(filterTable, func(f filter) bool { return f.operation == list && f.kind == toTime })]
	return breakingWith("FILTER-WINDOW-END-MISSING", list, f.name+"-cut-to-the-day-alone", "ends a window without a start at the beginning of its last day",
		func(a *Target) Middleware {
			start, end := a.parameter(list, profile.ParamWindowStart), a.parameter(list, profile.ParamWindowEnd)
			return a.paged(list, paging{before: func(s *page) {
				if s.request.Query.Has(start) {
					s.size = 0
					return
				}
				f.apply(s, end, func(chosen *selection) []listRow {
					return chosen.dropping(func(r listRow) bool { return dayOf(r.text(f.field)) == dayOf(chosen.value) })
				})
			}})
		})
}

// filter is one filter of one list.
type filter struct {
	operation   string
	requirement string // the middle of FILTER-…-EXTRA and FILTER-…-MISSING
	name        string // in the ids of defects
	meaning     string // of the parameter
	field       string // of the row, which the filter tests
	is          func(value string) bool
	kind        filterKind
	values      []string // all values if they are few
}

// filterKind is the way a filter selects.
type filterKind int

const (
	exactly  filterKind = iota // rows with that value
	listed                     // rows with one of the values in a list
	excluded                   // rows without that value, possibly not all of them
	searched                   // rows in which the text occurs
	whole                      // rows in which a field is exactly the text
	fromTime                   // later rows; rows of exactly that time are open
	toTime                     // earlier rows; rows of exactly that time are open
	fromDay                    // rows of that day and later
	toDay                      // rows of that day and earlier
)

var filterTable = []filter{
	{spec.ListPlacementTests, "SEARCH", "search", profile.ParamSearch, "name", given, searched, nil},
	{spec.ListSubsequences, "SEARCH", "search", profile.ParamSearch, "name", given, searched, nil},
	{spec.ListLeadLabels, "SEARCH", "search", profile.ParamSearch, "label", given, searched, nil},
	{spec.ListLeadLists, "SEARCH", "search", profile.ParamSearch, "name", given, searched, nil},
	{spec.ListMembers, "SEARCH_MEMBER", "search", profile.ParamSearch, "email", given, searched, nil},
	{spec.ListWebhookEvents, "SEARCH_URL", "search-for-url", profile.ParamSearch, "webhook_url", isURL, whole, nil},
	{spec.ListWebhookEvents, "SEARCH_EMAIL", "search-for-email", profile.ParamSearch, "lead_email", isEmail, whole, nil},
	{spec.ListPlacementTests, "STATUS", "status", profile.ParamStatus, "status", given, exactly, []string{"1", "2", "3"}},
	{spec.ListPlacementReports, "TEST", "test", profile.ParamTest, "test_id", given, exactly, nil},
	{spec.ListSubsequences, "PARENT", "campaign", profile.ParamParentCampaign, "parent_campaign", given, exactly, nil},
	{spec.ListSubsequences, "PARENT_NOT", "excluded-campaign", profile.ParamParentCampaignNot, "parent_campaign", given, excluded, nil},
	{spec.ListMembers, "ACCEPTED", "accepted", profile.ParamAccepted, "accepted", given, exactly, []string{"true", "false"}},
	{spec.ListTagMappings, "RESOURCE_IDS", "resources", profile.ParamResourceIDs, "resource_id", given, listed, nil},
	{spec.ListLeadLabels, "INTEREST", "interest", profile.ParamInterestStatus, "interest_status_label", given, exactly,
		[]string{"positive", "neutral", "negative"}},
	{spec.ListLeadLists, "ENRICHMENT", "enrichment", profile.ParamHasEnrichmentTask, "has_enrichment_task", given, exactly,
		[]string{"true", "false"}},
	{spec.ListWebhookEvents, "SUCCESS", "success", profile.ParamSuccess, "success", given, exactly, []string{"true", "false"}},
	{spec.ListPlacementReports, "WINDOW-START", "window-start", profile.ParamWindowStart, "timestamp_created", given, fromTime, nil},
	{spec.ListPlacementReports, "WINDOW-END", "window-end", profile.ParamWindowEnd, "timestamp_created", given, toTime, nil},
	{spec.ListWebhookEvents, "DAYS-START", "first-day", profile.ParamWindowStart, "timestamp_created_date", given, fromDay, nil},
	{spec.ListWebhookEvents, "DAYS-END", "last-day", profile.ParamWindowEnd, "timestamp_created_date", given, toDay, nil},
}

// filterDamage is one error in selecting rows.
type filterDamage struct {
	name, breaks, doc string // breaks completes the requirement's id
	choose            func(*selection) []listRow
}

// selection is the result of a filter and the list that it selects from.
type selection struct {
	filter filter
	value  string
	page   *page
	name   string // of the parameter

	right []listRow // as the target selects
	all   []listRow // without the filter
}

// defects returns a defect for each damage to the filter.
func (f filter) defects() []Defect {
	var defects []Defect
	for _, d := range f.damages() {
		p := spec.Pair{Requirement: "FILTER-" + f.requirement + "-" + d.breaks, Operation: f.operation}
		if !spec.Has(p) {
			continue
		}
		defects = append(defects, Defect{f.operation + "/" + f.name + "-" + d.name, p, d.doc + ", in the filter by " + f.field,
			func(a *Target) Middleware {
				name := a.parameter(f.operation, f.meaning)
				return a.paged(f.operation, paging{before: func(s *page) { f.apply(s, name, d.choose) }})
			}})
	}
	return defects
}

// apply replaces the right rows with the chosen ones. Requests without the filter
// go to the target.
func (f filter) apply(s *page, name string, choose func(*selection) []listRow) {
	value := s.request.Query.Get(name)
	if !f.is(value) {
		s.size = 0
		return
	}
	chosen := &selection{filter: f, value: value, page: s, name: name, right: s.list}
	chosen.all = chosen.with("")
	s.list = choose(chosen)
}

// with returns the target's rows for another value; for "", the unfiltered
// list.
func (s *selection) with(value string) []listRow {
	return s.page.read(func(r Request) Request {
		if value == "" {
			r.Query.Del(s.name)
		} else {
			r.Query.Set(s.name, value)
		}
		return r
	})
}

// wrong returns the rows that the filter excludes.
func (s *selection) wrong() []listRow { return without(s.all, s.right) }

// adding returns the right rows and others in the order of the list.
func (s *selection) adding(others ...listRow) []listRow {
	return among(s.all, slices.Concat(s.right, others))
}

// dropping returns the right rows without the dropped ones.
func (s *selection) dropping(drop func(listRow) bool) []listRow {
	return slices.DeleteFunc(slices.Clone(s.right), drop)
}

// firstHalf returns the first half of the unfiltered list.
func (s *selection) firstHalf() []listRow { return s.all[:len(s.all)/2] }

// filteredWalkDefects break walks of filtered lists only.
func filteredWalkDefects() []Defect {
	const requirement = "FILTER-WALK"
	r, _ := spec.FindRequirement(requirement)
	var defects []Defect
	for _, op := range r.Operations {
		for _, d := range filteredWalkDamages {
			defects = append(defects, Defect{op + "/filtered-" + d.name, spec.Pair{Requirement: requirement, Operation: op},
				d.doc + " when a filter is set",
				func(a *Target) Middleware {
					under := &filtering{a.filtersOf(op)}
					return a.paged(op, paging{
						before: func(s *page) {
							if !under.isSet(s) {
								s.size = 0
								return
							}
							d.before(s, under)
						},
						after: func(s *page) { d.after(s, under) },
					})
				}})
		}
	}
	return defects
}

// smallPageDefects break small pages if one filter is set: they raise a low limit, or filter
// after the page is cut.
func smallPageDefects() []Defect {
	const least = 20
	var defects []Defect
	for _, f := range filterTable {
		p := spec.Pair{Requirement: "FILTER-WALK", Operation: f.operation}
		if f.kind != toTime && f.kind != toDay { // all that such a window leaves out comes last
			defects = append(defects, f.afterCutting())
		}
		defects = append(defects, Defect{f.operation + "/" + f.name + "-limit-raised", p, "shows up to 20 rows for a lower limit, in the filter by " + f.field,
			func(a *Target) Middleware {
				name := a.parameter(f.operation, f.meaning)
				return a.paged(f.operation, paging{before: func(s *page) {
					if s.size = max(s.size, least); !f.is(s.request.Query.Get(name)) {
						s.size = 0
					}
				}})
			}})
	}
	return defects
}

// afterCutting filters after small pages are cut.
func (f filter) afterCutting() Defect {
	const marked = 1
	return breakingWith("FILTER-WALK", f.operation, f.name+"-after-cutting-small-pages",
		"filters each small page of the whole list, and a page without matches ends the walk, in the filter by "+f.field,
		func(a *Target) Middleware {
			under := &filtering{[]string{a.parameter(f.operation, f.meaning)}}
			return a.paged(f.operation, paging{
				before: func(s *page) {
					if s.first && small(s) && f.is(s.request.Query.Get(under.parameters[0])) {
						s.mark = marked
					}
					if s.list = under.whole(s); s.mark != marked {
						s.size = 0
					}
				},
				after: func(s *page) {
					right, _ := s.cache.read(s.request)
					if s.rows = among(s.rows, right); len(s.rows) == 0 {
						endWalk(s)
					}
				}})
		})
}

// filtering distinguishes filtered requests.
type filtering struct{ parameters []string }

// filtersOf returns the names of the operation's parameters that select rows.
func (a *Target) filtersOf(operation string) []string {
	var names []string
	for _, f := range filterTable {
		if f.operation == operation {
			names = append(names, a.parameter(operation, f.meaning))
		}
	}
	return names
}

// isSet reports whether the request sets a filter.
func (f *filtering) isSet(s *page) bool {
	return slices.ContainsFunc(f.parameters, s.request.Query.Has)
}

// whole returns the unfiltered list.
func (f *filtering) whole(s *page) []listRow {
	return s.read(func(r Request) Request {
		for _, name := range f.parameters {
			r.Query.Del(name)
		}
		return r
	})
}

// filteredWalkDamages change a page before and after it is cut.
var filteredWalkDamages = []struct {
	name, doc     string
	before, after func(*page, *filtering)
}{
	{"row-repeated", "starts each page with the last row of the previous page", rightly, plainly(repeatLast)},
	{"row-skipped", "skips a row between two pages", rightly, plainly(skipNext)},
	{"walk-ends-early", "returns no cursor with a small page", rightly, plainly(when(small, endWalk))},
	{"last-page-leads-to-itself", "links the last page to itself", rightly, plainly(when(lastPage, func(s *page) { s.next = s.from }))},
	{"full-last-page-leads-to-itself", "links the last page to itself if the number of rows is a multiple of the limit", rightly,
		plainly(when(both(lastPage, isMultiple), func(s *page) { s.next = s.from }))},
	{"small-pages-backwards", "returns small pages in reverse order", plainly(backwards(small)), rightly},
	{"swapped", "swaps each row with the next one, whatever the size of the pages,",
		func(s *page, _ *filtering) {
			s.list = slices.Clone(s.list)
			for i := 0; i+1 < len(s.list); i += 2 {
				s.list[i], s.list[i+1] = s.list[i+1], s.list[i]
			}
		}, rightly},
	{"after-cutting", "filters each page of the whole list, and a page without matches ends the walk",
		func(s *page, f *filtering) { s.list = f.whole(s) },
		func(s *page, _ *filtering) {
			right, _ := s.cache.read(s.request)
			if s.rows = among(s.rows, right); len(s.rows) == 0 {
				endWalk(s)
			}
		}},
	{"on-first-page-alone", "drops the filter after the first page", forgetFilter, rightly},
	{"limit-ignored", "shows all rows on the first page, whatever the limit,",
		func(s *page, _ *filtering) { s.size = everything }, rightly},
	{"limit-exceeded-by-one", "shows one row more than the limit",
		func(s *page, _ *filtering) { s.size++ }, rightly},
}

func rightly(*page, *filtering) {}

// plainly ignores the filter.
func plainly(do func(*page)) func(*page, *filtering) {
	return func(s *page, _ *filtering) { do(s) }
}
