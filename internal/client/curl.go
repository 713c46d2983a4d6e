package client

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"outreach.example/conformance/internal/redact"
)

// maxCurlBody and maxCurlLine are the longest body and the longest path with a query in
// a curl command, in bytes. A shell word holds at most 128 KiB.
const (
	maxCurlBody = 16 << 10
	maxCurlLine = 16 << 10
)

// Curl returns the request as one line for a POSIX shell. $OUTREACH_URL is the
// target's base address and $OUTREACH_KEY_<NAME> the key; the line holds no
// secret. If a command mints the key, the line runs it first. A body over 16 KiB is
// replaced by a comment. So is the whole line if the path with its query is longer.
func (e Exchange) Curl() string {
	if n := e.lineLength(); n > maxCurlLine {
		return tooLong(n)
	}
	return e.minting(e.curl())
}

// whole reports whether the command sends the whole request: nothing is replaced by a comment.
func (e Exchange) whole() bool {
	return e.lineLength() <= maxCurlLine && len(e.Request.Body) <= maxCurlBody
}

// lineLength returns about how many bytes path and query of the request have.
func (e Exchange) lineLength() int {
	n := len(e.Request.Path)
	for name, values := range e.Request.Query {
		for _, value := range values {
			n += len(name) + len(value)
		}
	}
	return n
}

// tooLong replaces the command of a request with such a path and query.
func tooLong(n int) string {
	return fmt.Sprintf("# the path and query of the request have %d bytes, not shown here", n)
}

// minting puts the command that mints the key before a line that uses the key.
func (e Exchange) minting(line string) string {
	if name := e.Request.Key.Env(); e.Request.Key.Mint != "" && strings.Contains(line, name) {
		return name + "=$(" + redact.Process.Text(e.Request.Key.Mint) + "); " + line
	}
	return line
}

func (e Exchange) curl() string {
	words := []string{"curl", "-i"}
	switch method := e.Request.method(); method {
	case http.MethodGet:
		if len(e.Request.Body) > 0 {
			words = append(words, "-X", method) // curl sends data with POST otherwise
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

// curlHeaders returns the headers that curl does not add itself.
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
			words = append(words, "-H", quote([]redact.Piece{{Text: name + ":"}})) // keep curl from adding its own
		}
	}
	return words
}

func (e Exchange) curlHeader(name, value string, authorization bool) string {
	if value == "" {
		return e.word(name + ";") // curl's syntax for an empty header
	}
	pieces := []redact.Piece{{Text: name + ": "}}
	if token := e.Request.Key.Token; authorization && token != "" && value == "Bearer "+token {
		// Do not search for secrets here: this is the key, whatever it looks like.
		return quote(append(pieces, redact.Piece{Text: "Bearer "}, redact.Piece{Env: e.Request.Key.Env()}))
	}
	return quote(append(pieces, e.pieces(value)...))
}

// curlAddress returns the address, followed by a pattern that curl expands (may be
// empty).
func (e Exchange) curlAddress(pattern string) []string {
	path := e.Request.Path
	var words []string
	if slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s == "." || s == ".." }) {
		words = append(words, "--path-as-is")
	}
	target := path // for a path that cannot be sent
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
	pieces := append([]redact.Piece{{Env: "OUTREACH_URL"}}, e.pieces(oneLine(target))...)
	if pattern != "" {
		pieces = append(pieces, redact.Piece{Text: pattern})
	}
	return append(words, quote(pieces))
}

