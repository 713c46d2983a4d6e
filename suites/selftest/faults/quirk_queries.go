package faults

import (
	"net/http"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// queryQuirks read query parameters in legal ways.
func queryQuirks() []Quirk {
	unknownCursor := func(id, doc string, apply func(*Target) Middleware) Quirk {
		return Quirk{ID: "query/unknown-cursor-" + id, Allowed: spec.OpenPointUnknownCursor, Doc: doc, Touches: []string{"unknown cursors"},
			Apply: apply}
	}
	window := func(id, doc string, start, end time.Duration) Quirk {
		return Quirk{ID: "query/window-" + id, Allowed: spec.OpenPointWindowEnds, Doc: doc, Touches: []string{"window"},
			Apply: func(a *Target) Middleware {
				return asked(func(r Request) bool { return r.Operation == spec.ListPlacementReports }, func(r *Request) {
					a.shift(r, profile.ParamWindowStart, start)
					a.shift(r, profile.ParamWindowEnd, end)
				})
			}}
	}
	return []Quirk{
		{ID: "query/unknown-refused", Allowed: spec.OpenPointUnknownQuery, Doc: "refuses unknown query parameters",
			Touches: []string{"unknown queries"}, Apply: func(a *Target) Middleware {
				return a.instead(a.hasUnknownQuery, func(Request) Response { return refusal(http.StatusBadRequest) })
			}},
		{ID: "query/invalid-ignored", Allowed: spec.OpenPointInvalidQuery, Doc: "ignores a filter with an invalid value",
			Touches: []string{"invalid queries"}, Apply: func(a *Target) Middleware {
				return asked(isList, func(r *Request) {
					for meaning, valid := range validValues {
						if name, ok := a.Profile.Parameter(r.Operation, meaning); ok && r.Query.Has(name) && !valid.MatchString(r.Query.Get(name)) {
							r.Query.Del(name)
						}
					}
				})
			}},
		unknownCursor("first-page", "shows the first page for an unknown cursor", func(a *Target) Middleware {
			return asked(a.hasOddCursor, func(r *Request) { r.Query.Del(a.cursorName(*r)) })
		}),
		unknownCursor("empty-page", "shows an empty page for an unknown cursor", func(a *Target) Middleware {
			return a.instead(a.hasOddCursor, func(Request) Response { return served(map[string]any{"items": []any{}}) })
		}),
		unknownCursor("404", "answers 404 for an unknown cursor", func(a *Target) Middleware {
			return a.instead(a.hasOddCursor, func(Request) Response { return plain(http.StatusNotFound, "text/plain", "no such page") })
		}),
		{ID: "query/contradiction-refused", Allowed: spec.OpenPointInvalidQuery, Doc: "refuses to list the subsequences of the campaign that the query excludes",
			Touches: []string{"contradictions"}, Apply: func(a *Target) Middleware {
				return a.instead(func(r Request) bool {
					if r.Operation != spec.ListSubsequences {
						return false
					}
					campaign := r.Query.Get(a.parameter(r.Operation, profile.ParamParentCampaign))
					return campaign != "" && campaign == r.Query.Get(a.parameter(r.Operation, profile.ParamParentCampaignNot))
				}, func(Request) Response { return refusal(http.StatusBadRequest) })
			}},
		window("exclusive", "omits reports at both ends of a window", time.Millisecond, -time.Millisecond),
		window("half-open", "omits reports at the end of a window", 0, -time.Millisecond),
	}
}

var trueOrFalse = regexp.MustCompile(`^(true|false)$`)

// validValues are the documented values of filters.
var validValues = map[string]*regexp.Regexp{
	profile.ParamStatus:            regexp.MustCompile(`^[123]$`),
	profile.ParamSortOrder:         regexp.MustCompile(`^(asc|desc)$`),
	profile.ParamInterestStatus:    regexp.MustCompile(`^(positive|neutral|negative)$`),
	profile.ParamAccepted:          trueOrFalse,
	profile.ParamHasEnrichmentTask: trueOrFalse,
	profile.ParamSuccess:           trueOrFalse,
	profile.ParamSkipSpamAssassin:  trueOrFalse,
	profile.ParamSkipBlacklist:     trueOrFalse,
}

func (a *Target) hasUnknownQuery(r Request) bool {
	var known []string
	if isList(r) {
		known = []string{"limit", a.cursorName(r)}
	}
	switch r.Operation {
	case spec.ListPlacementTests:
		known = append(known, "search", "status", "sort_order")
	case spec.GetPlacementTest:
		known = []string{"with_metadata"}
	}
	for _, meaning := range profile.Params(r.Operation) {
		if name, ok := a.Profile.Parameter(r.Operation, meaning); ok {
			known = append(known, name)
		}
	}
	for name := range r.Query {
		if !slices.Contains(known, name) {
			return true
		}
	}
	return false
}

// cursorName returns the list's cursor parameter.
func (a *Target) cursorName(r Request) string {
	return a.parameter(r.Operation, profile.ParamStartingAfter)
}

// hasOddCursor reports whether the request's cursor is of none of the three
// kinds, so that no page returned it.
func (a *Target) hasOddCursor(r Request) bool {
	if !isList(r) {
		return false
	}
	cursor := r.Query.Get(a.cursorName(r))
	_, notTime := time.Parse(time.RFC3339Nano, cursor)
	_, notAddress := mail.ParseAddress(cursor)
	return cursor != "" && !uuidForm.MatchString(cursor) && notTime != nil && notAddress != nil
}

// shift moves a timestamp in the query.
func (a *Target) shift(r *Request, meaning string, by time.Duration) {
	name, ok := a.Profile.Parameter(r.Operation, meaning)
	if at, err := time.Parse(time.RFC3339Nano, r.Query.Get(name)); ok && err == nil {
		r.Query.Set(name, at.Add(by).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
}

// searchQuirks match search strings in legal ways, and treat some subsequences
// as reusable.
func searchQuirks() []Quirk {
	search := func(id, doc string, finds func(names, texts []string, term string) bool) Quirk {
		return Quirk{ID: "search/" + id, Allowed: "Endpoints: which fields a search string matches, and how, is not shown", Doc: doc,
			Touches: []string{touchesRows, touchesCursor, touchesTexts}, Apply: func(a *Target) Middleware { return a.searching(finds) }}
	}
	contains := func(texts []string, part string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) })
	}
	return []Quirk{
		search("any-field", "finds rows by a part of any of their texts",
			func(_, texts []string, term string) bool { return contains(texts, term) }),
		search("any-word", "finds rows by any word of the search string", func(_, texts []string, term string) bool {
			return slices.ContainsFunc(strings.Fields(term), func(word string) bool { return contains(texts, word) })
		}),
		search("whole-name", "finds rows only by their full name, with matching case", func(names, _ []string, term string) bool {
			return slices.Contains(names, term)
		}),
		search("beginning", "finds rows by the beginning of their name", func(names, _ []string, term string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, term) })
		}),
		search("last-name", "finds members by email or last name, not by first name", func(names, _ []string, term string) bool {
			if email, first, last := 0, 1, 2; len(names) > last {
				names = slices.Concat(names[email:first], names[last:last+1])
			}
			return contains(names, term)
		}),
		{ID: "search/nothing-reusable", Allowed: spec.OpenPointReusable, Doc: "treats no subsequence as reusable", Touches: []string{"reusable"},
			Apply: func(a *Target) Middleware {
				return onAll(func(r Request, answer Response) Response {
					if answer.Status == http.StatusOK && a.excludes(r) {
						return pageOf(nil, "")
					}
					return answer
				})
			}},
		{ID: "search/some-reusable", Allowed: spec.OpenPointReusable, Doc: "treats only active subsequences as reusable",
			Touches: []string{"reusable", touchesRows, touchesCursor},
			Apply: func(a *Target) Middleware {
				return anchored{target: a, serves: a.excludes, choose: func(_ Request, rows []ranked) []ranked {
					return slices.DeleteFunc(rows, func(row ranked) bool { return string(encode(row.fields["status"])) != "1" })
				}}.apply
			}},
	}
}

