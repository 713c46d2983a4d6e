package faults

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf16"

	"outreach.example/conformance/spec"
)

// What wire quirks touch.
const (
	touchesSpelling = "spelling" // how JSON is written
	touchesLayout   = "layout"   // white space between its tokens
	touchesMedia    = "media"    // Content-Type
	touchesFraming  = "framing"  // transfer and content coding
)

const anyJSON = "What the service does: all endpoints return JSON, in no stated format"

// wireQuirks change how an answer is written and sent, but not its content.
func wireQuirks() []Quirk {
	spelling := func(id, doc string, s style) Quirk {
		return Quirk{ID: "wire/" + id, Allowed: anyJSON, Doc: doc, Touches: []string{touchesSpelling},
			Apply: alike(rewritten(func(body any) []byte { return s.write(body) }))}
	}
	media := func(id, doc string, of func(status int) string) Quirk {
		return Quirk{ID: "wire/" + id, Allowed: "What the service does: all endpoints return JSON; the header's exact text is not shown",
			Doc: doc, Touches: []string{touchesMedia}, Apply: alike(announced(of))}
	}
	header := func(id, doc string, touches []string, change func(http.Header)) Quirk {
		return Quirk{ID: "wire/" + id, Allowed: "not mentioned: headers of responses", Doc: doc, Touches: touches, OnWire: true,
			Apply: alike(onAll(func(_ Request, answer Response) Response {
				change(answer.Header)
				return answer
			}))}
	}
	return []Quirk{
		{ID: "wire/gzip", Allowed: "not mentioned: content codings; the client offers gzip",
			Doc:     "compresses every response if the client accepts gzip",
			Touches: []string{touchesFraming}, OnWire: true, Apply: alike(onAll(zipped))},
		header("chunked", "sends chunked bodies without a length", []string{touchesFraming},
			func(h http.Header) { h.Set("Transfer-Encoding", "chunked") }),
		header("closing", "closes the connection after every response", []string{"connection"},
			func(h http.Header) { h.Set("Connection", "close") }),
		header("more-headers", "sends extra headers, cookies and caching hints", []string{"headers"}, func(h http.Header) {
			h.Set("Set-Cookie", "session=1; Path=/; HttpOnly")
			h.Set("ETag", `W/"1"`)
			h.Set("Cache-Control", "private, max-age=60")
			h.Set("Link", `</api/v2/workspace-members?limit=1>; rel="next"`)
			h.Set("WWW-Authenticate", `Bearer realm="outreach", error="invalid_token"`)
			h.Set("X-RateLimit-Remaining", "0")
			h.Set("Deprecation", "true")
		}),
		// The following change the body before it is coded.
		{ID: "wire/pretty", Allowed: anyJSON, Doc: "prints JSON with line breaks and tabs", Touches: []string{touchesLayout},
			Apply: alike(onBytes(indented))},
		{ID: "wire/white-space", Allowed: anyJSON, Doc: "sends white space before and after every body", Touches: []string{touchesLayout},
			Apply: alike(onBytes(func(body []byte) []byte { return []byte("\r\n\t  " + string(body) + " \n\n") }))},
		spelling("key-order", "writes the members of objects in reverse order",
			style{before: func(a, b string) int { return strings.Compare(b, a) }}),
		spelling("escapes", "escapes every character of a string that may be escaped", style{text: escaped}),
		spelling("decimals", "writes 1.0 where others write 1", style{number: decimal}),
		spelling("exponents", "writes 1e0 where others write 1", style{number: exponential}),
		spelling("negative-zero", "writes -0 where others write 0", style{number: negativeZero}),
		media("media-type-plain", "sends the content type application/json without parameters", func(int) string { return "application/json" }),
		media("media-type-parameters", "sends the content type in mixed case with parameters",
			func(int) string { return `Application/JSON ; Charset="UTF-8"; version=2` }),
		media("media-type-vendor", "sends its own +json content type", func(int) string { return "application/vnd.outreach.v2+json" }),
		media("media-type-problem", "sends errors as application/problem+json", func(status int) string {
			if status >= 400 {
				return "application/problem+json"
			}
			return "application/json"
		}),
		{ID: "wire/slow", Allowed: "not mentioned: how fast a response comes", Doc: "delays every 20th response by a few milliseconds",
			Touches: []string{"pace"}, Apply: slow},
	}
}

