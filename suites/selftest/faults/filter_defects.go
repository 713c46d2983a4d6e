package faults

import (
	"slices"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// filterDefects break the filters. What the target shows with the filter and
// without it is enough to do so: the faults know of no filter what it selects,
// only that some rows are in and others are not.
func filterDefects() []Defect {
	var defects []Defect
	for _, f := range filterTable {
		defects = append(defects, f.defects()...)
	}
	return slices.Concat(defects, partDefects(), filteredWalkDefects())
}

// filter is one filter of one list.
type filter struct {
	operation   string
	requirement string // what FILTER-…-EXTRA and FILTER-…-MISSING have in common
	name        string // in the ids of defects
	meaning     string // of the parameter
	field       string // of the row, which the filter is about
	is          func(value string) bool
	kind        filterKind
	values      []string // all there are, where they are few
}

// filterKind is how a filter selects.
type filterKind int

const (
	exactly  filterKind = iota // rows with that value
	listed                     // rows with one of the values in a list
	excluded                   // rows without that value, and perhaps not all of them
	searched                   // rows in which the text occurs
	whole                      // rows in which a field is exactly the text
	fromTime                   // rows of that time and later; the time itself is left open
	toTime                     // rows of that time and earlier; the time itself is left open
	fromDay                    // rows of that day and later
	toDay                      // rows of that day and earlier
)

var filterTable = []filter{
	{spec.ListPlacementTests, "SEARCH", "search", profile.MeaningSearch, "name", given, searched, nil},
	{spec.ListSubsequences, "SEARCH", "search", profile.MeaningSearch, "name", given, searched, nil},
	{spec.ListLeadLabels, "SEARCH", "search", profile.MeaningSearch, "label", given, searched, nil},
	{spec.ListLeadLists, "SEARCH", "search", profile.MeaningSearch, "name", given, searched, nil},
	{spec.ListMembers, "SEARCH_MEMBER", "search", profile.MeaningSearch, "email", given, searched, nil},
	{spec.ListWebhookEvents, "SEARCH_URL", "search-for-url", profile.MeaningSearch, "webhook_url", isURL, whole, nil},
	{spec.ListWebhookEvents, "SEARCH_EMAIL", "search-for-email", profile.MeaningSearch, "lead_email", isEmail, whole, nil},
	{spec.ListPlacementTests, "STATUS", "status", profile.MeaningStatus, "status", given, exactly, []string{"1", "2", "3"}},
	{spec.ListPlacementReports, "TEST", "test", profile.MeaningTest, "test_id", given, exactly, nil},
	{spec.ListSubsequences, "PARENT", "campaign", profile.MeaningParentCampaign, "parent_campaign", given, exactly, nil},
	{spec.ListSubsequences, "PARENT_NOT", "excluded-campaign", profile.MeaningParentCampaignNot, "parent_campaign", given, excluded, nil},
	{spec.ListMembers, "ACCEPTED", "accepted", profile.MeaningAccepted, "accepted", given, exactly, []string{"true", "false"}},
	{spec.ListTagMappings, "RESOURCE_IDS", "resources", profile.MeaningResourceIDs, "resource_id", given, listed, nil},
	{spec.ListLeadLabels, "INTEREST", "interest", profile.MeaningInterestStatus, "interest_status_label", given, exactly, []string{"positive", "neutral", "negative"}},
	{spec.ListLeadLists, "ENRICHMENT", "enrichment", profile.MeaningHasEnrichmentTask, "has_enrichment_task", given, exactly, []string{"true", "false"}},
	{spec.ListWebhookEvents, "SUCCESS", "success", profile.MeaningSuccess, "success", given, exactly, []string{"true", "false"}},
	{spec.ListPlacementReports, "WINDOW-START", "window-start", profile.MeaningWindowStart, "timestamp_created", given, fromTime, nil},
	{spec.ListPlacementReports, "WINDOW-END", "window-end", profile.MeaningWindowEnd, "timestamp_created", given, toTime, nil},
	{spec.ListWebhookEvents, "DAYS-START", "first-day", profile.MeaningWindowStart, "timestamp_created_date", given, fromDay, nil},
	{spec.ListWebhookEvents, "DAYS-END", "last-day", profile.MeaningWindowEnd, "timestamp_created_date", given, toDay, nil},
}

// filterDamage is one thing done wrongly in selecting rows.
type filterDamage struct {
	name, breaks, doc string // breaks is the end of the requirement's id
	choose            func(*selection) []listRow
}

// selection is what a filter selects, and what it selects from.
type selection struct {
	filter filter
	value  string
	page   *page
	name   string // of the parameter

	right []listRow // as the target selects
	all   []listRow // without the filter
}

// defects makes a defect of each damage that can be done to the filter.
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

// apply puts the chosen rows in the place of the right ones; requests without
// the filter are the target's.
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

// with returns what the target shows for another value; for none, the list
// without the filter.
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

// wrong are the rows that the filter leaves out.
func (s *selection) wrong() []listRow { return without(s.all, s.right) }

// adding returns the right rows and others, in the order of the list.
func (s *selection) adding(others ...listRow) []listRow {
	return among(s.all, slices.Concat(s.right, others))
}

// dropping returns the right rows that are not said to be dropped.
func (s *selection) dropping(drop func(listRow) bool) []listRow {
	return slices.DeleteFunc(slices.Clone(s.right), drop)
}

// firstHalf are the rows of the first half of the unfiltered list.
func (s *selection) firstHalf() []listRow { return s.all[:len(s.all)/2] }
