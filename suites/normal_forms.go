package suites

import (
	"slices"
	"strings"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// Keep matches the value that was sent for the field of a created test, also in a normal form
// in which a server may store it. A server may show nothing in place of an empty value.
func Keep(field string, sent any) types.GomegaMatcher {
	normal := inNormalForm(field, sent)
	kept := gomega.Satisfy(func(shown any) bool { return fits(EqualJSON(normal(sent)), normal(shown)) })
	switch text := clipJSON(normal(sent)); text {
	case `""`, "[]", "{}":
		return Be(text+", null or absent", gomega.Or(kept, BeAbsent()))
	}
	return Be(clipJSON(sent), kept)
}

// inNormalForm returns what brings the value that was sent and the one that is shown into
// one form. Some texts cannot be stored or sent otherwise: outer blanks, control characters,
// line ends, a line break in a subject.
func inNormalForm(field string, sent any) func(any) any {
	text, isText := sent.(string)
	folded := isText && field == "email_subject" && strings.ContainsAny(text, "\r\n")
	return func(value any) any {
		text, isText := value.(string)
		if !isText {
			return asSet(field, value)
		}
		text = strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\t' || r == '\x7f' {
				return -1
			}
			return r
		}, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
		if folded {
			return strings.Join(strings.Fields(text), "")
		}
		return strings.TrimSpace(text)
	}
}

// asSet returns addresses and tags, which are sets by nature, in one order, without repeated
// entries and in lower case. It returns other values as they are.
func asSet(field string, value any) any {
	items, isArray := normalize(value).([]any)
	if !isArray || field != "emails" && field != "tags" {
		return value
	}
	var texts []string
	for _, item := range items {
		text, isText := item.(string)
		if !isText {
			return value
		}
		texts = append(texts, strings.ToLower(strings.TrimSpace(text)))
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