// globs escapes the characters that curl would expand.
var globs = strings.NewReplacer("[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// curlBody returns the text before curl, its options, and the text after it. A
// one-line body becomes a word; printf feeds any other body to curl.
func (e Exchange) curlBody() (before string, data []string, after string) {
	body := string(e.Request.Body)
	switch {
	case body == "":
		return "", nil, ""
	case len(body) > maxCurlBody:
		return "", []string{"--data-binary", "@body"}, fmt.Sprintf(" # the file body has %d bytes, not shown here", len(body))
	case utf8.ValidString(body) && body == oneLine(body):
		return "", []string{"--data-raw", e.word(body)}, ""
	}
	format, arguments := "", ""
	for _, p := range e.pieces(body) {
		if p.Env != "" {
			format += "%s"
			arguments += " " + quote([]redact.Piece{p})
			continue
		}
		format += printfFormat(p.Text)
	}
	return "printf '" + format + "'" + arguments + " | ", []string{"--data-binary", "@-"}, ""
}

// pieces splits a text into literal text and keys. The variable of the own key is its
// own, even if another key has the same token.
func (e Exchange) pieces(text string) []redact.Piece {
	redact.Process.Learn(e.Request.Key.Token, e.Request.Key.Env())
	pieces := redact.Process.Pieces(text)
	for i := range pieces {
		if pieces[i].Is(e.Request.Key.Token) {
			pieces[i].Env = e.Request.Key.Env()
		}
	}
	return withVariables(pieces, e.variables)
}

// word redacts and quotes s.
func (e Exchange) word(s string) string { return quote(e.pieces(s)) }

// One curl per request is too slow to reach many limits. So one curl sends a
// volley of requests, numbered in the fragment of the address, which is not sent.
// Volleys repeat up to 1,000 requests, until a response is a 429 or the status
// that replaced it.
const (
	volley  = "#[1-50]"
	volleys = "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"
)

// CurlAtLimit returns Curl for a request beyond the limit of its key: the line
// first drives the key to its limit. A GET or HEAD is repeated until it gets 429,
// and that response (or else the last) is shown. Any other request is sent once,
// after read got 429. If rest is not 0, the line sleeps that long before the
// request, whatever its method. Otherwise a 5xx counts like a 429, if the
// exchange has one.
func (e Exchange) CurlAtLimit(read Request, rest time.Duration) string {
	if n := e.lineLength(); n > maxCurlLine {
		return tooLong(n)
	}
	read.Key, read.Authorization = e.Request.Key, e.Request.Authorization
	reads := len(e.Request.Body) == 0 && (e.Request.method() == http.MethodGet || e.Request.method() == http.MethodHead)
	shown, met := http.StatusTooManyRequests, "*429*"
	if rest == 0 && e.Status >= http.StatusInternalServerError {
		shown, met = e.Status, fmt.Sprintf("*429*|*%d*", e.Status)
	}
	if reads && rest == 0 {
		return e.minting(`d=$(mktemp -d); ` + volleys + `; do ` + e.curlVolley("-i", "-o", `"$d/#1"`) +
			fmt.Sprintf(`; a=$(grep -l '^HTTP/[0-9.]* %d' "$d"/* | head -n 1); [ -z "$a" ] || break; done; cat "${a:-$d/50}"; rm -r "$d"`, shown))
	}
	by := Exchange{Request: read}
	line := volleys + `; do case $(` + by.curlVolley("-o", "/dev/null", "-w", "'%{http_code} '") + `) in ` + met + `) break;; esac; done; `
	if rest > 0 {
		line += fmt.Sprintf("sleep %.0f; ", rest.Seconds())
	}
	return e.minting(line + e.curl())
}

// curlVolley returns a command that sends a GET or HEAD many times at once.
func (e Exchange) curlVolley(options ...string) string {
	words := append([]string{"curl", "-Z", "--no-progress-meter"}, options...)
	if e.Request.method() == http.MethodHead {
		words = append(words, "--head")
	}
	words = append(words, e.curlHeaders()...)
	return strings.Join(append(words, e.curlAddress(volley)...), " ")
}

// quote writes pieces as one POSIX shell word. Variables are in double quotes. So
// is the text around them, unless it has a character with a meaning there.
func quote(pieces []redact.Piece) string {
	if !hasVariable(pieces) {
		return singleQuote(text(pieces))
	}
	var b strings.Builder
	if !strings.ContainsAny(text(pieces), "\"$`\\!") { // "!" expands history in an interactive shell
		b.WriteByte('"')
		for i, p := range pieces {
			b.WriteString(p.Text)
			b.WriteString(variable(p, i+1 < len(pieces) && pieces[i+1].Text != "" && isWordByte(pieces[i+1].Text[0])))
		}
		b.WriteByte('"')
		return b.String()
	}
	for _, p := range pieces {
		if p.Env != "" {
			b.WriteString(`"` + variable(p, false) + `"`)
			continue
		}
		b.WriteString(singleQuote(p.Text))
	}
	return b.String()
}

// variable returns the expansion of a piece, in braces if the next character could
// belong to the name.
func variable(p redact.Piece, braces bool) string {
	switch {
	case p.Env == "":
		return ""
	case braces:
		return "${" + p.Env + "}"
	}
	return "$" + p.Env
}

func hasVariable(pieces []redact.Piece) bool {
	for _, p := range pieces {
		if p.Env != "" {
			return true
		}
	}
	return false
}

// text returns the literal parts, joined.
func text(pieces []redact.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

func singleQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// oneLine replaces control characters other than tabs by spaces. A header or
// address with them cannot be sent.
func oneLine(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}

// printfFormat writes any bytes as a printf format for single quotes.
func printfFormat(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%':
			b.WriteString("%%")
		case c < ' ' || c >= 0x7f || c == '\\' || c == '\'',
			c == '-' && i == 0: // some printf implementations read a leading "-" as an option
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
