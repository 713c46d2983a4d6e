package testbed

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/profile"
)

// A search that cannot find proves nothing: it finds each spelling, whole and in part,
// also below a further layer of escapes.
func TestEachSpellingIsFound(t *testing.T) {
	keys := profile.Embedded().Keys
	search := NewKeySearch(keys)
	layers := map[string]func(string) string{
		"itself": func(s string) string { return s }, "a query": url.QueryEscape, "HTML": html.EscapeString, "Go": strconv.QuoteToASCII,
		"JSON": func(s string) string { text, _ := json.Marshal(s); return string(text) },
	}
	for _, k := range keys[:3] {
		for _, spelling := range Spellings {
			for layer, wrap := range layers {
				for _, token := range []string{k.Token, k.Token[:20], k.Token[20:]} {
					text := "before " + wrap(spelling.Of(token)) + " after"
					if name, _, found := search.Find(text); !found || len(token) == len(k.Token) && name != k.Name {
						t.Errorf("%s in %s is not found: %s", spelling.Name, layer, text)
					}
				}
			}
		}
	}
	text, err := profile.Embedded().YAML("")
	if err != nil {
		t.Fatal(err)
	}
	redacted := string(text)
	for _, k := range keys {
		redacted = strings.ReplaceAll(redacted, k.Token, "[redacted]")
	}
	if key, around, found := search.Find(redacted); found {
		t.Errorf("a text without keys seems to show %s: %s", key, around)
	}
}

// Looking only where an escape may begin decodes the same escapes as searching everywhere.
func TestEveryEscapeIsDecoded(t *testing.T) {
	anywhere := regexp.MustCompile(strings.TrimPrefix(escape.String(), "^"))
	part := rapid.OneOf(rapid.SampledFrom([]string{`\`, `\\`, `%`, `%41`, `\u0041`, `\U00000041`, `\x41`, `&amp;`, `&#65;`, `&#`, `;`, "u", "x4", "é"}),
		rapid.StringOf(rapid.RuneFrom([]rune(`\%&#;uUx041aFgé `))))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		if got, want := decodeEscapes(text), anywhere.ReplaceAllStringFunc(text, decodeEscape); got != want {
			t.Fatalf("%q becomes %q, want %q", text, got, want)
		}
	})
}
