package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"outreach.example/conformance/internal/paging"
)

// maxValue is the length of the longest value of a row that a query uses, in bytes. A
// server may refuse a long address.
const maxValue = 256

// Distinct returns at most so many of the values that occur in a field of the rows, the
// first and the last among them. Null, absent and very long values do not count.
func Distinct(rows []paging.Row, field string, most int) []string {
	values := All(rows, field)
	if len(values) <= most {
		return values
	}
	picked := make([]string, most)
	for i := range picked {
		picked[i] = values[i*(len(values)-1)/max(1, most-1)]
	}
	return picked
}

// unusual returns at most so many values of the field that hold special characters. Each
// has a kind of character that the earlier ones lack.
func unusual(rows []paging.Row, field string, most int) []string {
	var values []string
	seen := map[rune]bool{}
	for _, value := range All(rows, field) {
		another := false
		for _, r := range value {
			if kind := kindOf(r); kind != 0 && !seen[kind] {
				seen[kind], another = true, true
			}
		}
		if another && len(values) < most {
			values = append(values, value)
		}
	}
	return values
}

// kindOf returns a character for all of its kind: itself for a sign, one for letters
// beyond ASCII, one for characters beyond U+FFFF; 0 for a usual character.
func kindOf(r rune) rune {
	switch {
	case r > 0xffff:
		return 0x10000
	case r >= utf8.RuneSelf:
		return utf8.RuneSelf
	case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" -_.@", r):
		return 0
	}
	return r
}

// All returns the values of a field that may go into an address, each once.
func All(rows []paging.Row, field string) []string {
	var values []string
	seen := map[string]bool{}
	for _, row := range rows {
		value := Scalar(row.Value[field])
		if value != "" && len(value) <= maxValue && !seen[value] {
			seen[value] = true
			values = append(values, value)
		}
	}
	return values
}

// spread picks values from all over the list. Of a long list it leaves out the very first
// and last, so that something lies on either side.
func spread[T any](values []T, most int) []T {
	if len(values) <= most {
		return values
	}
	picked := make([]T, most)
	for i := range picked {
		picked[i] = values[(i+1)*len(values)/(most+1)]
	}
	return picked
}

// Scalar renders a JSON scalar as a query parameter does; "" for anything else.
func Scalar(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case fmt.Stringer: // json.Number
		if whole, err := strconv.ParseFloat(value.String(), 64); err == nil {
			return strconv.FormatFloat(whole, 'f', -1, 64)
		}
	}
	return ""
}

// ContainsWord reports whether any word of the term occurs in the text. The rest of a shortened one
// may contain it.
func ContainsWord(text *paging.Text, term string) bool {
	if !text.Whole {
		return true
	}
	for word := range strings.FieldsSeq(strings.ToLower(term)) {
		if strings.Contains(text.Lower, word) {
			return true
		}
	}
	return false
}

// mayMatch reports whether a search for the term may find the text: that contains a word of it, or
// has a token that begins like one of the term, as far as a stem goes. A number has no stem. The
// specification does not say how a search cuts texts into words.
func mayMatch(text *paging.Text, term string) bool {
	const stem = 3
	return ContainsWord(text, term) || slices.ContainsFunc(paging.Tokens(term), func(token string) bool {
		if letters := []rune(token); len(letters) > stem && !strings.ContainsFunc(token, unicode.IsDigit) {
			token = string(letters[:stem])
		}
		return strings.Contains(text.Tokens(), " "+token)
	})
}

// Times that lie before and after all rows. An id of version 7 tells no time before 1970.
var (
	FarPast   = time.Unix(0, 0).UTC()
	FarFuture = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Timestamp renders a time as the specification does.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
