package hostile

// The search for keys in what a run shows, in whatever spelling.

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"outreach.example/conformance/fixtures/profile"
)

// Spelling is a way to write a key that a reader, or a program, turns back into it.
type Spelling struct {
	Name string
	Of   func(token string) string
}

// Spellings are the spellings in which the tests look for keys.
var Spellings = []Spelling{
	{"plain", func(token string) string { return token }},
	{"capitals", strings.ToUpper},
	{"small letters", strings.ToLower},
	{"hexadecimal", func(token string) string { return hex.EncodeToString([]byte(token)) }},
	{"hexadecimal capitals", func(token string) string { return strings.ToUpper(hex.EncodeToString([]byte(token))) }},
	{"base64", func(token string) string { return base64.StdEncoding.EncodeToString([]byte("x:" + token)) }},
	{"base64 for URLs", func(token string) string { return base64.RawURLEncoding.EncodeToString([]byte(token)) }},
	{"percent", eachByte("%%%02X")},
}

func eachByte(format string) func(string) string {
	return func(token string) string {
		var b strings.Builder
		for _, c := range []byte(token) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
}

// told is how many characters of a key, its hexadecimal or its base64 form are too many.
const told = 12

// KeySearch finds parts of keys in whatever spelling.
type KeySearch struct{ parts map[string]string } // key names by part of told characters

// NewKeySearch returns a search for the keys that have a token.
func NewKeySearch(keys []profile.Key) KeySearch {
	s := KeySearch{map[string]string{}}
	for _, k := range keys {
		if len(k.Token) < told {
			continue
		}
		forms := []string{k.Token, hex.EncodeToString([]byte(k.Token))}
		for offset := range 3 {
			for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				encoded := encoding.EncodeToString(append(make([]byte, offset), k.Token...))
				forms = append(forms, encoded[(offset*8+5)/6:(offset+len(k.Token))*8/6])
			}
		}
		for _, form := range forms {
			form = strings.ToLower(form)
			for i := range len(form) - told + 1 {
				s.parts[form[i:i+told]] = k.Name
			}
		}
	}
	return s
}

// Find returns the name of a key that the text shows in part, and the text around it.
func (s KeySearch) Find(text string) (key, around string, found bool) {
	for range 5 { // a query inside a query inside JSON inside HTML
		plain := seen(text)
		for i := range len(plain) - told + 1 {
			if name, ok := s.parts[plain[i:i+told]]; ok {
				return name, plain[max(0, i-120):min(len(plain), i+told+60)], true
			}
		}
		decoded := escape.ReplaceAllStringFunc(text, decodeEscape)
		if decoded == text {
			break
		}
		text = decoded
	}
	return "", "", false
}

// seen returns the text in small letters, without what a reader does not see. Nearly all of
// it is ASCII.
func seen(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case ' ' <= r && r <= '~' && !('A' <= r && r <= 'Z'):
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Zl, unicode.Zp):
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// escape matches an escape.
var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}|\\+[uU](?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{4})|\\+x[0-9A-Fa-f]{2}|&#?[0-9A-Za-z]{2,8};`)

func decodeEscape(e string) string {
	if e[0] == '&' {
		return html.UnescapeString(e)
	}
	code, err := strconv.ParseUint(strings.TrimLeft(e, `%\uUx`), 16, 32)
	switch {
	case err != nil:
		return e
	case e[0] == '%', strings.Contains(e, "x"):
		return string([]byte{byte(code)})
	}
	return string(rune(code))
}
