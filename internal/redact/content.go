package redact

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Content returns the content of a file without secrets. JSON, XML and HTML stay
// well-formed: only strings, texts and the values of attributes change. Binary content
// keeps its length.
func (s *Set) Content(content []byte) []byte { return s.replaced(content, s.find(content)) }

func (s *Set) replaced(content []byte, spans []span) []byte {
	if len(spans) == 0 {
		return content
	}
	if bytes.IndexByte(content, 0) >= 0 {
		return starred(content, spans)
	}
	var parts []part
	switch {
	case bytes.HasPrefix(content, []byte("<?xml ")), bytes.HasPrefix(bytes.ToLower(content[:min(len(content), 9)]), []byte("<!doctype")):
		parts = partsOfMarkup(content)
	case bytes.HasPrefix(content, []byte("{")) && json.Valid(content): // a number alone may be a part of a key
		parts = partsOfJSON(content)
	}
	if parts != nil {
		spans = slices.DeleteFunc(spans, func(f span) bool {
			return parts[f.start] == escape || f.end < len(parts) && parts[f.end] == escape || slices.Contains(parts[f.start:f.end], syntax)
		})
	}
	return s.join(string(content), merge(spans))
}

// starred returns the content with an asterisk for each byte of a secret.
func starred(content []byte, spans []span) []byte {
	content = bytes.Clone(content)
	for _, f := range spans {
		copy(content[f.start:f.end], bytes.Repeat([]byte{'*'}, f.end-f.start))
	}
	return content
}

// part is what a byte of a structured content belongs to.
type part byte

const (
	syntax part = iota // must stay
	text               // a character, or the first byte of an escape
	escape             // the rest of an escape
)

// partsOfJSON finds the characters of strings.
func partsOfJSON(content []byte) []part {
	parts := make([]part, len(content))
	inside := false
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case c == '"':
			inside = !inside
		case inside:
			parts[i] = text
			if c == '\\' {
				i++
				parts[i] = escape
				if content[i] == 'u' {
					copy(parts[i+1:], []part{escape, escape, escape, escape})
					i += 4
				}
			}
		}
	}
	return parts
}

// partsOfMarkup finds the characters of texts and of the values of attributes.
func partsOfMarkup(content []byte) []part {
	parts := make([]part, len(content))
	tag, quote := false, byte(0)
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case !tag && c == '<':
			tag = true
		case tag && quote == 0 && c == '>':
			tag = false
		case tag && quote == 0 && (c == '"' || c == '\''):
			quote = c
		case tag && quote == c:
			quote = 0
		case !tag || quote != 0:
			parts[i] = text
			if end := bytes.IndexByte(content[i:min(len(content), i+maxEntity)], ';'); c == '&' && end > 0 {
				for range end {
					i++
					parts[i] = escape
				}
			}
		}
	}
	return parts
}

// maxEntity is the length of the longest character reference, in bytes.
const maxEntity = 34
