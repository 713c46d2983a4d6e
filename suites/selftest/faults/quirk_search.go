package faults

import (
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// searchQuirks match search strings in legal ways, and treat some subsequences
// as reusable.
func searchQuirks() []Quirk {
	search := func(id, doc string, finds func(names, texts []string, term string) bool) Quirk {
		return Quirk{ID: "search/" + id, Allowed: "Endpoints: which fields a search string matches, and how, is not shown", Doc: doc,
			Touches: []string{touchesRows, touchesCursor}, Apply: func(a *Target) Middleware { return a.searching(finds) }}
	}
	contains := func(texts []string, part string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) })
	}
	return []Quirk{
		search("any-field", "finds rows by a part of any of their texts", func(_, texts []string, term string) bool { return contains(texts, term) }),
		search("any-word", "finds rows by any word of the search string", func(_, texts []string, term string) bool {
			return slices.ContainsFunc(strings.Fields(term), func(word string) bool { return contains(texts, word) })
		}),
		search("whole-name", "finds rows only by their full name, with matching case", func(names, _ []string, term string) bool {
			return slices.Contains(names, term)
		}),
		search("beginning", "finds rows by the beginning of their name", func(names, _ []string, term string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, term) })
		}),
		{ID: "search/nothing-reusable", Allowed: spec.SilenceReusable, Doc: "treats no subsequence as reusable", Touches: []string{"reusable"},
			Apply: func(a *Target) Middleware {
				return onAll(func(r Request, answer Response) Response {
					if answer.Status == http.StatusOK && a.excludes(r) {
						return pageOf(nil, "")
					}
					return answer
				})
			}},
		{ID: "search/some-reusable", Allowed: spec.SilenceReusable, Doc: "treats only active subsequences as reusable", Touches: []string{"reusable", touchesRows, touchesCursor},
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
	name, ok := a.Profile.Parameter(r.Operation, profile.MeaningParentCampaignNot)
	return ok && r.Operation == spec.ListSubsequences && r.Query.Get(name) != ""
}

// searching serves searches whose matching is not documented. It matches the
// string against a row's name and all its texts; for members against name and
// email, which are documented.
func (a *Target) searching(finds func(names, texts []string, term string) bool) Middleware {
	term := func(r Request) string {
		name, ok := a.Profile.Parameter(r.Operation, profile.MeaningSearch)
		if !ok || r.Operation == spec.ListWebhookEvents {
			return ""
		}
		return r.Query.Get(name)
	}
	return anchored{
		target: a, without: []string{profile.MeaningSearch},
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
