package oracle

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Filter is one filter of one list: it selects rows by query parameters (section
// Endpoints).
type Filter struct {
	Title        string    // completes "the operation …"
	Requirements []spec.ID // that speak of its rows
	Parameter    string    // key of the parameter whose value decides
	Field        string    // of a row that decides; a search reads others, too

	// queries returns at most so many uses of each kind, made from the rows of an
	// unfiltered walk: key of the parameter → value.
	queries func(rows []paging.Row, most int) []map[string]string
	// says returns the requirement that speaks of the row, and whether the row must be in
	// the filtered list or out of it; "" if nothing is said.
	says func(query map[string]string, row paging.Row) (requirement spec.ID, in bool)
}

// alongside reports whether both filters are one: they have the same parameter, or are the
// ends of a window.
func (f Filter) alongside(other Filter) bool {
	window := func(f Filter) bool {
		return f.Parameter == profile.ParamWindowStart || f.Parameter == profile.ParamWindowEnd
	}
	return f.Parameter == other.Parameter || window(f) && window(other)
}

// Use is one use of a filter.
type Use struct {
	Query map[string]string // key of the parameter → value
	field string
	says  func(query map[string]string, row paging.Row) (requirement spec.ID, in bool)
}

// Says returns the requirement that speaks of the row, and whether the row must be in the
// filtered list or out of it; "" if the specification says nothing of the row.
func (u Use) Says(row paging.Row) (requirement spec.ID, in bool) { return u.says(u.Query, row) }

// String shows the query.
func (u Use) String() string { return shownQuery(u.Query) }

// Part shows what of a row decides whether the filter selects it.
func (u Use) Part(row map[string]any) string { return part(row, u.field) }

// shownQuery shows the parameters by their keys.
func shownQuery(parameters map[string]string) string {
	var shown []string
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		shown = append(shown, key+"="+schemas.Shorten(parameters[key], maxShown))
	}
	return strings.Join(shown, ", ")
}

// part shows the id and some fields of a row.
func part(row map[string]any, fields ...string) string {
	shown := map[string]any{}
	for _, field := range append(fields, "id") {
		if value, ok := row[field]; ok {
			shown[field] = value
		}
	}
	return "the row " + show(shown)
}

// with returns the use with more parameters.
func (u Use) with(parameters map[string]string) Use {
	u.Query = add(u.Query, parameters)
	return u
}

// BeyondFirst returns a query that shows whether the target heeds the use after the first
// page, too. It goes one page further than the rows that the use may select.
func (u Use) BeyondFirst(rows []paging.Row) Query {
	const pages = 3
	size := min(maxLimit, (u.reach(rows).open+pages-1)/pages)
	return Query{Parameters: u.Query, Sizes: []int{max(1, size)}, Pages: pages + 1}
}

// Extra returns the requirement that a row breaks which the filter leaves out.
func (f Filter) Extra() spec.ID { return f.Requirements[len(f.Requirements)-1] }

// Uses returns at most so many uses of each kind, made from the rows of an unfiltered walk.
func (f Filter) Uses(rows []paging.Row, most int) []Use {
	var uses []Use
	for _, query := range f.queries(rows, most) {
		uses = append(uses, Use{query, f.Field, f.says})
	}
	return uses
}

// By returns the use of the filter by the value.
func (f Filter) By(value string) Use {
	return Use{map[string]string{f.Parameter: value}, f.Field, f.says}
}

// Widest returns the uses of the filter that may select the most rows without selecting
// all, the widest first. Those that leave out a row between others or after the first that
// they select come before the rest: a server that drops them after a page shows that row.
func (f Filter) Widest(rows []paging.Row, most int) []Use {
	reaches := map[string]reach{} // by value
	uses := slices.DeleteFunc(f.Uses(rows, most), func(u Use) bool {
		r := u.reach(rows)
		reaches[u.Query[f.Parameter]] = r
		return r.open == len(rows)
	})
	slices.SortStableFunc(uses, func(a, b Use) int {
		one, other := reaches[a.Query[f.Parameter]], reaches[b.Query[f.Parameter]]
		return cmp.Or(other.later-one.later, other.open-one.open)
	})
	return uses
}

