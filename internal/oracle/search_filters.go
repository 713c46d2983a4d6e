package oracle

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// searchExactly searches for the whole text of a field. A server might match in part, or take
// signs for patterns (SQL's LIKE), so it searches for parts of a text and for patterns, too.
// The same parameter searches another field.
func searchExactly(missing, extra spec.ID, field, other string) Filter {
	const parameter = profile.ParamSearch
	return Filter{"filters by " + field, []spec.ID{missing, extra}, parameter, field,
		func(rows []paging.Row, most int) []map[string]string {
			values := Distinct(rows, field, most)
			if len(values) == 0 || utf8.RuneCountInString(values[0]) < 2 {
				return each(parameter, values)
			}
			_, first := utf8.DecodeRuneInString(values[0])
			_, last := utf8.DecodeLastRuneInString(values[0])
			pieces := []string{values[0][:len(values[0])-last], values[0][first:], values[0][:len(values[0])-last] + "_", "%"}
			if other, ok := pathInOtherCase(values[0]); ok {
				pieces = append(pieces, other)
			}
			pieces = append(pieces, partsOf(values[0])...)
			for _, value := range All(rows, field) {
				if bare, _, hasQuery := strings.Cut(value, "?"); hasQuery {
					pieces = append(pieces, bare)
					break
				}
			}
			return each(parameter, append(values, pieces...))
		},
		func(query map[string]string, row paging.Row) (spec.ID, bool) {
			switch query[parameter] {
			case Scalar(row.Value[field]):
				return missing, true
			case Scalar(row.Value[other]):
				return "", false
			default:
				return extra, false
			}
		}}
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

// searchBy searches for texts of the field that occur, some of them with special characters,
// and for a word that does not.
func searchBy(field string) Filter {
	return searches("searches by "+field, spec.FilterSearchMissing, spec.FilterSearchExtra, field, ContainsWord,
		func(rows []paging.Row, most int) []string {
			texts := Distinct(rows, field, most)
			for _, text := range Unusual(rows, field, most) {
				if !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
			}
			return append(texts, sharedWord(rows, func(row paging.Row) string { return Scalar(row.Value[field]) }, ContainsWord)...)
		})
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

// searchMembers searches for email addresses and names that occur, for a role, and for a
// word that does not.
func searchMembers() Filter {
	return searches("searches by name and email", spec.FilterSearchMemberMissing, spec.FilterSearchMemberExtra, "email", isNamedLike,
		func(rows []paging.Row, most int) []string {
			terms := append(Distinct(rows, "email", most), sharedWord(rows, func(row paging.Row) string { return Scalar(row.Value["email"]) }, isNamedLike)...)
			if len(rows) > 0 {
				if name, ok := rows[0].Value["name"].(map[string]any); ok {
					terms = append(terms, Scalar(name["last"]))
				}
			}
			return slices.Concat(terms, sharedWord(rows, nameOf, isNamedLike), Distinct(rows, "role", 2))
		})
}

// nameOf returns the names of a member.
func nameOf(row paging.Row) string {
	name, _ := row.Value["name"].(map[string]any)
	return Scalar(name["first"]) + " " + Scalar(name["last"])
}

// noNames are the fields of a member that are neither a name nor an email.
var noNames = []string{"id", "user_id", "workspace_id", "issuer_id", "role", "permissions", "timestamp_created", "accepted"}

// isNamedLike is ContainsWord for the texts of a member that may be a name or an email.
func isNamedLike(row paging.Row, term string) bool {
	if !ContainsWord(row, term) {
		return false
	}
	named := maps.Clone(row.Value)
	for _, field := range noNames {
		delete(named, field)
	}
	return ContainsWord(paging.Row{Value: named}, term)
}

// AbsentWord is a word that occurs in no row.
const AbsentWord = "zyxgqvkwjqxzzvq"

// searches finds rows by texts. The specification leaves open which fields a search
// matches and how: a row whose field is the whole text is in, one that contains no word
// of it is out.
func searches(title string, missing, extra spec.ID, field string, contains func(paging.Row, string) bool, texts func([]paging.Row, int) []string) Filter {
	return Filter{title, []spec.ID{missing, extra}, profile.ParamSearch, field,
		func(rows []paging.Row, most int) []map[string]string {
			terms := append(texts(rows, most), AbsentWord)
			return each(profile.ParamSearch, slices.DeleteFunc(terms, func(term string) bool { return strings.TrimSpace(term) == "" }))
		},
		func(query map[string]string, row paging.Row) (spec.ID, bool) {
			switch term := query[profile.ParamSearch]; {
			case Scalar(row.Value[field]) == term:
				return missing, true
			case !contains(row, term):
				return extra, false
			default:
				return "", false
			}
		}}
}
