package paging

import (
	"strings"
	"sync"

	"outreach.example/conformance/schemas"
)

// text is what a search may find in a row. Copies of the row share it: it is put together
// once, and searched often.
type text struct {
	once  sync.Once
	lower string
	whole bool
}

// Text returns the texts of the row in lower case, one in a line. whole is false if one of
// them is shortened: the rest of it may hold anything.
func (r Row) Text() (lower string, whole bool) {
	t := r.text
	if t == nil { // not from RowOf
		t = &text{}
	}
	t.once.Do(func() {
		var all strings.Builder
		t.whole = addTexts(&all, r.Value)
		t.lower = strings.ToLower(all.String())
	})
	return t.lower, t.whole
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
