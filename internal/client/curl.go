package client

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxCurlBody is how long a body may be to be spelled out, in bytes. A shell
// takes at most 128 KiB in one word, and a reader far less.
const maxCurlBody = 16 << 10

// Curl returns the request as one line for a POSIX shell. The target's base
// address is $OUTREACH_URL and the key is $OUTREACH_KEY_<NAME>; no secret is in
// the line. A body beyond 16 KiB is left out, which a comment at the end says.
func (e Exchange) Curl() string {
	words := []string{"curl", "-i"}
	switch method := e.Request.method(); method {
	case http.MethodGet:
		if len(e.Request.Body) > 0 {
			words = append(words, "-X", method) // data would make it a POST
		}
	case http.MethodHead:
		words = append(words, "--head")
	default:
		words = append(words, "-X", e.curlMethod(method))
	}
	words = append(words, e.curlHeaders()...)
	before, data, after := e.curlBody()
	words = append(words, data...)
	words = append(words, e.curlAddress("")...)
	return before + strings.Join(words, " ") + after
}

func (e Exchange) curlMethod(method string) string {
	if strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return method
	}
	return e.word(oneLine(method))
}

// curlHeaders names what the request says beyond what curl says by itself.
func (e Exchange) curlHeaders() []string {
	r := e.Request
	headers := http.Header{}
	if len(r.Body) > 0 {
		headers.Set("Content-Type", "application/json")
	}
	if value, ok := r.authorization(); ok {
		headers.Set("Authorization", value)
	}
	for name, values := range r.Header {
		headers[http.CanonicalHeaderKey(name)] = values
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for _, value := range headers[name] {
			words = append(words, "-H", e.curlHeader(oneLine(name), oneLine(value), name == "Authorization"))
		}
		if len(headers[name]) == 0 && name == "Content-Type" {
			words = append(words, "-H", quote([]piece{{text: name + ":"}})) // keep curl from adding its own
		}
	}
	return words
}

func (e Exchange) curlHeader(name, value string, authorization bool) string {
	if value == "" {
		return e.word(name + ";") // curl's way to send a header without a value
	}
	pieces := []piece{{text: name + ": "}}
	if token := e.Request.Key.Token; authorization && token != "" && value == "Bearer "+token {
		// Not left to the search for secrets: this is the key whatever it looks like.
		return quote(append(pieces, piece{text: "Bearer "}, piece{env: e.Request.Key.Env()}))
	}
	return quote(append(pieces, e.secrets().pieces(value)...))
}

// curlAddress names the address, with a pattern behind it that curl expands, or
// none.
func (e Exchange) curlAddress(pattern string) []string {
	path := e.Request.Path
	var words []string
	if slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." }) {
		words = append(words, "--path-as-is")
	}
	target := path // for a path that cannot be sent at all
	if address, err := join(&url.URL{}, e.Request); err == nil {
		target = address.RequestURI()
	}
	switch {
	case !strings.ContainsAny(target, "[]{}"):
	case pattern == "":
		words = append(words, "--globoff")
	default:
		target = globs.Replace(target)
	}
	pieces := append([]piece{{env: "OUTREACH_URL"}}, e.secrets().pieces(oneLine(target))...)
	if pattern != "" {
		pieces = append(pieces, piece{text: pattern})
	}
	return append(words, quote(pieces))
}

// globs keeps curl from expanding what is no pattern.
var globs = strings.NewReplacer("[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// curlBody returns what has to stand before curl, its options, and after it. A
// body that fits into a one-line word is one; any other is fed to curl by printf.
func (e Exchange) curlBody() (before string, data []string, after string) {
	body := string(e.Request.Body)
	switch {
	case body == "":
		return "", nil, ""
	case len(body) > maxCurlBody:
		return "", []string{"--data-binary", "@body"}, fmt.Sprintf(" # the file body holds %d bytes, which are not shown", len(body))
	case utf8.ValidString(body) && body == oneLine(body):
		return "", []string{"--data-raw", e.word(body)}, ""
	}
	format, arguments := "", ""
	for _, p := range e.secrets().pieces(body) {
		if p.env != "" {
			format += "%s"
			arguments += " " + quote([]piece{p})
			continue
		}
		format += printfFormat(p.text)
	}
	return "printf '" + format + "'" + arguments + " | ", []string{"--data-binary", "@-"}, ""
}

// word redacts and quotes.
func (e Exchange) word(s string) string { return quote(e.secrets().pieces(s)) }