// Foreign returns at most so many uses of the filter by values of the rows of another
// workspace, which may select one of them. Those that may select the fewest of the own rows
// come first.
func (f Filter) Foreign(rows, own []paging.Row, most int) []Use {
	uses := slices.DeleteFunc(f.Uses(rows, most), func(u Use) bool { return u.reach(rows).open == 0 })
	slices.SortStableFunc(uses, func(a, b Use) int { return a.reach(own).open - b.reach(own).open })
	return uses[:min(most, len(uses))]
}

// extremes returns the narrowest use and the one that may select the most rows without
// selecting all. A search selects more by the second.
func (f Filter) extremes(rows []paging.Row, most int) []Use {
	widest := f.Widest(rows, most)
	narrowest := f.Narrowest(rows, most)
	if len(narrowest) == 0 {
		return widest[:min(len(widest), 1)]
	}
	return append(narrowest, widest[slices.IndexFunc(widest, func(u Use) bool { return u.reach(rows).open >= 2 })])
}

// Narrowest returns the use that may select the fewest rows, but two, and leaves out more of
// the rows that follow; none if fewer than two uses may select that many.
func (f Filter) Narrowest(rows []paging.Row, most int) []Use {
	several := slices.DeleteFunc(f.Widest(rows, most), func(u Use) bool { return u.reach(rows).open < 2 })
	if len(several) < 2 {
		return nil
	}
	return []Use{slices.MinFunc(several, func(a, b Use) int {
		one, other := a.reach(rows), b.reach(rows)
		return cmp.Or(other.later-one.later, one.open-other.open)
	})}
}

// reach says how many rows a use may select, and whether it leaves out a row after the first
// of them (1), also one between two of them (2).
type reach struct{ open, later int }

func (u Use) reach(rows []paging.Row) reach {
	var r reach
	for _, row := range rows {
		if requirement, in := u.Says(row); in || requirement == "" {
			r.open++
			r.later *= 2
		} else if r.open > 0 {
			r.later = max(1, r.later)
		}
		r.later = min(r.later, 2)
	}
	return r
}

// Filters returns the filters of the list that select rows, as the section Endpoints
// gives them. Flags leave out parts of a row instead (Parts).
func Filters(list string) []Filter { return filters[list] }

var filters = map[string][]Filter{
	spec.ListPlacementTests: {
		searchBy("name"),
		exactly(spec.FilterStatusMissing, spec.FilterStatusExtra, profile.ParamStatus, "status", "1", "2", "3"),
	},
	spec.ListPlacementReports: {
		exactly(spec.FilterTestMissing, spec.FilterTestExtra, profile.ParamTest, "test_id"),
		windowStart(),
		windowEnd(),
	},
	spec.ListSubsequences: {
		searchBy("name"),
		exactly(spec.FilterParentMissing, spec.FilterParentExtra, profile.ParamParentCampaign, "parent_campaign"),
		excludedParent(),
	},
	spec.ListMembers: {
		searchMembers(),
		exactly(spec.FilterAcceptedMissing, spec.FilterAcceptedExtra, profile.ParamAccepted, "accepted", "true", "false"),
	},
	spec.ListTagMappings: {resourceIDs()},
	spec.ListLeadLabels: {
		searchBy("label"),
		exactly(spec.FilterInterestMissing, spec.FilterInterestExtra, profile.ParamInterestStatus, "interest_status_label", "positive", "neutral", "negative"),
	},
	spec.ListLeadLists: {
		searchBy("name"),
		exactly(spec.FilterEnrichmentMissing, spec.FilterEnrichmentExtra, profile.ParamHasEnrichmentTask, "has_enrichment_task", "true", "false"),
	},
	spec.ListWebhookEvents: {
		exactly(spec.FilterSuccessMissing, spec.FilterSuccessExtra, profile.ParamSuccess, "success", "true", "false"),
		searchExactly(spec.FilterSearchURLMissing, spec.FilterSearchURLExtra, "webhook_url", "lead_email"),
		searchExactly(spec.FilterSearchEmailMissing, spec.FilterSearchEmailExtra, "lead_email", "webhook_url"),
		daysStart(),
		daysEnd(),
	},
}

