package faults

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// searchQuirks match search strings in legal ways, and treat some subsequences as reusable.
func searchQuirks() []Quirk {
	search := func(id, doc string, texts func(row) []string, matches func(text, term string) bool) Quirk {
		return quirk("search/"+id, "Endpoints: which fields a search string matches, and how, is not shown", "rows, cursor, texts of rows", doc,
			when(all(searches, func(x *exchange) bool { return x.Operation != spec.ListWebhookEvents }), // whose matching is documented
				finding(func(r row, term string) bool {
					return slices.ContainsFunc(texts(r), func(text string) bool { return matches(text, term) })
				})))
	}
	contains := func(text, part string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) }
	excluding := having(profile.ParamParentCampaignNot, notEmpty)
	return []Quirk{
		search("any-field", "finds rows by a part of any of their texts", textsOf, contains),
		search("any-word", "finds rows by any word of the search string", textsOf, func(text, term string) bool {
			return slices.ContainsFunc(strings.Fields(term), func(word string) bool { return contains(text, word) })
		}),
		search("analysed", "cuts texts at punctuation, drops accents and a plural s, and finds rows by any word that is left", textsOf, func(text, term string) bool {
			have := analysed(text)
			return slices.ContainsFunc(analysed(term), func(word string) bool { return slices.Contains(have, word) })
		}),
		search("whole-name", "finds rows only by their full name, with matching case", namesOf, func(name, term string) bool { return name == term }),
		search("beginning", "finds rows by the beginning of their name", namesOf, strings.HasPrefix),
		search("last-name", "finds members by email or last name, not by first name", func(r row) []string { return namesOf(r)[:4] }, contains),
		quirk("search/nothing-reusable", spec.OpenPointReusable, "reusable", "treats no subsequence as reusable",
			on(spec.ListSubsequences, all(excluding, served), showNothing)),
		quirk("search/some-reusable", spec.OpenPointReusable, "reusable, rows, cursor", "treats only active subsequences as reusable",
			on(spec.ListSubsequences, excluding, sifted(func(_ *page, r row) bool { return equal(1)(r.fields["status"]) }))),
	}
}

// analysed returns the words of a text as the index of a search engine has them.
func analysed(text string) []string {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(strings.ToLower(text)))
	words := strings.FieldsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		words[i] = strings.TrimSuffix(word, "s")
	}
	return words
}

// searches is a request for the rows of a list that match a text.
var searches = all(paged, having(profile.ParamSearch, notEmpty))

func notEmpty(text string) bool { return text != "" }

// finding serves the rows that the search string finds.
func finding(finds func(r row, term string) bool) verb {
	return sifted(func(s *page, r row) bool { return finds(r, s.param(profile.ParamSearch)) }, profile.ParamSearch)
}

// sifted serves the rows that fit, whatever the hidden parameters select.
func sifted(fits func(s *page, r row) bool, hidden ...string) verb {
	return serve(pager{anchored: true, hidden: hidden, before: func(s *page) {
		s.list = slices.DeleteFunc(s.list, func(r row) bool { return !fits(s, r) })
	}})
}

// namesOf returns the names of a row, the first name of a member last.
func namesOf(r row) []string {
	first, last := textOf(r.fields["name"], "first"), textOf(r.fields["name"], "last")
	return []string{r.text("name"), r.text("label"), r.text("email"), last, first, first + " " + last}
}

// textsOf returns the texts of a row: of a member those that are documented.
func textsOf(r row) []string {
	if r.text("email") != "" {
		return namesOf(r)
	}
	return textsIn(r.fields)
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
