package oracle

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// searchesExactly searches for the whole text of a field. A server might match in part, or
// take signs for patterns (SQL's LIKE), so it searches for parts of a text and for patterns,
// too. The same parameter may search another field.
func searchesExactly(f *Filter, list spec.Operation) {
	others := slices.DeleteFunc(slices.Clone(list.Filters), func(o spec.Filter) bool { return o.Key != f.Key || o.Word == f.Word })
	f.queries = each(f.Key, func(rows []paging.Row, most int) []string {
		values := Distinct(rows, f.field(), most)
		if len(values) == 0 || utf8.RuneCountInString(values[0]) < 2 {
			return values
		}
		whole := values[0]
		_, first := utf8.DecodeRuneInString(whole)
		_, last := utf8.DecodeLastRuneInString(whole)
		shorter := whole[:len(whole)-last]
		values = append(values, shorter, whole[first:], shorter+"_", "%")
		if other, ok := pathInOtherCase(whole); ok {
			values = append(values, other)
		}
		values = append(values, partsOf(whole)...)
		for _, value := range All(rows, f.field()) {
			if bare, _, hasQuery := strings.Cut(value, "?"); hasQuery {
				return append(values, bare)
			}
		}
		return values
	})
	f.says = func(query map[string]string, row paging.Row) (spec.ID, bool) {
		text := query[f.Key]
		switch {
		case Scalar(row.Value[f.field()]) == text:
			return f.Requirements[0], true
		case slices.ContainsFunc(others, func(o spec.Filter) bool { return Scalar(row.Value[o.Fields[0]]) == text }):
			return "", false
		default:
			return f.Extra(), false
		}
	}
}

// partsOf returns the host and the path of a URL, or both sides of an email address.
func partsOf(text string) []string {
	one, other, _ := strings.Cut(text, "@")
	if _, rest, isURL := strings.Cut(text, "://"); isURL {
		one, other, _ = strings.Cut(rest, "/")
		other = "/" + other
	}
	return slices.DeleteFunc([]string{one, other}, func(part string) bool { return part == "" || part == "/" || part == text })
}

// pathInOtherCase returns a URL whose path has capitals for small letters and the reverse:
// another URL (RFC 3986, section 6.2.2.1).
func pathInOtherCase(text string) (other string, ok bool) {
	_, rest, isURL := strings.Cut(text, "://")
	host, path, hasPath := strings.Cut(rest, "/")
	if !isURL || !hasPath || strings.Contains(path, "%") {
		return "", false
	}
	flipped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, path)
	return strings.TrimSuffix(text, path) + flipped, flipped != path && host != ""
}

// searches makes the filter search for texts of its fields that occur, some of them with
// special characters, and for a word that does not. The specification leaves open how a
// search matches: a row whose first field is the whole text is in, one that has no word like
// one of it is out. If several fields are given, words in other fields do not count.
func searches(f *Filter, resource string) {
	first := f.field()
	var others, texts []string // fields that are not searched, and those of them that hold any text
	if len(f.Fields) > 1 {
		for _, field := range spec.Fields() {
			if field.Resource == resource && !strings.Contains(field.Path, ".") && !slices.Contains(f.Fields, field.Path) {
				others = append(others, field.Path)
				if field.Type == "a string" && field.Value == "" {
					texts = append(texts, field.Path)
				}
			}
		}
	}
	contains := func(row paging.Row, term string) bool { return ContainsWord(row.Text(others...), term) }
	f.finds = func(query map[string]string, row paging.Row) bool { return contains(row, query[f.Key]) }
	f.queries = each(f.Key, func(rows []paging.Row, most int) []string {
		terms := append(Distinct(rows, first, most), unusual(rows, first, most)...)
		for _, field := range f.Fields {
			text := func(row paging.Row) string { return textOf(row.Value[field]) }
			if len(rows) > 0 && field != first {
				parts := strings.Fields(text(rows[0]))
				terms = append(terms, parts[max(0, len(parts)-1):]...)
			}
			terms = append(terms, sharedWord(rows, text, contains)...)
		}
		for _, field := range texts {
			terms = append(terms, Distinct(rows, field, 2)...)
		}
		var unique []string
		for _, term := range append(terms, AbsentWord) {
			if strings.TrimSpace(term) != "" && !slices.Contains(unique, term) {
				unique = append(unique, term)
			}
		}
		return unique
	})
	f.says = func(query map[string]string, row paging.Row) (spec.ID, bool) {
		switch term := query[f.Key]; {
		case Scalar(row.Value[first]) == term:
			return f.Requirements[0], true
		case !mayMatch(row.Text(others...), term):
			return f.Extra(), false
		default:
			return "", false
		}
	}
}

// textOf returns a text, or the texts of an object.
func textOf(value any) string {
	members, isObject := value.(map[string]any)
	if !isObject {
		return Scalar(value)
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		texts = append(texts, Scalar(members[name]))
	}
	return strings.Join(texts, " ")
}

// sharedWord returns the word of the texts that most rows contain, up to 3 of 4 rows; none
// if no 2 rows share one. A quarter of the rows outlasts those that a run creates.
func sharedWord(rows []paging.Row, text func(paging.Row) string, contains func(paging.Row, string) bool) []string {
	count := map[string]int{}
	for _, row := range rows {
		for _, word := range slices.Compact(slices.Sorted(slices.Values(words(text(row))))) {
			count[word]++
		}
	}
	shared := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for _, word := range shared[:min(mostShared, len(shared))] {
		found := len(slices.DeleteFunc(slices.Clone(rows), func(row paging.Row) bool { return !contains(row, word) }))
		if count[word] > 1 && 4*found <= 3*len(rows) {
			return []string{word}
		}
	}
	return nil
}

// words returns the words of a text in lower case. Shorter ones occur everywhere.
func words(text string) []string {
	const short = 2
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(all, func(word string) bool { return utf8.RuneCountInString(word) <= short })
}

// mostShared is how many words sharedWord looks for in all rows.
const mostShared = 8

// AbsentWord is a word that occurs in no row.
const AbsentWord = "zyxgqvkwjqxzzvq"
