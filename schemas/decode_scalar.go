package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
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

// str reads a string. Package encoding/json reads escapes: half a surrogate pair, which is valid JSON
// without a character, becomes U+FFFD.
func (d *decoder) str() (string, error) {
	if raw, plain := d.plain(); plain {
		return d.text(raw), nil
	}
	end := stringEnd(d.data, d.pos)
	if end == 0 {
		d.pos = len(d.data)
		return "", d.fail("unexpected end of the body in a string")
	}
	var text string
	err := json.Unmarshal(d.data[d.pos:end+1], &text)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		if d.pos += int(syntax.Offset) - 1; d.data[d.pos] < ' ' {
			return "", d.fail("control character in a string")
		}
		return "", d.fail("unknown escape sequence in a string")
	}
	d.pos = end + 1
	return d.text([]byte(text)), err
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
