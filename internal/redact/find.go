package redact

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
)

// index finds the forms of all secrets in one pass over a text.
type index struct {
	forms map[uint64][]form // by their first minSecret bytes
	// filter has a bit for each of these beginnings. Most places of a text need no more.
	filter [1 << 10]uint64
	words  []form    // short secrets
	public []byte    // texts that are no secrets, in lower case, one per line
	asked  *sync.Map // part of a form → whether it is in public
}

// beginning returns the first minSecret bytes in lower case. Some other characters become
// equal too.
func beginning[T []byte | string](text T) uint64 {
	var b [minSecret]byte
	copy(b[:], text)
	return binary.LittleEndian.Uint64(b[:]) | 0x2020202020202020
}

// bit returns the place of a beginning in the filter.
func bit(beginning uint64) (word int, mask uint64) {
	hash := beginning * 0x9e3779b97f4a7c15
	return int(hash >> 54), 1 << (hash >> 48 & 63)
}

func (x *index) add(secret string) {
	if len(secret) < minSecret {
		x.words = append(x.words, form{text: secret, secret: secret})
		return
	}
	for _, f := range formsOf(secret) {
		key := beginning(f.text)
		x.forms[key] = append(x.forms[key], f)
		word, mask := bit(key)
		x.filter[word] |= mask
	}
}

// publish adds a text that is no secret.
func (x *index) publish(text string) {
	x.public, x.asked = append(append(x.public, '\n'), strings.ToLower(text)...), &sync.Map{}
}

// span is the position of a secret in a text. Its form is empty if something else than one
// whole form stands there.
type span struct {
	start, end int
	form       form
}

// find returns the secrets in a text. They may overlap.
func (x *index) find(text []byte) (all []span) {
	for at := 0; at+minSecret <= len(text); at++ {
		key := binary.LittleEndian.Uint64(text[at:]) | 0x2020202020202020
		if word, mask := bit(key); x.filter[word]&mask == 0 {
			continue
		}
		for _, f := range x.forms[key] {
			if s, ok := x.match(text, at, f); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

// match reports whether a form, or the beginning of one that is cut off, stands at a
// place.
func (x *index) match(text []byte, at int, f form) (span, bool) {
	n := common(text[at:], f.text)
	whole := n == len(f.text)
	switch {
	case n < minSecret, !whole && !cutOff(text[at+n:]), !f.encoded && x.isPublic(f.text[:n]):
		return span{}, false
	case whole && f.encoded:
		start, end := wordAround(text, at, at+n)
		return span{start: start, end: end}, true
	case whole && string(text[at:at+n]) == f.text:
		return span{at, at + n, f}, true
	}
	return span{start: at, end: at + n}, true
}

// isPublic reports whether the text is a part of what is no secret. The same keys are asked
// about again and again.
func (x *index) isPublic(text string) bool {
	if known, asked := x.asked.Load(text); asked {
		return known.(bool)
	}
	public := bytes.Contains(x.public, bytes.ToLower([]byte(text)))
	x.asked.Store(text, public)
	return public
}

// common returns how many bytes of a text are equal to the form but for letter case.
func common(text []byte, form string) int {
	n := 0
	for n < len(text) && n < len(form) && lower(text[n]) == lower(form[n]) {
		n++
	}
	return n
}

// cutOff reports whether a text was cut off before its rest.
func cutOff(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " ")
	return len(rest) == 0 || bytes.HasPrefix(rest, []byte("…")) || bytes.HasPrefix(rest, []byte("..."))
}

// wordAround extends base64 or hex to the word around it, whose other characters may belong
// to the secret too.
func wordAround(text []byte, start, end int) (int, int) {
	for start > 0 && (isWordByte(text[start-1]) || strings.IndexByte("+/-", text[start-1]) >= 0) {
		start--
	}
	for end < len(text) && (isWordByte(text[end]) || strings.IndexByte("+/-=", text[end]) >= 0) {
		end++
	}
	return start, end
}

// findWords returns the short secrets that are separate words, in their own letter case.
func (x *index) findWords(text []byte) (all []span) {
	for _, f := range x.words {
		for at := 0; ; {
			next := bytes.Index(text[at:], []byte(f.text))
			if next < 0 {
				break
			}
			start := at + next
			at = start + len(f.text)
			if (start == 0 || !isWordByte(text[start-1])) && (at == len(text) || !isWordByte(text[at])) {
				all = append(all, span{start, at, f})
			}
		}
	}
	return all
}

// merge sorts spans and joins those that overlap. A span within another one does not count,
// nor does what is cut off where a whole secret stands.
func merge(all []span) (out []span) {
	slices.SortStableFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(b.form.secret, a.form.secret))
	})
	for _, s := range all {
		n := len(out) - 1
		switch {
		case n < 0 || s.start >= out[n].end:
			out = append(out, s)
		case s.end > out[n].end:
			out[n] = span{start: out[n].start, end: s.end}
		}
	}
	return out
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
