package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

const (
	// minPart is the length from which a part of a secret, or of its hex or base64, is
	// redacted. Shorter parts are too common in ordinary text.
	minPart = 12
	// minSecret is the length below which a secret is only found as a separate word.
	minSecret = 8
	// minVariety is the least number of different letters and digits in a part. Ids
	// and figures may have long rows of the same digits.
	minVariety = 4
)

// form is one spelling of a secret, in lower case and without invisible characters.
type form struct {
	text   string
	secret string
	plain  bool // the secret itself, not its hex or base64
	word   bool // found only as a separate word, in its own letter case
}

// need returns how much of the form must be found.
func (f form) need() int { return min(len(f.text), minPart) }

// formsOf returns the forms of a secret. Escapes need none, because views decode them.
func formsOf(secret string) []form {
	if len(secret) < minSecret {
		return []form{{text: secret, secret: secret, plain: true, word: true},
			{text: base64.RawStdEncoding.EncodeToString([]byte(secret)), secret: secret, word: true},
			{text: base64.RawURLEncoding.EncodeToString([]byte(secret)), secret: secret, word: true}}
	}
	var out []form
	seen := map[string]bool{}
	add := func(text string, plain bool) {
		text = string(folded([]byte(text)))
		if len(text) >= windowBytes && !seen[text] {
			seen[text] = true
			out = append(out, form{text: text, secret: secret, plain: plain})
		}
	}
	for v := range layers(view{text: []byte(secret)}) { // it may look like an escape
		add(string(v.text), true)
	}
	add(strings.ReplaceAll(secret, " ", "+"), true) // as in a query
	for _, spelled := range []string{secret, strings.ToLower(secret), strings.ToUpper(secret)} {
		add(hex.EncodeToString([]byte(spelled)), false)
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for offset := range 3 {
				add(base64Core(encoding, spelled, offset), false)
			}
		}
	}
	return out
}

// base64Core returns the base64 characters that depend on the secret only, if it
// starts offset bytes after a multiple of 3.
func base64Core(encoding *base64.Encoding, secret string, offset int) string {
	padded := append(make([]byte, offset), secret...)
	text := encoding.EncodeToString(padded)
	return text[(offset*8+5)/6 : len(padded)*8/6]
}

// varied reports whether a part of a secret has enough different letters and digits.
func varied(part string) bool {
	var seen [256]bool
	n := 0
	for _, c := range []byte(part) {
		if isWordByte(c) && c != '_' && !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n >= minVariety
}

// isTokenByte reports whether the byte belongs to the word around a match: letters,
// digits and what base64 adds.
func isTokenByte(c byte) bool { return isWordByte(c) || c == '+' || c == '/' || c == '-' }

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
