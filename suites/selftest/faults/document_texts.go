package faults

import (
	"html"
	"net/url"
	"slices"
	"strings"
)

// textClass is a kind of texts that servers stumble over, and how one spoils them.
type textClass struct {
	name, what string
	fits       func(text string) bool
	spoilt     func(text string) string
}

func having(signs string) func(string) bool {
	return func(text string) bool { return strings.ContainsAny(text, signs) }
}

func replacing(old, with string) func(string) string {
	return func(text string) string { return strings.ReplaceAll(text, old, with) }
}

// onRunes replaces matching characters with a question mark.
func onRunes(fits func(rune) bool) func(string) string {
	return func(text string) string {
		return strings.Map(func(r rune) rune {
			if fits(r) {
				return '?'
			}
			return r
		}, text)
	}
}

func someRune(fits func(rune) bool) func(string) bool {
	return func(text string) bool { return slices.ContainsFunc([]rune(text), fits) }
}

func isBeyondBMP(r rune) bool { return r > 0xffff }

// isRightToLeft reports whether the character is a Hebrew letter. Other letters beyond ASCII are
// in every body that a run sends.
func isRightToLeft(r rune) bool { return r >= 0x590 && r <= 0x5ff }

// textClasses are texts of one line.
var textClasses = []textClass{
	{"percent", "a percent sign", having("%"), func(text string) string {
		if decoded, err := url.PathUnescape(strings.ReplaceAll(text, "% ", "%25 ")); err == nil && decoded != text {
			return decoded
		}
		return strings.ReplaceAll(text, "%", "%%")
	}},
	{"quote", "a quotation mark", having(`"`), replacing(`"`, `\"`)},
	{"apostrophe", "an apostrophe", having("'"), replacing("'", "''")},
	{"backslash", "a backslash", having(`\`), replacing(`\`, "")},
	{"entity", "an entity", func(text string) bool { return strings.Contains(text, "&amp;") }, html.UnescapeString},
	{"line-break-tag", "the tag of a line break", func(text string) bool { return strings.Contains(text, "<br/>") }, replacing("<br/>", "<br>")},
	{"placeholder", "a placeholder", func(text string) bool { return strings.Contains(text, "{{") }, replacing("{{", "{")},
	{"plus", "a plus sign", having("+"), replacing("+", " ")},
	{"right-to-left", "letters from right to left", someRune(isRightToLeft), onRunes(isRightToLeft)},
	{"emoji", "a character beyond U+FFFF", someRune(isBeyondBMP), onRunes(isBeyondBMP)},
}

// lines and longTextClass are texts that a server may refuse, but must keep if it takes
// them.
var (
	lines         = textClass{"lines", "a line break", having("\n"), replacing("\n", " ")}
	longTextClass = textClass{"long", "more than 2,000 characters", func(text string) bool { return len(text) > 2000 },
		func(text string) string { return text[:2000] }}
)