// onBytes changes the bodies of all answers.
func onBytes(change func([]byte) []byte) Middleware {
	return onAll(func(_ Request, answer Response) Response {
		answer.Body = change(answer.Body)
		return answer
	})
}

func indented(body []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "\t") != nil {
		return body
	}
	return b.Bytes()
}

// rewritten re-encodes all JSON bodies.
func rewritten(write func(any) []byte) Middleware {
	return rewriting(anyAnswer, func(_ string, row any) []byte { return write(row) }, write)
}

// announced changes the Content-Type of 200 answers and documented errors.
func announced(of func(status int) string) Middleware {
	return onAll(func(_ Request, answer Response) Response {
		if answer.Status == http.StatusOK || spec.ErrorText[answer.Status] != "" {
			answer.Header.Set("Content-Type", of(answer.Status))
		}
		return answer
	})
}

// zippers are writers that can be reused: a new one allocates much memory.
var zippers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func zipped(r Request, answer Response) Response {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return answer
	}
	var b bytes.Buffer
	w := zippers.Get().(*gzip.Writer)
	defer zippers.Put(w)
	w.Reset(&b)
	if _, err := w.Write(answer.Body); err != nil {
		return answer
	}
	if err := w.Close(); err != nil {
		return answer
	}
	answer.Body = b.Bytes()
	answer.Header.Set("Content-Encoding", "gzip")
	answer.Header.Set("Vary", "Accept-Encoding")
	return answer
}

// slow delays answers, as a target may; nothing waits for it to synchronise.
func slow(*Target) Middleware {
	const delay, every = 5 * time.Millisecond, 20
	return func(next Handler) Handler {
		var count atomic.Int64
		return func(r Request) (Response, error) {
			if count.Add(1)%every == 0 {
				time.Sleep(delay)
			}
			return next(r)
		}
	}
}

// style is a way to write JSON. The zero style is that of encode.
type style struct {
	before func(a, b string) int    // order of an object's members
	number func(json.Number) string // spelling of a number
	text   func(string) string      // spelling of a string, with its quotes
}

// write encodes in the style.
func (s style) write(value any) []byte {
	if s.before == nil {
		s.before = strings.Compare
	}
	if s.number == nil {
		s.number = json.Number.String
	}
	if s.text == nil {
		s.text = func(text string) string { return string(encode(text)) }
	}
	var b bytes.Buffer
	s.append(&b, value)
	return b.Bytes()
}

func (s style) append(b *bytes.Buffer, value any) {
	switch value := value.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, name := range slices.SortedFunc(maps.Keys(value), s.before) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(s.text(name))
			b.WriteByte(':')
			s.append(b, value[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range value {
			if i > 0 {
				b.WriteByte(',')
			}
			s.append(b, item)
		}
		b.WriteByte(']')
	case string:
		b.WriteString(s.text(value))
	case json.Number:
		b.WriteString(s.number(value))
	default:
		b.Write(encode(value))
	}
}

// decimal formats a number with a fraction: 1 as 1.0.
func decimal(n json.Number) string {
	if strings.ContainsAny(n.String(), ".eE") {
		return n.String()
	}
	return n.String() + ".0"
}

// exponential formats a number with an exponent: 1 as 1e0.
func exponential(n json.Number) string {
	if strings.ContainsAny(n.String(), "eE") {
		return n.String()
	}
	return n.String() + "e0"
}

// negativeZero formats 0 as -0, which has the same value.
func negativeZero(n json.Number) string {
	if n == "0" {
		return "-0"
	}
	return n.String()
}

// escaped escapes every character that may be escaped and is not plain: all but
// ASCII, the slash, the first letter.
func escaped(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		switch {
		case r == '/':
			b.WriteString(`\/`)
		case i > 0 && r >= ' ' && r < 0x7f && r != '"' && r != '\\':
			b.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
