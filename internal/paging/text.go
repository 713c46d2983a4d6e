package paging

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"outreach.example/conformance/schemas"
)

// text is what a search may find in a row. Copies of the row share it: it is put together
// once, and searched often.
type text struct {
	once   sync.Once
	lower  string
	tokens string
	whole  bool
}

// Text returns the texts of the row in lower case, one in a line, and their tokens, each after a
// blank. whole is false if one of them is shortened: the rest of it may hold anything.
func (r Row) Text() (lower, tokens string, whole bool) {
	t := r.text
	if t == nil { // not from RowOf
		t = &text{}
	}
	t.once.Do(func() {
		var all strings.Builder
		t.whole = addTexts(&all, r.Value)
		t.lower = strings.ToLower(all.String())
		t.tokens = " " + strings.Join(Tokens(t.lower), " ")
	})
	return t.lower, t.tokens, t.whole
}

// Tokens returns what a search that analyses texts may take for their words: letters and digits,
// in lower case and without accents. An ideograph is a token by itself.
func Tokens(texts string) []string {
	var folded strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(texts)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			folded.WriteString(" " + string(r) + " ")
		case unicode.IsLetter(r), unicode.IsDigit(r):
			folded.WriteRune(r)
		default:
			folded.WriteByte(' ')
		}
	}
	return strings.Fields(folded.String())
}

// addTexts adds the strings of a JSON value, but not the names of members. It reports
// whether none is shortened.
func addTexts(all *strings.Builder, value any) bool {
	whole := true
	switch value := value.(type) {
	case string:
		all.WriteString(value)
		all.WriteByte('\n')
		return !schemas.IsShortened(value)
	case map[string]any:
		for _, member := range value {
			whole = addTexts(all, member) && whole
		}
	case []any:
		for _, item := range value {
			whole = addTexts(all, item) && whole
		}
	}
	return whole
}
