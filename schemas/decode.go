package schemas

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Bounds of Decode. They keep the cost of a hostile body in proportion to its
// length: arithmetic on 1e1000000 alone takes tens of milliseconds.
const (
	maxDepth        = 64  // nested objects and arrays
	maxNumberLength = 100 // characters of one number
	maxExponent     = 400 // a float64 ends at 308
)

// SyntaxError is the reason why a body is not one strict JSON value.
type SyntaxError struct {
	Offset int64 // of the byte with the error
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason) }

// Decode returns the one JSON value that the body holds. It is stricter than
// encoding/json: invalid UTF-8, duplicate keys, deep nesting and long numbers are
// errors. Numbers become json.Number. Errors are *SyntaxError.
func Decode(body []byte) (any, error) {
	d := decoder{data: body}
	return d.document()
}

// decoder is a recursive-descent parser over the whole body.
type decoder struct {
	data  []byte
	pos   int
	depth int
	keys  map[string]string // one string for all occurrences of a key
	rows  *rowReader        // of the list to read; nil for none
}

func (d *decoder) document() (any, error) {
	if !utf8.Valid(d.data) {
		d.pos = validPrefix(d.data)
		return nil, d.fail("invalid UTF-8")
	}
	d.space()
	value, err := d.value()
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(d.data) {
		return nil, d.fail("trailing bytes after the JSON value")
	}
	return value, nil
}

func validPrefix(data []byte) int {
	n := 0
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

func (d *decoder) fail(format string, args ...any) error {
	return &SyntaxError{int64(d.pos), fmt.Sprintf(format, args...)}
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the byte at the position; 0 at the end. A literal 0 byte is valid
// nowhere, so that the two cases need no distinction.
func (d *decoder) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

func (d *decoder) value() (any, error) {
	switch c := d.peek(); {
	case c == '{':
		return d.object()
	case c == '[':
		return d.array(d.depth == 0 && d.rows != nil && !d.rows.inItems)
	case c == '"':
		return d.str()
	case c == '-' || '0' <= c && c <= '9':
		return d.number()
	case c == 't':
		return true, d.literal("true")
	case c == 'f':
		return false, d.literal("false")
	case c == 'n':
		return nil, d.literal("null")
	}
	return nil, d.unexpected("a JSON value")
}

func (d *decoder) unexpected(wanted string) error {
	if d.pos >= len(d.data) {
		return d.fail("unexpected end of the body (want %s)", wanted)
	}
	r, _ := utf8.DecodeRune(d.data[d.pos:])
	return d.fail("unexpected %q (want %s)", r, wanted)
}

func (d *decoder) literal(word string) error {
	if !bytes.HasPrefix(d.data[d.pos:], []byte(word)) {
		return d.unexpected("a JSON value")
	}
	d.pos += len(word)
	return nil
}

func (d *decoder) enter() error {
	if d.depth == maxDepth {
		return d.fail("nesting deeper than %d levels", maxDepth)
	}
	d.depth++
	d.pos++
	d.space()
	return nil
}

// next moves past a comma or the closing byte. It reports whether it was a comma.
func (d *decoder) next(closing byte) (more bool, err error) {
	d.space()
	switch d.peek() {
	case ',':
		d.pos++
		d.space()
		return true, nil
	case closing:
		d.leave()
		return false, nil
	}
	return false, d.unexpected("a comma or " + string(closing))
}

func (d *decoder) leave() {
	d.pos++
	d.depth--
}

func (d *decoder) object() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	object := map[string]any{}
	if d.peek() == '}' {
		d.leave()
		return object, nil
	}
	for more := true; more; {
		start := d.pos
		key, err := d.key()
		if err != nil {
			return nil, err
		}
		if _, twice := object[key]; twice {
			d.pos = start
			return nil, d.fail("duplicate key %.80q", key)
		}
		d.space()
		if d.peek() != ':' {
			return nil, d.unexpected("a colon")
		}
		d.pos++
		d.space()
		var value any
		if d.depth == 1 && d.rows != nil && d.rows.inItems && key == "items" && d.peek() == '[' {
			value, err = d.array(true)
		} else {
			value, err = d.value()
		}
		if err != nil {
			return nil, err
		}
		object[key] = value
		if more, err = d.next('}'); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func (d *decoder) array(ofRows bool) (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	list := []any{}
	if d.peek() == ']' {
		d.leave()
		return list, nil
	}
	for more := true; more; {
		element := d.value
		if ofRows {
			element = d.row
		}
		value, err := element()
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		if more, err = d.next(']'); err != nil {
			return nil, err
		}
	}
	return list, nil
}
