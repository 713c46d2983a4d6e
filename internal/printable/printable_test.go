package printable

import "testing"

func TestTextIsNoCommandOfARunner(t *testing.T) {
	for text, want := range map[string]string{
		"::error::x": `\x3a:error\x3a:x`, "  ::add-mask::x": `  \x3a:add-mask\x3a:x`, "a ##[error]x": `a ##\x5berror]x`, "##vso[task.x]": `##vso\x5btask.x]`,
		"::Error::x": `\x3a:Error\x3a:x`, "##VSO[x]": `##VSO\x5bx]`, "##teamcity[x]": `##teamcity\x5bx]`,
		"::1": "::1", "[::1]:80": "[::1]:80", "std::error::x": "std::error::x", "## [x]": "## [x]", "a\n::error::b": `a\n::error::b`,
	} {
		if got := Text(text); got != want {
			t.Errorf("Text(%q) = %s, want %s", text, got, want)
		}
	}
}
