package client

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// minSecret is the length in bytes from which a string is sought everywhere,
// not only as a word of its own.
const minSecret = 8

// needlesOf returns the forms in which a secret may show. Percent-encoding is
// not among them: views undo it.
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
	add(needle{text: strings.ReplaceAll(secret, " ", "+")}) // as in a query
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

// escapeJSON escapes only what JSON demands, as encoders other than Go's do.
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

// base64Core returns the characters that stand for the secret and nothing else
// in the base64 form of any text that has it offset bytes after a multiple of
// three. Characters that share bits with the bytes around it are left off.
func base64Core(encoding *base64.Encoding, secret string, offset int) string {
	padded := append(make([]byte, offset), secret...)
	text := encoding.EncodeToString(padded)
	return text[(offset*8+5)/6 : len(padded)*8/6]
}

// base64Run widens a part of a base64 string to the whole: its neighbours hold
// the secret's first and last bits, and a user name is of no use alone.
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

// view is a text after decoding, with the way back to the original.
type view struct {
	text  string
	index []int // of each byte, and of the end, in the original; nil where they are the same
}

func plainView(s string) view { return view{text: s} }

func (v view) origin(i int) int {
	if v.index == nil {
		return i
	}
	return v.index[i]
}

// percentDecoded undoes one layer of percent-encoding; a percent sign that
// begins no escape stays. It reports whether there was any escape.
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
