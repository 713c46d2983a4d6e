package view

import (
	"strings"
	"unicode/utf8"

	"outreach.example/conformance/internal/printable"
)

// Bounds of a page. A text is cut to a number of characters as the page shows them. Room
// is for all texts of a kind, in bytes; what does not fit is counted.
const (
	mostText    = 600  // of a value or a sentence
	mostCommand = 4000 // of a command
	mostBody    = 4000 // of a body
	mostHead    = 300  // of a header

	roomForCauses  = 700_000
	roomForOthers  = 200_000 // the other checks of causes
	roomForMatrix  = 300_000 // the checks of the cells
	roomForDetails = 100_000 // observations, missing inputs, expected failures and troubles, each
)

// room is how many bytes of text are left.
type room int

// take reports whether the texts of an entry, with its markup, still fit.
func (r *room) take(texts ...string) bool {
	const markup = 200
	n := markup
	for _, text := range texts {
		n += len(text)
	}
	return r.spend(n)
}

// spend reports whether so many bytes still fit. After the first that do not, none do: a
// shorter entry would come before a longer one.
func (r *room) spend(bytes int) bool {
	if bytes > int(*r) {
		*r = 0
		return false
	}
	*r -= room(bytes)
	return true
}

// bounded returns a printable text of at most that many characters, and says if it is cut.
func bounded(text string, most int) string {
	return cutRunes(printable.Text(beginning(text, most)), most)
}

// boundedLines is short for a text of several lines.
func boundedLines(text string, most int) string {
	return cutRunes(printable.Lines(beginning(text, most)), most)
}

// beginning returns the bounded of a text that fills the characters in any case, so that
// no more of a long one is made printable.
func beginning(text string, most int) string { return text[:min(len(text), utf8.UTFMax*(most+1))] }

func cutRunes(shown string, most int) string {
	if utf8.RuneCountInString(shown) <= most {
		return shown
	}
	end := 0
	for range most {
		_, size := utf8.DecodeRuneInString(shown[end:])
		end += size
	}
	return shown[:end] + "… (cut)"
}

// joinBounded returns the printable texts, separated by commas.
func joinBounded(texts []string) string {
	shown := make([]string, len(texts))
	for i, text := range texts {
		shown[i] = bounded(text, mostText)
	}
	return strings.Join(shown, ", ")
}

// difference is an expected and an actual text: what both begin and end with, and what
// differs.
type difference struct{ Before, Expected, Actual, After string }

// differ compares two printable texts by word. Texts with little in common differ as a
// whole.
func differ(expectedFailure, actual string) difference {
	a, b := wordsOf(expectedFailure), wordsOf(actual)
	before, after := 0, 0
	for before < min(len(a), len(b)) && a[before] == b[before] {
		before++
	}
	for after < min(len(a), len(b))-before && a[len(a)-1-after] == b[len(b)-1-after] {
		after++
	}
	if 3*(before+after) < max(len(a), len(b)) {
		before, after = 0, 0
	}
	text := func(wordsOf []string) string { return strings.Join(wordsOf, "") }
	return difference{text(a[:before]), text(a[before : len(a)-after]), text(b[before : len(b)-after]), text(a[len(a)-after:])}
}

// wordsOf splits a text behind its spaces and punctuation.
func wordsOf(text string) []string {
	var all []string
	start := 0
	for i, r := range text {
		if strings.ContainsRune(` ,:;"{}[]/`, r) {
			all = append(all, text[start:i], text[i:i+1])
			start = i + 1
		}
	}
	return append(all, text[start:])
}
