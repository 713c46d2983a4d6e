package redact

import (
	"bytes"
	"html"
	"iter"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// maxLayers is how many layers of escapes are decoded: those of a file, of what it quotes, and so on.
const maxLayers = 8

// view is a text as a reader sees it: without invisible characters, and with some
// layers of escapes decoded.
type view struct {
	text    []byte
	more    bool // the text goes on after the view
	indexed bool
	// from and to are where each byte begins and ends in the original. They are nil if
	// nothing changed, or if the view is not indexed.
	from, to []int32
}

// plainView returns the text without invisible characters.
func plainView(text []byte) view { return view{text: text}.visible() }

// layers returns the visible part of a view, then with one more layer of escapes
// decoded each. In each layer character references come first: markup writes some
// characters so, which may stand within other escapes.
func layers(of view) iter.Seq[view] {
	return func(yield func(view) bool) {
		v := of.visible()
		if !yield(v) {
			return
		}
		for range maxLayers {
			changed := false
			for _, begins := range []string{"&", `%\`} {
				decoded, some := v.decoded(begins)
				if !some {
					continue
				}
				if v, changed = decoded, true; !yield(v) {
					return
				}
			}
			if !changed {
				return
			}
		}
	}
}

// begin and end return the original position of the bytes before and after a position.
func (v view) begin(i int) int {
	if v.from == nil {
		return i
	}
	return int(v.from[i])
}

func (v view) end(i int) int {
	if v.to == nil {
		return i
	}
	return int(v.to[i-1])
}

// make returns an empty view with room for what v holds.
func (v view) make() view {
	made := view{text: make([]byte, 0, len(v.text)), more: v.more, indexed: v.indexed}
	if v.indexed {
		made.from, made.to = make([]int32, 0, len(v.text)), make([]int32, 0, len(v.text))
	}
	return made
}

// run appends the bytes of another view from i to j, unchanged.
func (v *view) run(of view, i, j int) {
	v.text = append(v.text, of.text[i:j]...)
	if !v.indexed {
		return
	}
	for at := i; at < j; at++ {
		v.from, v.to = append(v.from, int32(of.begin(at))), append(v.to, int32(of.end(at+1)))
	}
}

// unit appends bytes that stand for the bytes of another view from i to j.
func (v *view) unit(of view, i, j int, text []byte) {
	v.text = append(v.text, text...)
	if !v.indexed {
		return
	}
	for range text {
		v.from, v.to = append(v.from, int32(of.begin(i))), append(v.to, int32(of.end(j)))
	}
}

// visible drops control, format and zero-width characters, and replaces look-alikes of
// ASCII characters. What it drops may stand within the bytes of another such character, so
// it looks again.
func (v view) visible() view {
	for range maxLayers {
		seen, torn := v.seen()
		if !torn || len(seen.text) == len(v.text) {
			return seen
		}
		v = seen
	}
	return v
}

// seen is visible, once. It reports whether bytes are left that are no UTF-8.
func (v view) seen() (out view, torn bool) {
	start := 0 // of what is unchanged
	for i := ordinary(v.text, 0); i < len(v.text); i = ordinary(v.text, i) {
		r, width := rune(v.text[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRune(v.text[i:])
		}
		ascii := lookAlike(r)
		switch {
		case r == utf8.RuneError && width == 1:
			torn = true
		case ascii != 0 || invisible(r):
			if start == 0 {
				out = v.make()
			}
			out.run(v, start, i)
			if ascii != 0 {
				out.unit(v, i, i+width, []byte{ascii})
			}
			start = i + width
		}
		i += width
	}
	if start == 0 {
		return v, torn
	}
	out.run(v, start, len(v.text))
	return out, torn
}

// ordinary returns the position of the next byte that is not a printable ASCII
// character.
func ordinary(text []byte, i int) int {
	for i < len(text) && text[i] >= ' ' && text[i] < 0x7f {
		i++
	}
	return i
}

func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// lookAlike returns the ASCII character that folding or a full-width form stands for;
// 0 for none.
func lookAlike(r rune) byte {
	switch {
	case r == 'K': // the sign for kelvin
		return 'k'
	case r == 'ſ':
		return 's'
	case r >= '！' && r <= '～':
		return byte(r - '！' + '!')
	}
	return 0
}

// decoded decodes the escapes that begin with one of the characters, once. It reports
// whether there was any.
func (v view) decoded(begins string) (view, bool) {
	var out view
	start := 0 // of what is unchanged
	for i := escape(v.text, 0, begins); i < len(v.text); i = escape(v.text, i, begins) {
		text, width := unescape(v.text[i:])
		if width == 0 {
			i++
			continue
		}
		if start == 0 {
			out = v.make()
		}
		out.run(v, start, i)
		out.unit(v, i, i+width, text)
		i += width
		start = i
	}
	if start == 0 {
		return v, false
	}
	out.run(v, start, len(v.text))
	return out.visible(), true
}

// escape returns the position of the next of the characters that begin escapes.
func escape(text []byte, i int, begins string) int {
	if next := bytes.IndexAny(text[i:], begins); next >= 0 {
		return i + next
	}
	return len(text)
}

// unescape returns what the escape at the beginning of the text stands for, and its
// width; 0 if there is none.
func unescape(text []byte) (stands []byte, width int) {
	switch {
	case text[0] == '&':
		return entity(text)
	case text[0] == '%':
		if stands, width = digits(text, 1, 2, 16); width == 0 && len(text) > 1 && text[1]|0x20 == 'u' {
			stands, width = digits(text, 2, 4, 16)
		}
		return stands, width
	case len(text) < 2:
		return nil, 0
	}
	switch c := text[1]; c {
	case 'x', 'X':
		return digits(text, 2, 2, 16)
	case 'u', 'U':
		if len(text) > 2 && text[2] == '{' {
			if end := bytes.IndexByte(text[:min(len(text), 12)], '}'); end > 3 {
				code, err := strconv.ParseUint(string(text[3:end]), 16, 32)
				if err != nil {
					return nil, 0
				}
				return utf8.AppendRune(nil, rune(code)), end + 1
			}
			return nil, 0
		}
		return digits(text, 2, 4, 16)
	case '0', '1', '2', '3':
		return digits(text, 1, 3, 8)
	case 'b', 'f', 'n', 'r', 't', 'v':
		return nil, 2
	case '"', '\'', '\\', '/', '`':
		return text[1:2], 2
	}
	return nil, 0
}

// digits reads n digits after the first at bytes: a byte if they are 2 of base 16 or 3
// of base 8, else a character.
func digits(text []byte, at, n, base int) (stands []byte, width int) {
	if len(text) < at+n {
		return nil, 0
	}
	code, err := strconv.ParseUint(string(text[at:at+n]), base, 32)
	if err != nil {
		return nil, 0
	}
	if n < 4 && code < 0x100 {
		return []byte{byte(code)}, at + n
	}
	return utf8.AppendRune(nil, rune(code)), at + n
}

// entity reads an HTML character reference: a number, or a name with a semicolon.
func entity(text []byte) (stands []byte, width int) {
	const longest = 34
	n := 1
	for n < min(len(text), longest) && (isWordByte(text[n]) || text[n] == '#') {
		n++
	}
	number := n > 2 && text[1] == '#'
	switch {
	case n < len(text) && text[n] == ';':
		n++
	case !number:
		return nil, 0
	}
	reference := string(text[:n])
	if read := html.UnescapeString(reference); read != reference {
		return []byte(read), n
	}
	return nil, 0
}

// folded returns the text without invisible characters, in lower case.
func folded(text []byte) []byte {
	v := plainView(text)
	lower := make([]byte, len(v.text))
	for i, c := range v.text {
		lower[i] = lowerOf(c)
	}
	return lower
}

func lowerOf(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
