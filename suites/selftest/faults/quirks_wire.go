package faults

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

const anyJSON = "What the service does: all endpoints return JSON, in no stated format"

// wireQuirks change how an answer is written and sent, but not its content.
func wireQuirks() []Quirk {
	wire := func(id, allowed, touches, doc string, v verb) Quirk {
		q := quirk("wire/"+id, allowed, touches, doc, when(always, v))
		q.OnWire = slices.Contains([]string{"framing", "connection", "headers"}, touches)
		return q
	}
	const (
		headers    = "not mentioned: headers of responses"
		mediaTypes = "What the service does: all endpoints return JSON; the header's exact text is not shown"
	)
	return []Quirk{
		wire("gzip", "not mentioned: content codings; the client offers gzip", "framing", "compresses every response if the client accepts gzip", zip),
		wire("chunked", headers, "framing", "sends chunked bodies without a length", header("Transfer-Encoding", "chunked")),
		wire("closing", headers, "connection", "closes the connection after every response", header("Connection", "close")),
		wire("more-headers", headers, "headers", "sends extra headers, cookies and caching hints", then(
			header("Set-Cookie", "session=1; Path=/; HttpOnly"),
			header("ETag", `W/"1"`),
			header("Cache-Control", "private, max-age=60"),
			header("Link", `</api/v2/workspace-members?limit=1>; rel="next"`),
			header("WWW-Authenticate", `Bearer realm="outreach", error="invalid_token"`),
			header("X-RateLimit-Remaining", "0"),
			header("Deprecation", "true"))),
		// The following change the body before it is coded.
		wire("pretty", anyJSON, "layout", "prints JSON with line breaks and tabs", encoded(func(value any) []byte { return must(json.MarshalIndent(value, "", "\t")) })),
		wire("white-space", anyJSON, "layout", "sends white space before and after every body",
			bytesOf(func(body []byte) []byte { return fmt.Appendf(nil, "\r\n\t  %s \n\n", body) })),
		wire("key-order", anyJSON, "spelling", "writes the members of objects in reverse order", styled(descending, strings.Clone)),
		wire("escapes", anyJSON, "spelling", "escapes every character of a string that may be escaped", styled(strings.Compare, escaped)),
		wire("decimals", anyJSON, "spelling", "writes 1.0 where others write 1", styled(strings.Compare, replaced(`^-?\d+$`, "$0.0"))),
		wire("exponents", anyJSON, "spelling", "writes 1e0 where others write 1", styled(strings.Compare, replaced(`^[-.\d]+$`, "${0}e0"))),
		wire("negative-zero", anyJSON, "spelling", "writes -0 where others write 0", styled(strings.Compare, replaced("^0$", "-0"))),
		wire("media-type-plain", mediaTypes, "media", "sends the content type application/json without parameters", header("Content-Type", "application/json")),
		wire("media-type-parameters", mediaTypes, "media", "sends the content type in mixed case with parameters",
			header("Content-Type", `Application/JSON ; Charset="UTF-8"; version=2`)),
		wire("media-type-vendor", mediaTypes, "media", "sends its own +json content type", header("Content-Type", "application/vnd.outreach.v2+json")),
		quirk("wire/media-type-problem", mediaTypes, "media", "sends errors as application/problem+json",
			when(served, header("Content-Type", "application/json")), when(failed, header("Content-Type", "application/problem+json"))),
		quirk("wire/slow", "not mentioned: how fast a response comes", "pace", "delays every 20th response by a few milliseconds",
			when(counted(func(n int) bool { return n%20 == 0 }), delay(5*time.Millisecond))),
	}
}

func zip(x *exchange) {
	if strings.Contains(x.Header.Get("Accept-Encoding"), "gzip") {
		then(bytesOf(zipped), header("Content-Encoding", "gzip"), header("Vary", "Accept-Encoding"))(x)
	}
}

func zipped(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// styled writes JSON with the members of objects in an order, and respells its other tokens.
func styled(order func(a, b string) int, respell func(token string) string) verb {
	var write func(value any) string
	write = func(value any) string {
		var parts []string
		switch value := value.(type) {
		case map[string]any:
			for _, name := range slices.SortedFunc(maps.Keys(value), order) {
				parts = append(parts, write(name)+":"+write(value[name]))
			}
			return "{" + strings.Join(parts, ",") + "}"
		case []any:
			for _, item := range value {
				parts = append(parts, write(item))
			}
			return "[" + strings.Join(parts, ",") + "]"
		}
		return respell(string(encode(value)))
	}
	return encoded(func(value any) []byte { return []byte(write(value)) })
}

func descending(a, b string) int { return strings.Compare(b, a) }

func replaced(pattern, with string) func(token string) string {
	token := regexp.MustCompile(pattern)
	return func(text string) string { return token.ReplaceAllString(text, with) }
}

// escaped escapes the first character of a string, and those that are not plain.
func escaped(token string) string {
	if token[0] != '"' {
		return token
	}
	var b strings.Builder
	for i, unit := range utf16.Encode([]rune(decodedOrNil([]byte(token)).(string))) {
		if i == 0 || unit < '#' || unit == '\\' || unit > '~' {
			fmt.Fprintf(&b, `\u%04x`, unit)
		} else {
			b.WriteByte(byte(unit))
		}
	}
	return `"` + strings.ReplaceAll(b.String(), "/", `\/`) + `"`
}
