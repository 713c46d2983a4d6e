package redact

import (
	"bytes"
	"encoding/json"
)

// units calls each for every unit of a content that may be redacted, in order. A unit
// is a byte or an escape.
type units func(content []byte, each func(start, end int))

// unitsOf returns the units of a content; nil if all of it may be redacted.
func unitsOf(content []byte) units {
	switch {
	case bytes.HasPrefix(content, []byte("<?xml ")), bytes.HasPrefix(bytes.ToLower(content[:min(len(content), 9)]), []byte("<!doctype")):
		return markupUnits
	case bytes.HasPrefix(content, []byte("{")) && json.Valid(content): // a number alone may be a part of a key
		return jsonUnits
	}
	return nil
}

// within reduces spans to units. A part of an escape counts as all of it.
func within(content []byte, of units, spans []span) []span {
	if of == nil || len(spans) == 0 {
		return spans
	}
	var out []span
	var source []int // index of the span that each comes from
	next := 0
	of(content, func(start, end int) {
		for next < len(spans) && spans[next].end <= start {
			next++
		}
		if next == len(spans) || spans[next].start >= end {
			return
		}
		if n := len(out) - 1; n >= 0 && out[n].end == start && source[n] == next {
			out[n].end = end
			return
		}
		out, source = append(out, span{start: start, end: end}), append(source, next)
	})
	for i, s := range out {
		if whole := spans[source[i]]; s.start == whole.start && s.end == whole.end {
			out[i] = whole // with its variable
		}
	}
	return out
}

// jsonUnits are the characters of strings.
func jsonUnits(content []byte, each func(start, end int)) {
	inside := false
	for i := 0; i < len(content); {
		c, width := content[i], 1
		switch {
		case c == '"':
			inside = !inside
		case inside:
			if c == '\\' {
				if width = 2; content[i+1] == 'u' {
					width = 6
				}
			}
			each(i, i+width)
		}
		i += width
	}
}

// markupUnits are the characters of texts and of the values of attributes.
func markupUnits(content []byte, each func(start, end int)) {
	tag, quote := false, byte(0)
	for i := 0; i < len(content); {
		c, width := content[i], 1
		switch {
		case !tag && c == '<':
			tag = true
		case tag && quote == 0 && c == '>':
			tag = false
		case tag && quote == 0 && (c == '"' || c == '\''):
			quote = c
		case tag && quote == c:
			quote = 0
		case !tag || quote != 0:
			if c == '&' {
				if _, n := entity(content[i:]); n > 0 {
					width = n
				}
			}
			each(i, i+width)
		}
		i += width
	}
}
