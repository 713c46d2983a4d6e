package client

import (
	"slices"
	"strings"
)

// What is shown of a target's words is cut off before secrets are taken out of
// it, and the beginning of a token is not for everybody either.

// ellipses mark where a text was cut off; so does its end.
var ellipses = []string{"…", "..."}

// cutOff appends the beginnings of secrets, of minSecret bytes or more, that end
// where the text was cut off.
func (t *needleTable) cutOff(v view, all []found) []found {
	for _, end := range cuts(v.text) {
		for _, until := range []int{end, withoutEscape(v.text, end)} {
			start, hit := t.beginning(v.text, until)
			if hit == nil {
				continue
			}
			if hit.base64 {
				start, _ = base64Run(v.text, start, until)
			}
			// Whose beginning it is cannot be told of keys that begin alike.
			all = append(all, found{start: v.origin(start), end: v.origin(end)})
			break
		}
	}
	return all
}

// cuts returns where the text may have been cut off, white space before the mark left off.
func cuts(text string) []int {
	ends := []int{len(text)}
	for _, mark := range ellipses {
		for at := 0; ; {
			next := strings.Index(text[at:], mark)
			if next < 0 {
				break
			}
			ends = append(ends, at+next)
			at += next + len(mark)
		}
	}
	for i, end := range ends {
		ends[i] = len(strings.TrimRight(text[:end], " \r\n"))
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// withoutEscape leaves off a percent escape that the cut has broken in two.
func withoutEscape(text string, end int) int {
	for short := range 2 { // "%" and "%2"
		at := end - 1 - short
		if at < 0 {
			return end
		}
		if text[at] == '%' {
			return at
		}
		if _, isHex := hexDigit(text[at]); !isHex {
			return end
		}
	}
	return end
}

// beginning returns the longest beginning of a needle that ends just there.
func (t *needleTable) beginning(text string, end int) (start int, hit *needle) {
	for i := max(0, end-t.longest); i <= end-minSecret; i++ {
		bucket := t.by[text[i]]
		for k := range bucket {
			if n := &bucket[k]; len(n.text) > end-i && strings.HasPrefix(n.text, text[i:end]) {
				return i, n
			}
		}
	}
	return 0, nil
}
