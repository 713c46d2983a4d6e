package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The decoder's strings and numbers.

// key reads a key. Equal keys of a body share one string.
func (d *decoder) key() (string, error) {
	if d.peek() != '"' {
		return "", d.unexpected("a key in quotes")
	}
	if raw, plain := d.plain(); plain {
		if key, known := d.keys[string(raw)]; known {
			return key, nil
		}
		if d.keys == nil {
			d.keys = map[string]string{}
		}
		key := d.text(raw)
		d.keys[key] = key
		return key, nil
	}
	return d.str()
}

// text returns the text of a string or key, shortened if it is long.
func (d *decoder) text(raw []byte) string {
	text := string(shorten(raw, maxText))
	d.size += len(text)
	return text
}

// plain reads a string without escapes and returns its content. It does not move
// and reports false if the string has escapes or errors.
func (d *decoder) plain() ([]byte, bool) {
	for i := d.pos + 1; i < len(d.data); i++ {
		switch c := d.data[i]; {
		case c == '"':
			content := d.data[d.pos+1 : i]
			d.pos = i + 1
			return content, true
		case c == '\\' || c < ' ':
			return nil, false
		}
	}
	return nil, false
}

func (d *decoder) str() (string, error) {
	if raw, plain := d.plain(); plain {
		return d.text(raw), nil
	}
	d.pos++
	var out []byte
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '"':
			d.pos++
			return d.text(out), nil
		case c < ' ':
			return "", d.fail("control character in a string")
		case c == '\\':
			r, err := d.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
			d.pos++
		}
	}
	return "", d.fail("unexpected end of the body in a string")
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape sequence. Half a surrogate pair is valid JSON without a
// character: it becomes U+FFFD, as in encoding/json.
func (d *decoder) escape() (rune, error) {
	if d.pos+1 < len(d.data) {
		if r, ok := escapes[d.data[d.pos+1]]; ok {
			d.pos += 2
			return r, nil
		}
	}
	r, ok := d.hex(d.pos)
	if !ok {
		return 0, d.fail("unknown escape sequence in a string")
	}
	d.pos += 6
	if utf16.IsSurrogate(r) {
		second, ok := d.hex(d.pos)
		if pair := utf16.DecodeRune(r, second); ok && pair != unicode.ReplacementChar {
			d.pos += 6
			return pair, nil
		}
		return unicode.ReplacementChar, nil
	}
	return r, nil
}

// hex reads \uXXXX at a position.
func (d *decoder) hex(at int) (rune, bool) {
	if at+6 > len(d.data) || d.data[at] != '\\' || d.data[at+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range d.data[at+2 : at+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Unread stands for every number with more than maxNumberLength characters or beyond
// float64. It is such a number itself, and agrees with every number.
const Unread json.Number = "1e400"

// MissingNumber is the input that is missing if a number is Unread.
var MissingNumber = fmt.Sprintf("a number of at most %d characters that a float64 can hold", maxNumberLength)

func (d *decoder) number() (any, error) {
	start := d.pos
	if d.peek() == '-' {
		d.pos++
	}
	if d.peek() == '0' {
		d.pos++
	} else if d.digits() == 0 {
		return nil, d.unexpected("a digit")
	}
	if d.peek() == '.' {
		d.pos++
		if d.digits() == 0 {
			return nil, d.unexpected("a digit")
		}
	}
	if d.peek() == 'e' || d.peek() == 'E' {
		d.pos++
		if d.peek() == '+' || d.peek() == '-' {
			d.pos++
		}
		if d.digits() == 0 {
			return nil, d.unexpected("a digit")
		}
	}
	text := d.data[start:d.pos]
	if len(text) > maxNumberLength {
		return Unread, nil
	}
	d.size += len(text)
	f, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil, f == 0 && !isZero(text):
		return Unread, nil
	case f == 0: // -0 is the value 0, and schemas compare the values of an enum as text
		return json.Number("0"), nil
	}
	return json.Number(text), nil
}

// isZero reports whether all digits before an exponent are 0.
func isZero(number []byte) bool {
	mantissa, _, _ := bytes.Cut(bytes.ToLower(number), []byte("e"))
	return !bytes.ContainsAny(mantissa, "123456789")
}

func (d *decoder) digits() int {
	start := d.pos
	for '0' <= d.peek() && d.peek() <= '9' {
		d.pos++
	}
	return d.pos - start
}
