package client

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// minSecret is the length in bytes below which a secret is found only as a
// separate word.
const minSecret = 8

// needlesOf returns the forms of a secret. Percent-encoded forms are not needed,
// because views decode them.
func needlesOf(secret, env string) []needle {
	var out []needle
	seen := map[string]bool{}
	add := func(n needle) {
		if n.text != "" && !seen[n.text] {
			seen[n.text] = true
			n.word = len(n.text) < minSecret
			out = append(out, n)
		}
	}
	add(needle{text: secret, env: env})
	add(needle{text: strings.ReplaceAll(secret, " ", "+")}) // as in a query string
	if escaped, err := json.Marshal(secret); err == nil {
		add(needle{text: strings.Trim(string(escaped), `"`)})
	}
	add(needle{text: escapeJSON(secret)})
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if len(secret) < minSecret {
			add(needle{text: encoding.EncodeToString([]byte(secret))})
			continue
		}
		for offset := range 3 {
			add(needle{text: base64Core(encoding, secret, offset), base64: true})
		}
	}
	return out
}

// escapeJSON escapes only what JSON requires, unlike json.Marshal.
func escapeJSON(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return ""
	}
	quoted := strings.TrimSuffix(b.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

// base64Core returns the base64 characters that depend on the secret only, if it
// starts offset bytes after a multiple of 3. Characters that share bits with the
// bytes around it are dropped.
func base64Core(encoding *base64.Encoding, secret string, offset int) string {
	padded := append(make([]byte, offset), secret...)
	text := encoding.EncodeToString(padded)
	return text[(offset*8+5)/6 : len(padded)*8/6]
}

// base64Run extends a match to the whole base64 string: its neighbours hold bits
// of the secret's first and last bytes.
func base64Run(text string, start, end int) (int, int) {
	for start > 0 && isBase64Byte(text[start-1]) {
		start--
	}
	for end < len(text) && isBase64Byte(text[end]) {
		end++
	}
	for end < len(text) && text[end] == '=' {
		end++
	}
	return start, end
}

func isBase64Byte(c byte) bool {
	return isWordByte(c) || c == '+' || c == '/' || c == '-'
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// view is a decoded text with the positions of its bytes in the original.
type view struct {
	text  string
	index []int // original position of each byte and of the end; nil if unchanged
}

func plainView(s string) view { return view{text: s} }

func (v view) origin(i int) int {
	if v.index == nil {
		return i
	}
	return v.index[i]
}

// percentDecoded decodes one layer of percent-encoding and keeps invalid escapes.
// It reports whether there was any escape.
func (v view) percentDecoded() (view, bool) {
	if !strings.Contains(v.text, "%") {
		return v, false
	}
	text := make([]byte, 0, len(v.text))
	index := make([]int, 0, len(v.text)+1)
	for i := 0; i < len(v.text); {
		c, width := v.text[i], 1
		if decoded, ok := percentEscape(v.text[i:]); ok {
			c, width = decoded, 3
		}
		text = append(text, c)
		index = append(index, v.origin(i))
		i += width
	}
	index = append(index, v.origin(len(v.text)))
	return view{string(text), index}, len(text) < len(v.text)
}

func percentEscape(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, ok1 := hexDigit(s[1])
	low, ok2 := hexDigit(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
