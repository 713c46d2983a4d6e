package printable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"outreach.example/conformance/internal/printable"
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
		if got := printable.Text(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

// Nothing that is printed moves a cursor or reorders text, whatever it was.
func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31m", "\u202eabc", "\u200b", "\xff\xc0\x80", "\r\n\t", "\U000e0067", "a\u0301", "\u2028", `\x1b`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, printed := range []string{printable.Text(text), strings.ReplaceAll(printable.Lines(text), "\n", "")} {
			for _, r := range printed {
				if !unicode.IsPrint(r) || r == utf8.RuneError && !strings.Contains(text, "\uFFFD") {
					t.Fatalf("%q is printed with %U", text, r)
				}
			}
		}
		if once := printable.Text(text); printable.Text(once) != once {
			t.Fatalf("not stable: %q", once)
		}
	})
}
