package paging

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"outreach.example/conformance/schemas"
)

// Text is what a search may find in fields of a row.
type Text struct {
	Lower string // the texts in lower case, one in a line
	Whole bool   // no text is shortened: the rest of one may hold anything

	// Tokens returns the tokens of the texts, each after a blank.
	Tokens func() string
}

// texts are put together once, and searched often. Copies of a row share them.
type texts struct {
	mu      sync.Mutex
	without [][]string
	all     []*Text
}

// Text returns the text of the row without some of its fields.
func (r Row) Text(without ...string) *Text {
	known := r.texts
	if known == nil { // not from RowOf
		known = &texts{}
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	for i, fields := range known.without {
		if slices.Equal(fields, without) {
			return known.all[i]
		}
	}
	t := textOf(r.Value, without)
	known.without, known.all = append(known.without, without), append(known.all, t)
	return t
}

func textOf(row map[string]any, without []string) *Text {
	t, all := &Text{Whole: true}, &strings.Builder{}
	for field, value := range row {
		if !slices.Contains(without, field) {
			t.Whole = addTexts(all, value) && t.Whole
		}
	}
	t.Lower = strings.ToLower(all.String())
	t.Tokens = sync.OnceValue(func() string { return " " + strings.Join(Tokens(t.Lower), " ") })
	return t
}

// Tokens returns what a search that analyses texts may take for their words: letters and digits,
// in lower case and without accents. An ideograph is a token by itself.
func Tokens(texts string) []string {
	var folded strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(texts)) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9': // nearly all are
			folded.WriteByte(byte(r))
		case r <= unicode.MaxASCII:
			folded.WriteByte(' ')
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
