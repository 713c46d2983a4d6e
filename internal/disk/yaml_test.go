package disk

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// Errors name the wrong value in plain words.
func TestWrongValuesAreNamedInPlainWords(t *testing.T) {
	type file struct {
		Text   string   `yaml:"text"`
		Number int      `yaml:"number"`
		List   []string `yaml:"list"`
		Deep   struct{} `yaml:"deep"`
		Free   any      `yaml:"free"`
	}
	for _, tc := range []struct{ text, want string }{
		{`text: 7`, "f:1: text: want a string (put it in quotes), found a whole number"},
		{`text: 1.5`, "f:1: text: want a string (put it in quotes), found a number with a fraction"},
		{`text: true`, "f:1: text: want a string (put it in quotes), found true or false"},
		{`text: .inf`, "f:1: text: want a string (put it in quotes), found infinity"},
		{`text: .nan`, "f:1: text: want a string (put it in quotes), found not a number (.nan)"},
		{`text: null`, "f:1: text: want a string (put it in quotes), found nothing"},
		{`text: [a]`, "f:1: text: want a string (put it in quotes), found a list"},
		{`text: {a: b}`, "f:1: text: want a string (put it in quotes), found a mapping"},
		{"text:\n  a: b\n", "f:2: text: want a string (put it in quotes), found a mapping"},
		{`number: many`, "f:1: number: want a whole number, found a string"},
		{`number: "7"`, "f:1: number: want a whole number, found a quoted string"},
		{"number: |\n  7\n", "f:1: number: want a whole number, found a block of text"},
		{`list: 7`, "f:1: list: want a list, found a whole number"},
		{`deep: 7`, "f:1: deep: want a mapping, found a whole number"},
		{"free:\n  a: [1, .inf]\n", "f:2: free.a[1]: want a value that JSON has, found infinity"},
		{"free: {a: {b: .nan}}", "f:1: free.a.b: want a value that JSON has, found not a number (.nan)"},
		{"free: {a: 1, a: 2}", `f:1: mapping key "a" already defined at [1:8]`},
		{"list:\n  - a\n other: b\n", "f:3: value is not allowed here (check the indentation of this line and of the one before)"},
		{`- 7`, "f:1: want a mapping, found a list"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			NewWithT(t).Expect(New("file", "f").Decode([]byte(tc.text), &file{})).To(MatchError(tc.want))
		})
	}
}

// TestMarshalIsReadBack checks that every text is read back unchanged, including texts that
// the YAML library should quote and does not.
func TestMarshalIsReadBack(t *testing.T) {
	type document struct {
		Text string   `yaml:"text"`
		List []string `yaml:"list,flow"`
	}
	readBack := func(t interface {
		Fatalf(string, ...any)
	}, s string) {
		list := []string{s, "b"}
		if strings.Contains(s, "\n") {
			list = nil // no document has this in brackets
		}
		written, err := Marshal(document{s, list})
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		var read document
		if err := New("document", "d.yaml").Decode(written, &read); err != nil {
			t.Fatalf("%q: %v\n%s", s, err, written)
		}
		if read.Text != s || !slices.Equal(read.List, list) {
			t.Fatalf("%q is read back as %+v\n%s", s, read, written)
		}
	}
	for _, s := range []string{"plain", "? !", "? a", "a: b", "- a", "~", "null", "1.5", "yes", "two\nlines\n", "a, b]", "# no", "é", "a\tb", "\t"} {
		readBack(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		readBack(t, rapid.OneOf(rapid.StringMatching(`[ -~é\n\t]{0,12}`), rapid.StringMatching(`[?:,\-!&*{}\[\]|>%@'"# ]{1,5}`)).Draw(t, "text"))
	})
}

// Whatever a file holds, reading it ends with a value or an error that names the file.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"name: x\nlist: [1, 2]\n", "\uFEFFname: x", "a: &b [*b]", "? {}\n: [", "- - - -", "name: |\n  x\x00", "name: !!binary x", "\t", "wait: 1.5"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var into struct {
			Name string         `yaml:"name"`
			List []int          `yaml:"list"`
			Map  map[string]int `yaml:"map"`
			Wait time.Duration  `yaml:"wait"`
		}
		if err := New("text", "file.yaml").Decode(data, &into); err != nil && !strings.HasPrefix(err.Error(), "file.yaml:") {
			t.Errorf("%q: the error does not name the file: %v", data, err)
		}
	})
}

func TestUnsupportedBytes(t *testing.T) {
	var into struct {
		Name string `yaml:"name"`
	}
	if err := New("text", "f").Decode([]byte("\uFEFFname: x\n"), &into); err != nil || into.Name != "x" {
		t.Errorf("one mark at the start: %v, %q", err, into.Name)
	}
	for text, says := range map[string]string{"\uFEFF\uFEFFname: x\n": "f:1", "name: x\n# \x00\n": "f:2: a NUL byte",
		"name: é\ufffd\n# caf\xe9\n": "f:2: the byte 0xe9 is not UTF-8", "\nname: !!binary x": "f:2: tags are not supported",
		"a: " + strings.Repeat("&a ", 300_000): "f:1: anchors", "a: *b": "f:1: anchors", "<<: {}": "f:1: anchors"} {
		if err := New("text", "f").Decode([]byte(text), &into); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
}
