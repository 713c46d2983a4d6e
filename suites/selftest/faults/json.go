package faults

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Faults decode and encode most responses of the self-test. encoding/json spends more time
// on them than the suites spend on judging, so plain values take a short cut here.

// decode decodes a JSON body and keeps numbers as written; ok is false for
// invalid JSON.
func decode(body []byte) (any, bool) {
	p := parser{text: body}
	if value, ok := p.value(0); ok {
		return value, true
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	return value, decoder.Decode(&value) == nil
}

// parser reads JSON without escapes in strings, and without white space. It gives up on
// anything else.
type parser struct {
	text []byte
	at   int
}

// deepest is how deep values may be nested for the parser.
const deepest = 64

// value reads a value; ok is false if encoding/json must read the body.
func (p *parser) value(depth int) (value any, ok bool) {
	if p.at >= len(p.text) || depth > deepest {
		return nil, false
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == '"':
		return p.str()
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	case p.takes("null"):
		return nil, true
	case p.takes("true"):
		return true, true
	case p.takes("false"):
		return false, true
	}
	return nil, false
}

// takes reads the word if it comes next.
func (p *parser) takes(word string) bool {
	if !bytes.HasPrefix(p.text[p.at:], []byte(word)) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) object(depth int) (any, bool) {
	members := map[string]any{}
	p.at++
	if p.takes("}") {
		return members, true
	}
	for {
		name, ok := p.str()
		if !ok || !p.takes(":") {
			return nil, false
		}
		if members[name], ok = p.value(depth); !ok {
			return nil, false
		}
		if p.takes("}") {
			return members, true
		}
		if !p.takes(",") {
			return nil, false
		}
	}
}

func (p *parser) array(depth int) (any, bool) {
	items := []any{}
	p.at++
	if p.takes("]") {
		return items, true
	}
	for {
		item, ok := p.value(depth)
		if !ok {
			return nil, false
		}
		items = append(items, item)
		if p.takes("]") {
			return items, true
		}
		if !p.takes(",") {
			return nil, false
		}
	}
}

func (p *parser) str() (string, bool) {
	if !p.takes(`"`) {
		return "", false
	}
	n := bytes.IndexByte(p.text[p.at:], '"')
	if n < 0 || !simple(p.text[p.at:p.at+n]) {
		return "", false
	}
	text := string(p.text[p.at : p.at+n])
	p.at += n + 1
	return text, true
}

// number reads digits, perhaps with a sign. Fractions and exponents are rare.
func (p *parser) number() (any, bool) {
	begin := p.at
	p.takes("-")
	first := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	digits := p.text[first:p.at]
	if len(digits) == 0 || digits[0] == '0' && len(digits) > 1 || p.at < len(p.text) && !bytes.ContainsRune([]byte(",]}"), rune(p.text[p.at])) {
		return nil, false
	}
	return json.Number(p.text[begin:p.at]), true
}

// simple reports whether the text stands in a JSON string as it is, in ASCII.
func simple[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// encode encodes a value from decode.
func encode(value any) []byte { return appendJSON(nil, value) }

func appendJSON(b []byte, value any) []byte {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return append(b, "null"...)
		}
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendJSON(b, name), ':')
			b = appendJSON(b, value[name])
		}
		return append(b, '}')
	case []any:
		if value == nil {
			return append(b, "null"...)
		}
		b = append(b, '[')
		for i, item := range value {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case string:
		if simple(value) {
			return append(append(append(b, '"'), value...), '"')
		}
	case json.Number:
		if value != "" {
			return append(b, value...)
		}
	case nil:
		return append(b, "null"...)
	}
	return append(b, encodeOther(value)...)
}

// encodeOther encodes what encoding/json must encode.
func encodeOther(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("faults: cannot encode a body: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
