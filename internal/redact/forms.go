package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"net/url"
	"strings"
)

// minSecret is the length in bytes below which a secret is only found as a separate word.
// It is also the length from which the beginning of a form is found.
const minSecret = 8

// form is one form of a secret.
type form struct {
	text    string // in its own letter case
	secret  string
	encoded bool // hex or base64: no variable can stand for it, and other characters may surround it
}

// formsOf returns the forms of a secret that has at least minSecret bytes.
func formsOf(secret string) []form {
	var out []form
	seen := map[string]bool{}
	add := func(text string, encoded bool) {
		if !seen[text] {
			seen[text] = true
			out = append(out, form{text, secret, encoded})
		}
	}
	add(secret, false)
	quoted, _ := json.Marshal(secret) // a string can always be written
	inJSON := string(quoted[1 : len(quoted)-1])
	add(inJSON, false)
	inJSON = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inJSON) // as others than Go write it
	add(inJSON, false)
	add(strings.ReplaceAll(inJSON, "/", `\/`), false) // as PHP writes it
	add(url.QueryEscape(secret), false)
	add(url.PathEscape(secret), false)
	add(percent(secret), false)
	inHTML := html.EscapeString(secret)
	add(inHTML, false)
	add(strings.ReplaceAll(inHTML, "+", "&#43;"), false) // as html/template writes it
	var inXML strings.Builder
	_ = xml.EscapeText(&inXML, []byte(secret))
	add(inXML.String(), false)
	add(hex.EncodeToString([]byte(secret)), true)
	for offset := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			add(base64Core(encoding, secret, offset), true)
		}
	}
	return out
}

// percent returns the URL form with an escape for each byte.
func percent(secret string) string {
	var b strings.Builder
	for _, c := range []byte(secret) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// base64Core returns the base64 characters that depend on the secret only, if it
// starts offset bytes after a multiple of 3.
func base64Core(encoding *base64.Encoding, secret string, offset int) string {
	padded := append(make([]byte, offset), secret...)
	text := encoding.EncodeToString(padded)
	return text[(offset*8+5)/6 : len(padded)*8/6]
}
