package faults

import (
	"slices"
	"strings"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// searchQuirks match search strings in legal ways, and treat some subsequences as reusable.
func searchQuirks() []Quirk {
	search := func(id, doc string, finds func(names, texts []string, term string) bool) Quirk {
		return quirk("search/"+id, "Endpoints: which fields a search string matches, and how, is not shown", "rows, cursor, texts of rows", doc,
			when(searchesNames, serve(pager{anchored: true, hidden: []string{profile.ParamSearch}, before: func(s *page) {
				s.list = slices.DeleteFunc(s.list, func(r row) bool {
					names, texts := s.searchable(r)
					return !finds(names, texts, s.param(profile.ParamSearch))
				})
			}})))
	}
	contains := func(texts []string, part string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) })
	}
	excluding := having(profile.ParamParentCampaignNot, func(campaign string) bool { return campaign != "" })
	return []Quirk{
		search("any-field", "finds rows by a part of any of their texts",
			func(_, texts []string, term string) bool { return contains(texts, term) }),
		search("any-word", "finds rows by any word of the search string", func(_, texts []string, term string) bool {
			return slices.ContainsFunc(strings.Fields(term), func(word string) bool { return contains(texts, word) })
		}),
		search("whole-name", "finds rows only by their full name, with matching case",
			func(names, _ []string, term string) bool { return slices.Contains(names, term) }),
		search("beginning", "finds rows by the beginning of their name", func(names, _ []string, term string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, term) })
		}),
		search("last-name", "finds members by email or last name, not by first name", func(names, _ []string, term string) bool {
			if len(names) == 4 { // of a member
				names = []string{names[0], names[2]}
			}
			return contains(names, term)
		}),
		quirk("search/nothing-reusable", spec.OpenPointReusable, "reusable", "treats no subsequence as reusable",
			on(spec.ListSubsequences, all(excluding, served), showNothing)),
		quirk("search/some-reusable", spec.OpenPointReusable, "reusable, rows, cursor", "treats only active subsequences as reusable",
			on(spec.ListSubsequences, excluding, serve(pager{anchored: true, before: func(s *page) {
				s.list = slices.DeleteFunc(s.list, func(r row) bool { return !equal(1)(r.fields["status"]) })
			}}))),
	}
}

// searchesNames is a search whose matching is not documented.
func searchesNames(x *exchange) bool {
	return paged(x) && x.Operation != spec.ListWebhookEvents && x.param(profile.ParamSearch) != ""
}

// searchable returns the names and all texts of a row; those of members are documented.
func (x *exchange) searchable(r row) (names, texts []string) {
	if x.Operation != spec.ListMembers {
		return []string{r.text("name"), r.text("label")}, textsIn(r.fields)
	}
	first, last := textOf(r.fields["name"], "first"), textOf(r.fields["name"], "last")
	names = []string{r.text("email"), first, last, first + " " + last}
	return names, names
}

// textsIn returns every string in a value.
func textsIn(value any) (texts []string) {
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
