package faults

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"outreach.example/conformance/schemas"
)

// Faults decode and encode most responses of the self-test. encoding/json spends more time
// on them than the suites spend on judging. It reads here only what is rare.

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

// parser reads JSON without white space. It gives up on anything else.
type parser struct {
	text []byte
	at   int
	// row makes a value of the text of each row of a list; nil if it needs none. The rows are
	// in the items of the root object, or in the root array.
	row     func(text []byte) (any, bool)
	inItems bool
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
		return p.array(depth+1, depth == 0 && p.row != nil && !p.inItems)
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
		if depth == 1 && p.row != nil && p.inItems && name == "items" && bytes.HasPrefix(p.text[p.at:], []byte("[")) {
			members[name], ok = p.array(depth+1, true)
		} else {
			members[name], ok = p.value(depth)
		}
		if !ok {
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

func (p *parser) array(depth int, ofRows bool) (any, bool) {
	items := []any{}
	p.at++
	if p.takes("]") {
		return items, true
	}
	for {
		read := p.value
		if ofRows {
			read = p.rowAt
		}
		item, ok := read(depth)
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

// rowAt reads a row of a list. A row that is no object is a value as any other.
func (p *parser) rowAt(depth int) (any, bool) {
	end := schemas.ObjectEnd(p.text, p.at)
	if end == 0 {
		return p.value(depth)
	}
	text := p.text[p.at:end]
	p.at = end
	return p.row(text)
}

// asWritten leaves the text of a row as it is.
func asWritten(text []byte) (any, bool) { return json.RawMessage(text), true }

func (p *parser) str() (string, bool) {
	if !p.takes(`"`) {
		return "", false
	}
	begin := p.at
	n := bytes.IndexByte(p.text[begin:], '"')
	if n < 0 {
		return "", false
	}
	if plain := p.text[begin : begin+n]; simple(plain) {
		p.at += n + 1
		return string(plain), true
	}
	for p.at < len(p.text) && p.text[p.at] != '"' {
		if p.text[p.at] == '\\' {
			p.at++
		}
		p.at++
	}
	p.at++
	var text string
	ok := p.at <= len(p.text) && json.Unmarshal(p.text[begin-1:p.at], &text) == nil
	return text, ok
}

// number reads a number up to the end of its value.
func (p *parser) number() (any, bool) {
	n := bytes.IndexAny(p.text[p.at:], ",]}")
	if n < 0 {
		return nil, false
	}
	number := p.text[p.at : p.at+n]
	p.at += n
	return json.Number(number), json.Valid(number) && number[n-1] > ' '
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
func encode(value any) []byte {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = appendJSON((*buffer)[:0], value)
	return bytes.Clone(*buffer)
}

// buffers are for pages, which take long to grow to.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// usualMembers is how many members most objects have at most.
const usualMembers = 32

func appendJSON(b []byte, value any) []byte {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return append(b, "null"...)
		}
		b = append(b, '{')
		names := slices.AppendSeq(make([]string, 0, usualMembers), maps.Keys(value))
		slices.Sort(names)
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, name), ':')
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
		return appendText(b, value)
	case json.Number:
		if value != "" {
			return append(b, value...)
		}
	case json.RawMessage:
		if len(value) > 0 {
			return append(b, value...)
		}
	case nil:
		return append(b, "null"...)
	}
	return append(b, encodeOther(value)...)
}

func appendText(b []byte, text string) []byte {
	if simple(text) {
		return append(append(append(b, '"'), text...), '"')
	}
	return append(b, encodeOther(text)...)
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