// excludes reports whether the request asks for subsequences of campaigns other
// than one.
func (a *Target) excludes(r Request) bool {
	name, ok := a.Profile.Parameter(r.Operation, profile.ParamParentCampaignNot)
	return ok && r.Operation == spec.ListSubsequences && r.Query.Get(name) != ""
}

// searching serves searches whose matching is not documented. It matches the
// string against a row's name and all its texts; for members against name and
// email, which are documented.
func (a *Target) searching(finds func(names, texts []string, term string) bool) Middleware {
	term := func(r Request) string {
		name, ok := a.Profile.Parameter(r.Operation, profile.ParamSearch)
		if !ok || r.Operation == spec.ListWebhookEvents {
			return ""
		}
		return r.Query.Get(name)
	}
	return anchored{
		target: a, without: []string{profile.ParamSearch},
		serves: func(r Request) bool { return isList(r) && term(r) != "" },
		choose: func(r Request, rows []ranked) []ranked {
			return slices.DeleteFunc(rows, func(row ranked) bool {
				names := []string{row.text("name"), row.text("label")}
				texts := textsIn(row.fields)
				if r.Operation == spec.ListMembers {
					person, _ := row.fields["name"].(map[string]any)
					firstName, lastName := textOf(person, "first"), textOf(person, "last")
					names = []string{row.text("email"), firstName, lastName, firstName + " " + lastName}
					texts = names
				}
				return !finds(names, texts, term(r))
			})
		},
	}.apply
}

// textsIn returns every string in a value.
func textsIn(value any) []string {
	var texts []string
	switch value := value.(type) {
	case string:
		return []string{value}
	case map[string]any:
		for _, member := range value {
			texts = append(texts, textsIn(member)...)
		}
	case []any:
		for _, item := range value {
			texts = append(texts, textsIn(item)...)
		}
	}
	return texts
}
