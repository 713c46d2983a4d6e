package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Bounds of Decode. They keep the cost of a hostile body in proportion to its
// length: arithmetic on 1e1000000 alone takes tens of milliseconds, and an object of
// 7 bytes takes 300 bytes of memory.
const (
	maxDepth        = 256      // nested objects and arrays
	maxNumberLength = 100      // characters of one number
	maxMemory       = 16 << 20 // bytes of memory of a decoded body, as estimated
)

// Bytes of memory that a value takes beside its text, its members and its elements.
const (
	scalarMemory  = 32 // with its place in an array
	memberMemory  = 48
	objectMemory  = 320 // a map has room for 8 members at once
	elementMemory = 16  // that grown slices leave unused
)

// Memory returns how many bytes of memory a decoded value takes, as Decode estimates it.
func Memory(value any) int {
	size := scalarMemory
	switch value := value.(type) {
	case string:
		size += len(value)
	case json.Number:
		size += len(value)
	case map[string]any:
		size += objectMemory
		for _, member := range value {
			size += memberMemory + Memory(member)
		}
	case []any:
		for _, element := range value {
			size += elementMemory + Memory(element)
		}
	}
	return size
}

// syntaxError is the reason why a body is not one strict JSON value.
type syntaxError struct {
	Offset int64 // of the byte with the error
	Reason string
	// Bound means that the value exceeds a bound of this package: it may be valid JSON.
	Bound bool
}

func (e *syntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason) }

// errTooMuch is the error for a body that would take too much memory. It says nothing
// about the body's syntax.
var errTooMuch = fmt.Errorf("the body holds too many values (the harness decodes at most %d MiB of them)", maxMemory>>20)

// Decode returns the one JSON value that the body holds. It is stricter than
// encoding/json: invalid UTF-8 and deep nesting are errors. Of members with the same name
// the last one counts. Numbers become json.Number, and those beyond the bounds Unread. Long
// texts are replaced as Shorten does. Errors are *syntaxError, or errTooMuch.
func Decode(body []byte) (any, error) {
	d := decoder{data: body}
	return d.document()
}

// decoder is a recursive-descent parser over the whole body.
type decoder struct {
	data  []byte
	pos   int
	depth int
	size  int               // bytes of memory of the values so far
	keys  map[string]string // one string for all occurrences of a key
	twice []string          // names of members that an object has twice, at most maxExtra
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
	return &syntaxError{Offset: int64(d.pos), Reason: fmt.Sprintf(format, args...)}
}

// exceeds reports a value beyond a bound of this package.
func (d *decoder) exceeds(format string, args ...any) error {
	return &syntaxError{Offset: int64(d.pos), Reason: fmt.Sprintf(format, args...), Bound: true}
}

// beyondBounds returns an error if a body could not be read because of a bound of this
// package. That says nothing about the server.
func beyondBounds(err error) error {
	var syntax *syntaxError
	if errors.Is(err, errTooMuch) {
		return err
	}
	if errors.As(err, &syntax) && syntax.Bound {
		return fmt.Errorf("the body exceeds what the harness reads: %w", err)
	}
	return nil
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
	if d.size += scalarMemory; d.size > maxMemory {
		return nil, errTooMuch
	}
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

// byteOrderMark is the character that some programs put before a text.
const byteOrderMark = '\uFEFF'

func (d *decoder) unexpected(wanted string) error {
	if d.pos >= len(d.data) {
		return d.fail("unexpected end of the body (want %s)", wanted)
	}
	r, _ := utf8.DecodeRune(d.data[d.pos:])
	if r == byteOrderMark && d.pos == 0 {
		return d.fail("the body begins with a byte order mark (RFC 8259, section 8.1, forbids it)")
	}
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
		return d.exceeds("nesting deeper than %d levels", maxDepth)
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
	d.size += objectMemory
	for more := true; more; {
		d.size += memberMemory
		key, err := d.key()
		if err != nil {
			return nil, err
		}
		if _, twice := object[key]; twice && len(d.twice) < maxExtra {
			d.twice = append(d.twice, clip(key))
		}
		d.space()
		if d.peek() != ':' {
			return nil, d.unexpected("a colon")
		}
		d.pos++
		d.space()
		var value any
		if d.depth == 1 && d.rows != nil && d.rows.inItems && key == "items" && d.peek() == '[' {
			d.rows.rows = nil // of other items before
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
		d.size += elementMemory
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
