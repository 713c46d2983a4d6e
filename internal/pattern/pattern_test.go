package pattern

import (
	"slices"
	"strings"
	"testing"
)

var names = []string{"leads.move", "lead-lists.list", "subsequences.list", "subsequences.delete"}

func TestFits(t *testing.T) {
	for _, tc := range []struct {
		name     string
		patterns []string
		want     []string
	}{
		{"none", nil, names},
		{"an id", []string{"leads.move"}, []string{"leads.move"}},
		{"several", []string{"leads.move", "subsequences.*"}, []string{"leads.move", "subsequences.list", "subsequences.delete"}},
		{"only an exclusion", []string{"!subsequences.*"}, []string{"leads.move", "lead-lists.list"}},
		{"both", []string{"*.list", "!subsequences.*"}, []string{"lead-lists.list"}},
		{"the exclusion first", []string{"!subsequences.*", "*.list"}, []string{"lead-lists.list"}},
		{"all excluded", []string{"leads.move", "!leads.*"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, n := range names {
				if Fits(tc.patterns, n) {
					got = append(got, n)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q selects %q, want %q", tc.patterns, got, tc.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for pattern, want := range map[string]string{
		"leads.move":       "",
		"!leads.*":         "",
		"lead.move":        `no operation matches "lead.move" (did you mean leads.move?)`,
		"!subsequence.*":   `no operation matches "subsequence.*" (did you mean`,
		"subsequences":     "(did you mean subsequences*?)",
		"[a":               `"[a" is not a pattern`,
		"!":                `no operation matches ""`,
		"something-entire": `no operation matches "something-entire"`,
	} {
		err := Check("operation", pattern, names)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", pattern, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", pattern, err, want)
		}
	}
}
