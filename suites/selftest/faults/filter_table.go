package faults

import (
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// filter is one filter of one list.
type filter struct {
	operation string
	word      string // the middle of FILTER-…-EXTRA and FILTER-…-MISSING
	key       string // of the parameter
	field     string // of the row, which the filter tests
	kind      filterKind
	values    []string // all values if they are few
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
	{spec.ListPlacementTests, "SEARCH", profile.ParamSearch, "name", searched, nil},
	{spec.ListSubsequences, "SEARCH", profile.ParamSearch, "name", searched, nil},
	{spec.ListLeadLabels, "SEARCH", profile.ParamSearch, "label", searched, nil},
	{spec.ListLeadLists, "SEARCH", profile.ParamSearch, "name", searched, nil},
	{spec.ListMembers, "SEARCH_MEMBER", profile.ParamSearch, "email", searched, nil},
	{spec.ListWebhookEvents, "SEARCH_URL", profile.ParamSearch, "webhook_url", whole, nil},
	{spec.ListWebhookEvents, "SEARCH_EMAIL", profile.ParamSearch, "lead_email", whole, nil},
	{spec.ListPlacementTests, "STATUS", profile.ParamStatus, "status", exactly, []string{"1", "2", "3"}},
	{spec.ListPlacementReports, "TEST", profile.ParamTest, "test_id", exactly, nil},
	{spec.ListSubsequences, "PARENT", profile.ParamParentCampaign, "parent_campaign", exactly, nil},
	{spec.ListSubsequences, "PARENT_NOT", profile.ParamParentCampaignNot, "parent_campaign", excluded, nil},
	{spec.ListMembers, "ACCEPTED", profile.ParamAccepted, "accepted", exactly, []string{"true", "false"}},
	{spec.ListTagMappings, "RESOURCE_IDS", profile.ParamResourceIDs, "resource_id", listed, nil},
	{spec.ListLeadLabels, "INTEREST", profile.ParamInterestStatus, "interest_status_label", exactly, []string{"positive", "neutral", "negative"}},
	{spec.ListLeadLists, "ENRICHMENT", profile.ParamHasEnrichmentTask, "has_enrichment_task", exactly, []string{"true", "false"}},
	{spec.ListWebhookEvents, "SUCCESS", profile.ParamSuccess, "success", exactly, []string{"true", "false"}},
	{spec.ListPlacementReports, "WINDOW-START", profile.ParamWindowStart, "timestamp_created", fromTime, nil},
	{spec.ListPlacementReports, "WINDOW-END", profile.ParamWindowEnd, "timestamp_created", toTime, nil},
	{spec.ListWebhookEvents, "DAYS-START", profile.ParamWindowStart, "timestamp_created_date", fromDay, nil},
	{spec.ListWebhookEvents, "DAYS-END", profile.ParamWindowEnd, "timestamp_created_date", toDay, nil},
}

// filtersIn returns the filters of a list.
func filtersIn(operation string) []filter {
	return slices.DeleteFunc(slices.Clone(filterTable), func(f filter) bool { return f.operation != operation })
}

// filtersOf returns the target's names of the parameters that select rows of a list, or parts
// of them.
func (a *Target) filtersOf(operation string) []string {
	var names []string
	for _, f := range filtersIn(operation) {
		if name, ok := a.Profile.Parameter(operation, f.key); ok {
			names = append(names, name)
		}
	}
	return names
}

// name is the filter's part of ids.
func (f filter) name() string { return slug(f.word) }

// set is a request that uses the filter.
func (f filter) set(x *exchange) bool {
	value := x.param(f.key)
	switch f.field {
	case "webhook_url":
		return strings.Contains(value, "://")
	case "lead_email":
		return strings.Contains(value, "@") && !strings.Contains(value, "://")
	}
	return value != ""
}
