package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// style is a way to write JSON. The zero style is that of encode.
type style struct {
	before func(a, b string) int    // order of an object's members
	number func(json.Number) string // spelling of a number
	text   func(string) string      // spelling of a string, with its quotes
}

// write encodes in the style.
func (s style) write(value any) []byte {
	if s.before == nil {
		s.before = strings.Compare
	}
	if s.number == nil {
		s.number = json.Number.String
	}
	if s.text == nil {
		s.text = func(text string) string { return string(encode(text)) }
	}
	var b bytes.Buffer
	s.append(&b, value)
	return b.Bytes()
}

func (s style) append(b *bytes.Buffer, value any) {
	switch value := value.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, name := range slices.SortedFunc(maps.Keys(value), s.before) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(s.text(name))
			b.WriteByte(':')
			s.append(b, value[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range value {
			if i > 0 {
				b.WriteByte(',')
			}
			s.append(b, item)
		}
		b.WriteByte(']')
	case string:
		b.WriteString(s.text(value))
	case json.Number:
		b.WriteString(s.number(value))
	default:
		b.Write(encode(value))
	}
}

// decimal formats a number with a fraction: 1 as 1.0.
func decimal(n json.Number) string {
	if strings.ContainsAny(n.String(), ".eE") {
		return n.String()
	}
	return n.String() + ".0"
}

// exponential formats a number with an exponent: 1 as 1e0.
func exponential(n json.Number) string {
	if strings.ContainsAny(n.String(), "eE") {
		return n.String()
	}
	return n.String() + "e0"
}

// escaped escapes every character that may be escaped and is not plain: all but
// ASCII, the slash, the first letter.
func escaped(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		switch {
		case r == '/':
			b.WriteString(`\/`)
		case i > 0 && r >= ' ' && r < 0x7f && r != '"' && r != '\\':
			b.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