// exactly filters by the whole value of one field. The values are those that the
// specification lists; any, if it lists none. A server may refuse another value, even if a
// row shows it.
func exactly(missing, extra spec.ID, parameter, field string, listed ...string) Filter {
	return Filter{"filters by " + field, []spec.ID{missing, extra}, parameter, field,
		func(rows []paging.Row, most int) []map[string]string {
			usable := slices.DeleteFunc(slices.Clone(rows), func(row paging.Row) bool {
				return len(listed) > 0 && !slices.Contains(listed, Scalar(row.Value[field]))
			})
			return each(parameter, Distinct(usable, field, most))
		},
		func(query map[string]string, row paging.Row) (spec.ID, bool) {
			if Scalar(row.Value[field]) == query[parameter] {
				return missing, true
			}
			return extra, false
		}}
}

// each returns a query for each value.
func each(parameter string, values []string) []map[string]string {
	var queries []map[string]string
	for _, value := range values {
		queries = append(queries, map[string]string{parameter: value})
	}
	return queries
}

// excludedParent excludes a campaign. The specification leaves open which of the
// others' subsequences are "reusable", so none of them is expected.
func excludedParent() Filter {
	const parameter, field = profile.ParamParentCampaignNot, "parent_campaign"
	return Filter{"excludes a campaign", []spec.ID{spec.FilterParentNotExtra}, parameter, field,
		func(rows []paging.Row, most int) []map[string]string {
			return each(parameter, Distinct(rows, field, most))
		},
		func(query map[string]string, row paging.Row) (spec.ID, bool) {
			if Scalar(row.Value[field]) == query[parameter] {
				return spec.FilterParentNotExtra, false
			}
			return "", false
		}}
}

// Contradicts reports whether the query lists the subsequences of the campaign that it
// excludes.
func Contradicts(query map[string]string) bool {
	campaign := query[profile.ParamParentCampaign]
	return campaign != "" && strings.EqualFold(campaign, query[profile.ParamParentCampaignNot])
}

// resourceIDs filters by one resource, and by several in a comma-separated list.
func resourceIDs() Filter {
	const missing, extra = spec.FilterResourceIDSMissing, spec.FilterResourceIDSExtra
	return Filter{"filters by resource ids", []spec.ID{missing, extra}, profile.ParamResourceIDs, "resource_id",
		func(rows []paging.Row, most int) []map[string]string {
			ids := Distinct(rows, "resource_id", most)
			var lists []string
			for n := 1; n <= min(len(ids), manyIDs); n++ {
				lists = append(lists, strings.Join(ids[:n], ","))
			}
			if all := All(rows, "resource_id"); len(all) > len(ids) {
				lists = append(lists, strings.Join(all[:min(len(all), manyIDs)], ","))
			}
			return each(profile.ParamResourceIDs, lists)
		},
		func(query map[string]string, row paging.Row) (spec.ID, bool) {
			if slices.Contains(strings.Split(query[profile.ParamResourceIDs], ","), Scalar(row.Value["resource_id"])) {
				return missing, true
			}
			return extra, false
		}}
}

// manyIDs is how many UUIDs fit in the value of a parameter that a run sends.
const manyIDs = 6

// Part is a part of a row that a flag leaves out (section Endpoints, reports).
type Part struct {
	Parameter, Field string
	Skips, Keeps     spec.ID
}

// Parts returns the parts of the list's rows that flags leave out.
func Parts(list string) []Part {
	if list != spec.ListPlacementReports {
		return nil
	}
	return []Part{
		{profile.ParamSkipSpamAssassin, "spam_assassin_report", spec.FilterSkipSpamAssassinTrue, spec.FilterSkipSpamAssassinDefault},
		{profile.ParamSkipBlacklist, "blacklist_report", spec.FilterSkipBlacklistTrue, spec.FilterSkipBlacklistDefault},
	}
}
