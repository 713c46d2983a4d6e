package reports_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"outreach.example/conformance/reports"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"plain {{red}} ]]> text":    "plain {{red}} ]]> text",
		"Grüße, 世界 ✓":               "Grüße, 世界 ✓",
		"a\nb\r\tc":                 `a\nb\r\tc`,
		"\x1b[31mred\x1b[0m":        `\x1b[31mred\x1b[0m`,
		"\x00\x7f":                  `\x00\x7f`,
		"safe\u202eexe.txt\u200b":   `safe\u202eexe.txt\u200b`,
		"no\u00a0break\u2028line":   `no\u00a0break\u2028line`,
		"cut \xff\xc3":              `cut \xff\xc3`,
		"tag \U000e0041 and \ufffd": "tag \\U000e0041 and \ufffd",
	} {
		if got := reports.Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPrintableLeavesNothingThatMovesTheCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		out := reports.Printable(in)
		if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("Printable(%q) = %q", in, out)
		}
		if again := reports.Printable(out); again != out {
			t.Fatalf("not stable: %q becomes %q", out, again)
		}
	})
}
