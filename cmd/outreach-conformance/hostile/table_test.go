package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"outreach.example/conformance/spec"
)

// Why a behaviour is hostile, or what allows it.
const (
	cutOff    = "a lost connection is no evidence: RFC 9112, section 8, calls such a message incomplete"
	notHTTP   = "RFC 9112 defines the message; the specification says JSON over HTTP"
	lawful    = "RFC 9110 and RFC 9112 allow it"
	onlyThese = "Endpoints: a valid request gets 200; Errors lists 401, 402, 404 and 429"
	grammar   = "RFC 8259: the grammar does not allow it"
	lawfully  = "RFC 8259: the grammar allows it"
	outer     = "Pagination: the response body is {items: array, next_starting_after: string}"
	once      = "Pagination: starting_after fetches the next page, sorted by id"
	endings   = "How the specification is read: absent, null, empty, and a cursor to an empty page all end a walk"
	bounded   = "How the specification is read: a bound of the harness never fails a server"
	noBound   = "no bound on the time of a response is stated; the harness has one"
	ours      = "rows that the run did not create are not its own, and those that it created are kept"
	hides     = "a key must not reach anything that a person reads"
)

// Verdicts that many behaviours share.
var (
	lost        = inconclusive("connection lost")
	garbled     = noPass("STATUS-200", "STATUS-ALLOWED", "SERVED", "PAGE-LIMIT-*")
	wrongStatus = fails("STATUS-200", "STATUS-ALLOWED", "PAGE-LIMIT-*") // a limit that gets such an answer is not accepted either
	noJSON      = fails("BODY-JSON")
	badCursor   = fails("PAGE-*", "STATUS-200", "STATUS-ALLOWED")
	broken      = verdict{codes: []int{exitFail}, fails: []string{"*"}}
	chance      = verdict{codes: []int{exitPass, exitFail}, fails: []string{"*"}}
	perhaps     = verdict{codes: []int{exitFail, exitInconclusive}, fails: []string{"*"}}
)

// behaviours returns the table.
func behaviours() []behaviour {
	return slices.Concat(transport(), statuses(), bodies(), lists(), redirects(), timing(), state(), shownTexts(), keys())
}

func play(name, does, why string, must verdict, p player) behaviour {
	return behaviour{name: name, does: does, why: why, must: must, play: p}
}

func transport() []behaviour {
	wire := func(name, does, greeting string) behaviour {
		return behaviour{name: "transport/" + name, does: does, why: "no response comes", must: inconclusive("unreachable"), wire: func(conn net.Conn) {
			_, _ = conn.Write([]byte(greeting))
			_, _ = io.CopyN(io.Discard, conn, int64(min(1, len(greeting)))) // so that the greeting arrives before a reset
			_ = conn.Close()
		}}
	}
	writes := func(name, does, why string, must verdict, of func(a answer) []byte) behaviour {
		return play("transport/"+name, does, why, must, raw(of))
	}
	// head replaces a line of the head, which ends with \r\n.
	const marker, status = "X-Marker: marker\r\n", "HTTP/1.1 200 OK\r\n"
	head := func(name, does, why string, must verdict, old, replacement string) behaviour {
		return writes(name, does, why, must, func(a answer) []byte {
			a.header.Set("X-Marker", "marker")
			return bytes.Replace(a.text(), []byte(old), []byte(replacement), 1)
		})
	}
	length := func(name, does, why string, must verdict, claimed string) behaviour {
		return writes(name, does, why, must, func(a answer) []byte {
			return []byte(fmt.Sprintf("%sContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s", status, strings.ReplaceAll(claimed, "N", fmt.Sprint(len(a.body))), a.body))
		})
	}
	chunked := func(name, does, why string, must verdict, of func(body []byte) string) behaviour {
		return writes(name, does, why, must, func(a answer) []byte {
			return []byte(status + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + of(a.body))
		})
	}
	endless := func(name, does, head, rest string) behaviour {
		return play("transport/"+name, does, "it never ends; the harness must stop reading", inconclusive(""), served(func(w http.ResponseWriter, _ *http.Request, _ answer) {
			withConnection(w, func(conn net.Conn) {
				_, err := conn.Write([]byte(status + head))
				for sent := 0; err == nil && sent < 1<<30; sent += len(rest) {
					_, err = conn.Write([]byte(rest))
				}
			})
		}))
	}
	return []behaviour{
		wire("closes-at-once", "closes every connection at once", ""),
		wire("speaks-ssh", "greets like an SSH server", "SSH-2.0-OpenSSH_9.6\r\n"),
		wire("speaks-tls", "sends a TLS alert on a plain connection", "\x15\x03\x03\x00\x02\x02\x46"),
		wire("speaks-binary", "sends 64 KiB of zero bytes", strings.Repeat("\x00", 64<<10)),
		{name: "transport/is-silent", does: "reads requests and never responds", why: "no response comes", must: inconclusive("unreachable"),
			wire: func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }},
		writes("closes-after-head", "closes the connection after the header block", cutOff, lost, func(a answer) []byte { return a.text()[:len(a.text())-len(a.body)] }),
		writes("closes-within-status-line", "closes the connection within the status line", cutOff, lost, func(answer) []byte { return []byte("HTTP/1.1 2") }),
		writes("closes-within-body", "closes the connection within the body", cutOff, lost, func(a answer) []byte { return a.text()[:len(a.text())-len(a.body)/2] }),
		writes("closes-without-answer", "closes the connection instead of answering", cutOff, lost, func(answer) []byte { return nil }),
		writes("closes-unannounced", "closes every connection after the response without saying so", lawful, passes(), func(a answer) []byte { return a.text() }),
		length("promises-too-much", "declares a Content-Length of 10 TB and sends a page", cutOff, inconclusive(""), "10000000000000"),
		// The rest of the page may arrive before the next request, which then takes it for the head of its response.
		length("promises-too-little", "declares a Content-Length of 10 bytes and sends a page", "RFC 9112, section 6.3: the body ends there", fails(append([]string{"BODY-JSON"}, garbled.fails...)...), "10"),
		length("length-negative", "declares a negative Content-Length", notHTTP, inconclusive(""), "-5"),
		length("length-twice", "declares two different lengths", notHTTP, inconclusive(""), "N\r\nContent-Length: 3"),
		length("length-repeated", "declares the same length twice", lawful, passes(), "N\r\nContent-Length: N"),
		chunked("chunk-size-garbage", "sends a chunk size that is no number", cutOff, inconclusive(""), func([]byte) string { return "zz\r\n{}\r\n0\r\n\r\n" }),
		chunked("chunk-unfinished", "closes the connection before the last chunk", cutOff, lost, func(body []byte) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }),
		chunked("chunk-of-one-byte", "sends every byte in a chunk of its own", bounded, noFailure(), func(body []byte) string {
			return regexpByte.ReplaceAllString(string(body), "1\r\n$0\r\n") + "0\r\n\r\n"
		}),
		chunked("chunked-twice", "sends a second response after the last chunk", "it may arrive before the next request", anyVerdict, func(body []byte) string {
			return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse", len(body), body)
		}),
		endless("chunks-without-end", "sends chunks of white space without an end", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "10000\r\n"+strings.Repeat(" ", 64<<10)+"\r\n"),
		endless("header-without-end", "sends header lines without an end", "", "X-Filler: "+strings.Repeat("x", 1000)+"\r\n"),
		endless("line-without-end", "sends a header line without an end", "X-Filler: ", strings.Repeat("x", 64<<10)),
		endless("body-without-end", "sends a body without an end", "Content-Type: application/json\r\n\r\n", `{"items":[],"x":"`+strings.Repeat("x", 64<<10)),
		endless("interim-without-end", "sends interim responses without an end", "\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
		head("status-line-words", "sends a status line in words", notHTTP, garbled, status, "HELLO WORLD\r\n"),
		head("status-version", "answers in HTTP/9.9", "RFC 9110, section 2.5: a recipient may process it as the version it knows", passes(), "HTTP/1.1", "HTTP/9.9"),
		head("status-negative", "sends the status -200", notHTTP, garbled, "200", "-200"),
		head("reason-of-100-kB", "sends a reason phrase of 100 kB", lawful, passes(), "200 OK", "200 "+strings.Repeat("x", 100_000)),
		head("no-status-line", "sends a body without a head, as HTTP/0.9 does", notHTTP, garbled, status, ""),
		head("switching-protocols", "answers 101 to a request that asks for no upgrade", notHTTP, garbled, status, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"+status),
		head("early-hints", "sends 3 interim responses first", lawful, passes(), status, strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 3)+status),
		head("header-without-colon", "sends a header line without a colon", notHTTP, inconclusive(""), marker, "marker\r\n"),
		head("header-with-nul", "sends a NUL byte in a header", notHTTP, noFailure(), marker, "X-Marker: a\x00b\r\n"),
		head("header-latin-1", "sends a folded header in Latin-1", lawful, passes(), marker, "X-Marker: caf\xe9\r\n  \xff\r\n"),
		head("header-of-1-MB", "sends a header of 1 MB", "no limit is stated; the harness reads 256 KiB", inconclusive(""), marker, "X-Marker: "+strings.Repeat("x", 1<<20)+"\r\n"),
		head("headers-10000", "sends 10,000 headers", lawful, passes(), marker, strings.Repeat(marker, 10_000)),
		head("coding-unknown", "sends an unknown transfer coding", notHTTP, inconclusive(""), marker, "Transfer-Encoding: gzip, chunked\r\n"),
		play("transport/answers-twice", "sends each response twice on connections that stay open", "RFC 9112, section 6.3: a client may take the second for the next response", chance, served(func(w http.ResponseWriter, _ *http.Request, a answer) {
			withConnection(w, func(conn net.Conn) {
				_, _ = conn.Write(append(a.text(), a.text()...))
				_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
				_, _ = io.CopyN(io.Discard, conn, 1) // until the client closes it or sends the next request
			})
		})),
	}
}

func statuses() (list []behaviour) {
	other := map[int]verdict{401: inconclusive("refuses"), 403: inconclusive("refuses"), 404: fails("SERVED"), 405: fails("SERVED"), 501: fails("SERVED")}
	for _, status := range []int{201, 202, 204, 205, 206, 299, 300, 304, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 418, 421, 422, 425, 451, 500, 501, 502, 503, 504, 511, 599, 600, 999} {
		must, is := other[status]
		if !is {
			must = wrongStatus
		}
		list = append(list, play(fmt.Sprintf("status/%d", status), fmt.Sprintf("answers %d to every valid request", status), onlyThese, must, changed(func(a *answer) {
			if *a = refuse(status, "no"); status == http.StatusNoContent || status == http.StatusNotModified {
				a.body = nil
			}
		})))
	}
	portal := func(status int) player {
		return all(func(w http.ResponseWriter, _ *http.Request, _ answer) {
			answer{status, http.Header{"Content-Type": {"text/html"}}, []byte("<html><title>Welcome</title><body>Please log in to the network</body></html>")}.send(w)
		})
	}
	return append(list,
		play("status/captive-portal", "answers every request with the page of a captive portal and 200", onlyThese, fails("*"), portal(http.StatusOK)),
		play("status/gateway-down", "is a gateway whose service is down", onlyThese, inconclusive("down"), portal(http.StatusBadGateway)),
		play("status/every-second-500", "fails on every second valid request", onlyThese, wrongStatus, nth(2, refuse(500, "again"))),
		play("status/every-second-401", "forgets its keys on every second request", onlyThese, wrongStatus, nth(2, refuse(401, "who are you"))),
		play("status/error-body-of-7-MB", "explains an error in 7 MB", onlyThese, wrongStatus, changed(func(a *answer) { *a = refuse(500, strings.Repeat("sorry ", 7<<20/6)) })),
		play("status/empty-500", "answers 500 without a body", onlyThese, wrongStatus, changed(func(a *answer) { *a = answer{status: 500, header: http.Header{}} })),
	)
}

// bodies are codings, character sets, media types, and JSON that is hard to parse or none.
func bodies() []behaviour {
	const notOffered = "RFC 9110, section 8.4: the client did not offer this coding, so the body cannot be judged"
	const notUTF8 = "RFC 8259, section 8.1: JSON between systems is UTF-8"
	const json200 = "What the service does: all endpoints return JSON"
	coded := func(name, does, why, coding string, must verdict, encode func([]byte) []byte) behaviour {
		return play("encoding/"+name, does, why, must, changed(func(a *answer) {
			a.header.Set("Content-Encoding", coding)
			a.body = encode(a.body)
		}))
	}
	plain := func(body []byte) []byte { return body }
	media := func(name, does string, must verdict, value string) behaviour {
		return play("encoding/media-"+name, does, json200, must, changed(func(a *answer) { a.header["Content-Type"] = []string{value} }))
	}
	change := func(name, does, why string, must verdict, of func(string) string) behaviour {
		return play(name, does, why, must, body(func(b []byte) []byte { return []byte(of(string(b))) }))
	}
	text := func(name, does, why string, must verdict, text string) behaviour {
		return change("json/"+name, does, why, must, func(string) string { return text })
	}
	// member adds a member to the page, without parsing what it says.
	member := func(name, does, why string, must verdict, member string) behaviour {
		return change("json/"+name, does, why, must, func(b string) string { return "{" + member + "," + b[1:] })
	}
	around := func(name, does, why string, must verdict, before, after string) behaviour {
		return change("json/"+name, does, why, must, func(b string) string { return before + b + after })
	}
	items := func(name, does string, must verdict, items any) behaviour {
		return play("json/items-"+name, does, outer, must, page(func(page map[string]any) { page["items"] = items }))
	}
	field := func(name, does, why string, must verdict, field string, value any) behaviour {
		return play("json/"+name, does, why, must, row(func(row map[string]any) { row[field] = value }))
	}
	inName := func(name, does, why string, must verdict, text string) behaviour {
		return change("encoding/"+name, does, why, must, func(b string) string { return strings.ReplaceAll(b, `"name":"`, `"name":"`+text) })
	}
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, `"m%d":%d,`, i, i)
	}
	bomb := sync.OnceValue(func() []byte { return gzipped(bytes.Repeat([]byte(" "), 128<<20)) }) // 1,000 times smaller
	const deep, digits = 100_000, 1_000_000
	return []behaviour{
		coded("gzip", "compresses although it need not", "the client offers gzip", "GZIP", passes(), gzipped),
		coded("gzip-bomb", "sends 128 KiB that decode to 128 MiB", "the harness stops at its bound", "gzip", inconclusive(""), func([]byte) []byte { return bomb() }),
		coded("gzip-in-gzip", "compresses twice", notOffered, "gzip, gzip", inconclusive("gzip, gzip"), func(b []byte) []byte { return gzipped(gzipped(b)) }),
		coded("gzip-of-plain", "declares gzip and sends plain JSON", notOffered, "gzip", inconclusive("gzip"), plain),
		coded("gzip-cut", "cuts the compressed body in two", cutOff, "gzip", inconclusive(""), func(b []byte) []byte { return gzipped(b)[:len(gzipped(b))/2] }),
		coded("gzip-then-garbage", "adds garbage after the compressed body", cutOff, "gzip", inconclusive(""), func(b []byte) []byte { return append(gzipped(b), "garbage"...) }),
		coded("brotli-of-plain", "declares br and sends plain JSON", notOffered, "br", inconclusive("br"), plain),
		coded("unknown", "declares an unknown coding", notOffered, "x-secret\x1b[31m", inconclusive(""), plain),
		coded("identity", "declares identity", lawful, "identity", passes(), plain),
		change("encoding/utf-16", "sends a NUL byte after each byte", notUTF8, noJSON, func(b string) string { return regexpByte.ReplaceAllString(b, "$0\x00") }),
		change("encoding/byte-order-mark", "begins with U+FEFF", "RFC 8259, section 8.1: a sender must not, a parser may ignore it", verdict{codes: []int{exitPass, exitFail}, fails: noJSON.fails}, func(b string) string { return "\uFEFF" + b }),
		inName("latin-1", "sends a name in Latin-1", notUTF8, noJSON, "caf\xe9"),
		inName("overlong", "sends overlong UTF-8", notUTF8, noJSON, "\xc0\xaf"),
		inName("lone-surrogate-escaped", "escapes half a surrogate pair", lawfully, passes(), `\ud800`),
		media("html", "declares JSON as text/html", fails("CONTENT-TYPE"), "text/html"),
		media("absent", "declares no media type", fails("CONTENT-TYPE"), ""),
		media("charset", "declares a character set that JSON has not", passes(), "APPLICATION/JSON; charset=iso-8859-1"),
		media("plus-json", "declares a media type of its own", passes(), "application/hal+json"),
		media("of-100-kB", "declares a media type of 100 kB", fails("CONTENT-TYPE"), "text/"+strings.Repeat("x", 100_000)),
		media("escapes", "puts a terminal sequence into the media type", noPass("CONTENT-TYPE"), "text/\x1b[2J\u202e"),

		text("empty", "sends an empty body", grammar, noJSON, ""),
		text("null", "sends null", outer, fails("BODY-TYPE"), "null"),
		text("array", "sends an array instead of a page", outer, fails("BODY-TYPE"), "[]"),
		text("object", "sends an empty object", outer, fails("PAGE-ITEMS-PRESENT"), "{}"),
		text("html", "sends a page of HTML", grammar, noJSON, "<!doctype html><title>x</title><script>alert(1)</script>"),
		text("open-arrays", "opens 100,000 arrays", grammar, noPass("BODY-JSON"), strings.Repeat("[", deep)),
		text("deep-arrays", "nests 100,000 arrays", bounded, noPass("BODY-TYPE"), strings.Repeat("[", deep)+strings.Repeat("]", deep)),
		member("nested-300", "nests 300 arrays in a field that is not documented", bounded, inconclusive("256 levels"), `"x":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)),
		member("many-members", "adds 200,000 members", lawfully, noFailure(), strings.TrimSuffix(many.String(), ",")),
		member("name-of-1-MB", "adds a member with a name of 1 MB", lawfully, passes(), `"`+strings.Repeat("n", 1<<20)+`":1`),
		member("proto", "adds the members __proto__ and constructor", lawfully, passes(), `"__proto__":{"items":1},"constructor":{},"":1`),
		member("exponent-huge", "adds the number 1e5000000", bounded, passes(), `"x":1e5000000`),
		member("digits", "adds a number of 1,000,000 digits", bounded, passes(), `"x":`+strings.Repeat("9", digits)),
		member("leading-zeros", "writes a number with leading zeros", grammar, noJSON, `"x":007`),
		member("nan", "writes NaN", grammar, noJSON, `"x":NaN`),
		member("name-without-quotes", "writes a name without quotes", grammar, noJSON, `x:1`),
		member("comment", "writes a comment", grammar, noJSON, `/* page */"x":1`),
		member("control-character", "writes a line break in a string", grammar, noJSON, "\"x\":\"a\nb\""),
		member("cut-escape", `writes half a \u escape`, grammar, noJSON, `"x":"\u00"`),
		member("duplicate-items", "writes items twice", "RFC 8259, section 4: unpredictable; the harness takes the last", chance, `"items":[]`),
		around("trailing-garbage", "adds garbage after the value", grammar, noJSON, "", "garbage"),
		around("trailing-value", "sends two values", grammar, noJSON, "", "\n{}"),
		around("jsonp", "wraps the value into a call", grammar, noJSON, "callback(", ");"),
		around("white-space-6-MB", "surrounds the value with 6 MB of white space", lawfully, passes(), strings.Repeat(" ", 3<<20), strings.Repeat("\n", 3<<20)),
		around("beyond-the-bound", "adds 9 MB of white space", bounded, inconclusive(""), strings.Repeat(" ", 9<<20), ""),
		change("json/capital-names", "writes Items instead of items", outer, fails("PAGE-ITEMS-PRESENT"), func(b string) string { return strings.Replace(b, `"items"`, `"Items"`, 1) }),
		items("null", "sends null as items", fails("PAGE-ITEMS-TYPE"), nil),
		items("strings", "sends strings as items", fails("PAGE-ITEMS-TYPE"), []any{"a", "b"}),
		items("empty-objects", "sends empty objects as items", fails("SHAPE-LEAD_LIST-*-PRESENT", "PAGE-*"), []any{map[string]any{}, map[string]any{}}),
		field("names-of-100-kB", "sends names of 100 kB", "Lead list: name is a string, of no stated length", passes(), "name", strings.Repeat("n", 100_000)),
		field("id-null", "sends null as an id", "Lead list: id is a string uuid", fails("SHAPE-LEAD_LIST-ID-TYPE", "PAGE-*"), "id", nil),
		field("id-version-4", "sends the same id of version 4 in all rows", "Resources: identifiers are of version 7", fails("SHAPE-LEAD_LIST-ID-VALUE", "PAGE-*"), "id", "6f9619ff-8b86-4011-b42d-00cf4fc964ff"),
		field("id-path", "sends ids that climb directories", "Lead list: id is a string uuid", fails("SHAPE-LEAD_LIST-ID-VALUE", "PAGE-*"), "id", "../../../etc/passwd"),
		field("timestamp-impossible", "sends 30 February", "Resources: timestamps are ISO 8601", fails("SHAPE-LEAD_LIST-TIMESTAMP_CREATED-VALUE", "PAGE-*"), "timestamp_created", "2026-02-30T25:61:00.000Z"),
	}
}

// lists are pages that do not end, lie, or are large.
func lists() []behaviour {
	cursor := func(name, does, why string, must verdict, of func(cursor string) any) behaviour {
		return play("pages/cursor-"+name, does, why, must, page(func(page map[string]any) {
			if next, ok := page["next_starting_after"].(string); ok && next != "" {
				page["next_starting_after"] = of(next)
			}
		}))
	}
	constant := func(value any) func(string) any { return func(string) any { return value } }
	last := func(name, does string, change func(page map[string]any)) behaviour {
		return play("pages/last-"+name, does, endings, passes(), page(func(page map[string]any) {
			if next, _ := page["next_starting_after"].(string); next == "" {
				change(page)
			}
		}))
	}
	items := func(name, does, why string, must verdict, change func(items []any) []any) behaviour {
		return play("pages/"+name, does, why, must, page(func(page map[string]any) { page["items"] = change(page["items"].([]any)) }))
	}
	ignores := func(parameter string) behaviour {
		return play("pages/ignores-"+parameter, "ignores "+parameter, once, fails("PAGE-*"), func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				query := r.URL.Query()
				query.Del(parameter)
				r.URL.RawQuery = query.Encode()
				next.ServeHTTP(w, r)
			})
		})
	}
	endlessly := func(name, does string, must verdict, cursor func(n int64) int64) behaviour {
		return play("pages/endless-"+name, does, "a walk that would not end is a failure", must, func(next http.Handler) http.Handler {
			var n atomic.Int64
			return page(func(page map[string]any) {
				at := n.Add(1)
				for _, row := range rowsIn(page) {
					row["id"] = fmt.Sprintf("0190%04x-%04x-7000-8000-%012x", at>>16&0xffff, at&0xffff, len(row))
				}
				page["next_starting_after"] = fmt.Sprintf("2025-01-01T00:00:%02d.%03dZ", cursor(at)/1000%60, cursor(at)%1000)
			})(next)
		})
	}
	return []behaviour{
		cursor("constant", "sends the same cursor with every page", once, fails("PAGE-*"), constant("2025-01-01T00:00:00.000Z")),
		cursor("number", "sends a number as a cursor", outer, fails("PAGE-*"), constant(7)),
		cursor("object", "sends an object as a cursor", outer, fails("PAGE-*"), constant(map[string]any{"after": 1})),
		cursor("words", "sends words as a cursor", once, badCursor, constant("the next page, please")),
		cursor("injection", "sends a cursor with more parameters in it", once, badCursor, func(c string) any { return c + "&limit=1000#x" }),
		cursor("line-break", "sends a cursor with a line break and a header", once, badCursor, func(c string) any { return c + "\r\nX-Injected: 1\x1b[31m\u202e\u0000" }),
		cursor("percent", "sends a cursor full of percent escapes", once, badCursor, func(c string) any { return strings.Repeat("%25%00%zz", 20) + c }),
		cursor("of-1-MB", "sends a cursor of 1 MB", "a value of more than 256 bytes does not go into a URL", fails("PAGE-*"), constant(strings.Repeat("c", 1<<20))),
		last("null", "ends a list with null", func(page map[string]any) { page["next_starting_after"] = nil }),
		last("empty", "ends a list with an empty cursor", func(page map[string]any) { page["next_starting_after"] = "" }),
		last("absent", "ends a list without a cursor", func(page map[string]any) { delete(page, "next_starting_after") }),
		play("pages/last-leads-to-an-empty-page", "ends a list with a cursor to an empty page", endings, passes(), page(func(page map[string]any) {
			if rows := rowsIn(page); len(rows) > 0 {
				page["next_starting_after"] = rows[len(rows)-1]["timestamp_created"]
			}
		})),
		endlessly("new-rows", "has another page of new rows, whatever the cursor", noFailure(), func(n int64) int64 { return n }), // a long list, for all that a walk can tell
		endlessly("two-cursors", "sends two cursors in turn", fails("PAGE-*"), func(n int64) int64 { return n % 2 }),
		ignores("starting_after"),
		ignores("limit"),
		items("of-5000", "sends pages of 5,000 rows", "Limits: limit is 1 to 100", fails("PAGE-*"), func(items []any) []any { return slices.Repeat(items[:min(1, len(items))], 5000) }),
		items("empty", "sends only empty pages", "a list may be empty; what needs rows is not assessed", passes(), func([]any) []any { return []any{} }),
		items("repeats-last-row", "repeats the last row of each page", once, fails("PAGE-*"), func(items []any) []any { return append(items, items[max(0, len(items)-1):]...) }),
		items("drops-last-row", "drops the last row of each page", once, fails("PAGE-*"), func(items []any) []any { return items[:max(0, len(items)-1)] }),
		items("reversed", "reverses the rows of each page", once, fails("PAGE-*"), func(items []any) []any {
			slices.Reverse(items)
			return items
		}),
		play("pages/rows-of-100-kB", "sends rows of 70 kB with 1,000 more fields", "How the specification is read: unknown extra fields are observed", noFailure(), row(func(row map[string]any) {
			for i := range 1000 {
				row[fmt.Sprintf("extra_%d", i)] = strings.Repeat("n", 70)
			}
		})),
		play("pages/ids-of-1-MB", "sends ids of 1 MB", "Lead list: id is a string uuid", fails("SHAPE-LEAD_LIST-ID-VALUE", "PAGE-*"), page(func(page map[string]any) {
			for i, row := range rowsIn(page)[:min(len(rowsIn(page)), 5)] {
				row["id"] = fmt.Sprint(i, strings.Repeat("i", 1<<20))
			}
		})),
	}
}

// redirects send the client elsewhere. No request may follow them, with or without a key.
func redirects() (list []behaviour) {
	to := func(name string, status int, must verdict, location func(r *http.Request) string) {
		list = append(list, play("redirect/"+name, "redirects valid requests", "no operation redirects; a key must not follow", must, served(func(w http.ResponseWriter, r *http.Request, _ answer) {
			w.Header()["Location"] = []string{location(r)}
			w.WriteHeader(status)
		})))
	}
	elsewhere := func(r *http.Request) string {
		_, port, _ := strings.Cut(r.Host, ":")
		return "http://localhost:" + port + r.URL.RequestURI()
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		to(fmt.Sprintf("%d-elsewhere", status), status, wrongStatus, elsewhere)
	}
	for name, location := range map[string]string{"to-nowhere": "", "to-file": "file:///etc/passwd", "to-metadata": "http://169.254.169.254/latest/meta-data/", "to-1-MB": "/" + strings.Repeat("x", 200_000), "with-password": "http://user:password@localhost/"} {
		to(name, 302, wrongStatus, func(*http.Request) string { return location })
	}
	to("to-itself", 302, wrongStatus, func(r *http.Request) string { return r.URL.String() })
	to("to-garbage", 302, noPass(wrongStatus.fails...), func(*http.Request) string { return "http://[::1%zz]:99999999/\x7f%%%" })
	return append(list,
		play("redirect/whole-site", "has moved to another host with all its paths", "the address of the target is wrong", inconclusive("redirects to"), all(func(w http.ResponseWriter, r *http.Request, _ answer) {
			http.Redirect(w, r, elsewhere(r), http.StatusMovedPermanently)
		})),
		play("redirect/refresh", "asks to load another page in headers, and sets 500 cookies", "the specification knows neither", passes(), changed(func(a *answer) {
			a.header.Set("Refresh", "0; url=/elsewhere")
			a.header.Set("Alt-Svc", `h2="localhost:1"`)
			for i := range 500 {
				a.header.Add("Set-Cookie", fmt.Sprintf("c%d=%s; Path=/; Max-Age=31536000", i, strings.Repeat("v", 100)))
			}
		})))
}

// timing are targets that are slow, hang, or throttle. A hanging target is given up after a few
// requests, each of which takes the timeout.
func timing() []behaviour {
	short := []string{"--timeout", "1s"}
	slow := func(name, does string, must verdict, p player) behaviour {
		b := play("timing/"+name, does, noBound, must, p)
		b.args = append(slices.Clone(listing), short...)
		return b
	}
	throttling := func(name, does string, must verdict, n int64, after string) behaviour {
		a := refuse(http.StatusTooManyRequests, "slow down")
		if after != "" {
			a.header.Set("Retry-After", after)
		}
		return play("timing/429-"+name, does, "Errors: every endpoint can return 429", must, nth(n, a))
	}
	drips := func(of func(a answer) []byte) player {
		return served(func(w http.ResponseWriter, _ *http.Request, a answer) {
			withConnection(w, func(conn net.Conn) {
				_, err := conn.Write(a.text()[:len(a.text())-len(of(a))])
				for _, c := range of(a) {
					if err == nil {
						_, err = conn.Write([]byte{c})
						time.Sleep(50 * time.Millisecond)
					}
				}
			})
		})
	}
	hangs := func(id string) player {
		return on(id, func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
			if id == spec.CreatePlacementTest {
				ask(next, r)
			}
			hang(r)
		})
	}
	return []behaviour{
		slow("no-response", "never responds to a valid request", inconclusive(""), served(func(_ http.ResponseWriter, r *http.Request, _ answer) { hang(r) })),
		slow("half-a-body", "sends half the body and hangs", inconclusive(""), served(func(w http.ResponseWriter, r *http.Request, a answer) {
			w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
			_, _ = w.Write(a.body[:len(a.body)/2])
			_ = http.NewResponseController(w).Flush() // the client may have gone
			hang(r)
		})),
		slow("drips-the-body", "sends a byte of the body every 50 ms", inconclusive(""), drips(func(a answer) []byte { return a.body })),
		slow("drips-the-head", "sends a byte of the header block every 50 ms", inconclusive(""), drips(answer.text)),
		slow("every-fifth-hangs", "does not respond to every fifth valid request", inconclusive(""), func(next http.Handler) http.Handler {
			var n atomic.Int64
			return served(func(w http.ResponseWriter, r *http.Request, a answer) {
				if n.Add(1)%5 == 0 {
					hang(r)
				}
				a.send(w)
			})(next)
		}),
		slow("switches-and-hangs", "answers 101 and hangs", garbled, served(func(w http.ResponseWriter, r *http.Request, _ answer) {
			withConnection(w, func(conn net.Conn) {
				_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"))
				time.Sleep(30 * time.Second)
			})
		})),
		play("timing/slow-but-steady", "takes 200 ms for each response", noBound, passes(), all(func(w http.ResponseWriter, _ *http.Request, a answer) {
			time.Sleep(200 * time.Millisecond)
			a.send(w)
		})),
		{name: "timing/creations-hang", does: "stores tests and never responds to their creation", why: ours, args: append(judging(spec.CreatePlacementTest, "state"), short...),
			must: inconclusive(""), leaves: "their ids are unknown", play: hangs(spec.CreatePlacementTest)},
		{name: "timing/deletions-hang", does: "never responds to a deletion, and deletes nothing", why: ours, args: append(judging(spec.GetPlacementTest, "state"), short...),
			must: verdict{codes: anyVerdict.codes, fails: []string{"STATE-*"}}, leaves: "no deletion is possible", play: hangs(spec.DeletePlacementTest)},
		throttling("always", "answers only 429", inconclusive("429"), 1, ""),
		throttling("for-a-day", "answers 429 with Retry-After: 86400", inconclusive("429"), 1, "86400"),
		throttling("for-ever", "answers 429 with a Retry-After of 100 digits", inconclusive("429"), 1, strings.Repeat("9", 100)),
		throttling("until-9999", "answers 429 with a Retry-After in the year 9999", inconclusive("429"), 1, "Fri, 31 Dec 9999 23:59:59 GMT"),
		throttling("sometimes", "answers every third request with 429", passes(), 3, ""),
		throttling("after-0", "answers every third request with 429 and Retry-After: 0", passes(), 3, "0"),
		throttling("after-words", "answers every third request with 429 and a long Retry-After in words", passes(), 3, "soon \u202e"+strings.Repeat("x", 100_000)),
	}
}

// writing selects checks that create, read and delete placement tests.
var writing = judging(strings.Join([]string{spec.CreatePlacementTest, spec.GetPlacementTest, spec.DeletePlacementTest}, ","), "shape,state")

// state are targets that store other things than they say. Every row must still be there which was there before.
func state() []behaviour {
	store := func(id, name, does string, must verdict, respond func(w http.ResponseWriter, r *http.Request, next http.Handler)) behaviour {
		return behaviour{name: "state/" + name, does: does, why: ours, args: writing, must: must, leaves: "the server does not do as it is asked", play: on(id, respond)}
	}
	// creating changes the answers to creations; first is the first row of the list.
	creating := func(name, does string, change func(created map[string]any, first map[string]any)) behaviour {
		return store(spec.CreatePlacementTest, name, does, broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			a := ask(next, r)
			if created, ok := decode(a.body).(map[string]any); ok && a.status == http.StatusOK {
				change(created, firstTest(next, r))
				a.body = encode(created)
			}
			a.send(w)
		})
	}
	// after does something else after the server has done as it was asked.
	after := func(id, name, does string, must verdict, then func(w http.ResponseWriter, r *http.Request, next http.Handler, a answer)) behaviour {
		return store(id, name, does, must, func(w http.ResponseWriter, r *http.Request, next http.Handler) { then(w, r, next, ask(next, r)) })
	}
	hidden := func(b behaviour) behaviour {
		b.hidden = true
		return b
	}
	loses := func(http.ResponseWriter, *http.Request, http.Handler, answer) { panic(http.ErrAbortHandler) }
	fails := func(w http.ResponseWriter, _ *http.Request, _ http.Handler, _ answer) {
		refuse(500, "done, but").send(w)
	}
	return []behaviour{
		creating("create-returns-existing-row", "answers each creation with a row that existed before", func(created, first map[string]any) {
			clear(created)
			for name, value := range first {
				created[name] = value
			}
		}),
		creating("create-returns-existing-id", "answers each creation with the id of a row that existed before", func(created, first map[string]any) { created["id"] = first["id"] }),
		creating("create-returns-same-id", "answers every creation with the same unknown id", func(created, _ map[string]any) { created["id"] = "01900000-0000-7000-8000-00000000abcd" }),
		creating("create-without-id", "answers creations without an id", func(created, _ map[string]any) { delete(created, "id") }),
		creating("create-with-path-as-id", "answers creations with an id that climbs directories", func(created, _ map[string]any) { created["id"] = "../workspace-members" }),
		after(spec.CreatePlacementTest, "create-stores-nothing", "stores nothing", broken, func(w http.ResponseWriter, r *http.Request, next http.Handler, a answer) {
			if row, ok := decode(a.body).(map[string]any); ok && a.status == http.StatusOK {
				remove(next, r, fmt.Sprint(row["id"]))
			}
			a.send(w)
		}),
		after(spec.CreatePlacementTest, "create-is-lost", "stores rows and closes the connection", perhaps, loses),
		after(spec.CreatePlacementTest, "create-fails-after-storing", "stores rows and answers 500", broken, fails),
		hidden(store(spec.CreatePlacementTest, "create-twice", "stores each row twice", chance, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			text, _ := io.ReadAll(r.Body)
			for range 2 {
				again := r.Clone(r.Context())
				again.Body = io.NopCloser(bytes.NewReader(text))
				defer func(a answer) { a.send(w) }(ask(next, again))
			}
		})),
		hidden(store(spec.DeletePlacementTest, "delete-does-nothing", "answers deletions and deletes nothing", broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			r.Method = http.MethodGet
			next.ServeHTTP(w, r)
		})),
		after(spec.DeletePlacementTest, "delete-fails-after-deleting", "deletes rows and answers 500", broken, fails),
		after(spec.DeletePlacementTest, "delete-is-lost", "deletes rows and closes the connection", perhaps, loses),
		store(spec.DeletePlacementTest, "delete-refuses", "refuses deletions with 409", broken, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { refuse(409, "in use").send(w) }),
		store(spec.GetPlacementTest, "get-shows-another-row", "shows another row than the one that is named", broken, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			r.URL.Path = spec.MustOperation(spec.GetPlacementTest).URLPath(fmt.Sprint(firstTest(next, r)["id"]))
			next.ServeHTTP(w, r)
		}),
		after(spec.ListPlacementTests, "list-hides-new-rows", "lists no row that a run created", chance, func(w http.ResponseWriter, _ *http.Request, _ http.Handler, a answer) {
			if page, ok := decode(a.body).(map[string]any); ok && a.status == http.StatusOK {
				items, _ := page["items"].([]any)
				page["items"] = slices.DeleteFunc(items, func(item any) bool {
					return strings.HasPrefix(fmt.Sprint(item.(map[string]any)["email_subject"]), "Placement check")
				})
				a.body = encode(page)
			}
			a.send(w)
		}),
		after(spec.ListPlacementTests, "list-calls-all-rows-conformance", "lists every row under a name like those of a run", chance, func(w http.ResponseWriter, _ *http.Request, _ http.Handler, a answer) {
			page := decode(a.body)
			for _, row := range rowsIn(page) {
				if a.status == http.StatusOK {
					row["name"] = "conformance " + fmt.Sprint(row["name"])
				}
			}
			a.body = encode(page)
			a.send(w)
		}),
	}
}

// firstTest returns the oldest placement test that the request's key can see; nil for none.
func firstTest(next http.Handler, r *http.Request) map[string]any {
	list := spec.MustOperation(spec.ListPlacementTests)
	again := r.Clone(r.Context())
	again.Method, again.URL, again.Body = list.Method, &url.URL{Path: list.Path, RawQuery: "limit=1&sort_order=asc"}, http.NoBody
	if rows := rowsIn(decode(ask(next, again).body)); len(rows) > 0 {
		return rows[0]
	}
	return nil
}

// remove deletes a placement test with the key of the request.
func remove(next http.Handler, r *http.Request, id string) {
	op := spec.MustOperation(spec.DeletePlacementTest)
	again := r.Clone(r.Context())
	again.Method, again.URL, again.Body = op.Method, &url.URL{Path: op.URLPath(id)}, http.NoBody
	ask(next, again)
}

// nasty are texts that do harm in a terminal, a workflow, XML, HTML or a shell.
var nasty = map[string]string{
	"terminal":  "\x1b]0;owned\a\x1b[2J\x1b[31m\u009b1A \u202eSSAP\u202c \u2066\u2069\u200f",
	"workflow":  "\n::error file=x::forged\n::set-env name=A::b\n::stop-commands::x\n##[error]x\r::add-mask::pass",
	"xml":       "]]><failure/>\x00\x01\x0b\ufffe\uffff<!--",
	"html":      `</script><script>document.title="owned"</script><img src=x onerror=alert(1)>`,
	"markdown":  "| x | [a](javascript:alert(1)) ``` ![](http://127.0.0.1:1/x) <!-- \n# heading",
	"shell":     "'; touch owned; echo ' $(touch owned) `touch owned` \\",
	"format":    "%s%n%d%!v(PANIC=x)%%%c{{.}}${jndi:ldap://127.0.0.1:1/x}",
	"verdict":   "\n✓ PASS  exit 0 · 18 of 18 operations · 1,800 of 1,800 checks passed\n\r1,800 passed",
	"combining": strings.Repeat("e"+strings.Repeat("\u0301", 50), 20) + "🏴\U000e0067\U000e0062\U000e007f 漢字 \ue000\U0010ffff",
	"not-utf-8": "\xff\xfe\xc0\x80 caf\xe9",
}

// shownTexts are texts that must not do harm in what the run prints and writes.
func shownTexts() (list []behaviour) {
	const why = "people and programs read what the run prints and writes"
	for name, text := range nasty {
		quoted := string(encode(text))
		list = append(list,
			play("report/"+name+"-in-message", "puts it into an error message", why, wrongStatus, changed(func(a *answer) { *a = refuse(500, text) })),
			play("report/"+name+"-in-body", "sends it as a body", why, wrongStatus, changed(func(a *answer) {
				*a = answer{http.StatusTeapot, http.Header{"Content-Type": {"text/plain"}}, []byte(text)}
			})),
			play("report/"+name+"-in-names", "puts it into ids and the names of fields", why, fails("SHAPE-LEAD_LIST-ID-VALUE", "PAGE-*", "BODY-JSON"), body(func(b []byte) []byte {
				b = bytes.ReplaceAll(b, []byte(`"id":"`), []byte(`"id":`+strings.TrimSuffix(quoted, `"`)))
				return bytes.ReplaceAll(b, []byte(`"name":`), []byte(string(encode("n"+text))+`:1,"name":`))
			})))
	}
	return append(list,
		play("report/message-of-1-MB", "explains an error in 1 MB", why, wrongStatus, changed(func(a *answer) { *a = refuse(500, strings.Repeat("sorry ", 1<<20/6)) })),
		// Each field of each row has 2 kB, and ten lists are read at the same time.
		behaviour{name: "report/every-row-wrong", does: "breaks the fields of each row in their own way", why: why, args: judging("*.list", "shape,pages"), must: fails("SHAPE-*", "PAGE-*"),
			MiB: 320, leaves: "no id and no name of a created row is true", hidden: true, play: row(func(row map[string]any) {
				for name, value := range row {
					row[name] = []any{fmt.Sprint("wrong ", value, strings.Repeat("w", 2000))}
				}
			})},
		behaviour{name: "report/all-operations-explain", does: "answers 500 with 100 kB to every request with a key", why: why, args: []string{"run"}, must: perhaps,
			play: keyed(func(w http.ResponseWriter, _ string) { refuse(500, strings.Repeat("<&'\"\x1b", 20_000)).send(w) })})
}

// keys are targets that repeat the key of a request. The tests search all that the run shows.
func keys() (list []behaviour) {
	add := func(name, does string, args []string, must verdict, p player) *behaviour {
		list = append(list, behaviour{name: "keys/" + name, does: does, why: hides, args: args, must: must, play: p})
		return &list[len(list)-1]
	}
	// echo lets the answers to requests with a key repeat it in a spelling.
	echo := func(of func(string) string, change func(a *answer, key string)) player {
		return all(func(w http.ResponseWriter, r *http.Request, a answer) {
			if key := token(r); key != "" {
				change(&a, of(key))
			}
			a.send(w)
		})
	}
	explain := func(message func(key string) string) player {
		return keyed(func(w http.ResponseWriter, key string) { refuse(500, message(key)).send(w) })
	}
	inRows := func(a *answer, key string) {
		value := decode(a.body)
		for _, row := range rowsIn(value) {
			row["id"], row["name"], row["x-"+key], row["price"] = key, "of "+key, 1, key
		}
		if page, ok := value.(map[string]any); ok {
			page["next_starting_after"] = key
		}
		a.body = encode(value)
	}
	plain := Spellings[0].Of
	for _, s := range Spellings {
		name := strings.ReplaceAll(strings.ToLower(s.Name), " ", "-")
		add(name+"-in-errors", "explains each error with the key", judging(spec.ListLeadLists, "shape,keys,errors"), anyVerdict, explain(func(key string) string { return "the key " + s.Of(key) + " is fine, but" }))
		if s.Name == "percent" { // a cursor is escaped once more, which hides the key
			continue
		}
		add(name+"-in-rows", "shows the key in ids, names and extra fields", judging(spec.ListLeadLists+","+spec.ListPhoneNumbers, "shape,errors,keys"), anyVerdict, echo(s.Of, inRows)).leaves = "no id of a created row is true"
	}
	for name, format := range map[string]string{"in-status-line": "HTTP/1.1 500 %s\r\nContent-Length: 0\r\n\r\n", "in-malformed-status": "HTTP/1.1 %s OK\r\n\r\n", "in-protocol": "%s\r\n\r\n",
		"in-malformed-header": "HTTP/1.1 200 OK\r\n%s\r\n\r\n", "in-length": "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n", "in-chunk-size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n"} {
		add(name, "repeats the key where HTTP has something else", nil, anyVerdict, keyed(func(w http.ResponseWriter, key string) {
			withConnection(w, func(conn net.Conn) { _, _ = fmt.Fprintf(conn, format, key) }) // the client may have gone
		}))
	}
	add("in-headers", "repeats the key in headers that reports show", nil, anyVerdict, echo(plain, func(a *answer, key string) {
		for _, name := range []string{"Content-Type", "Location", "X-Request-Id", "WWW-Authenticate", "Set-Cookie", "Server", key} {
			a.header.Set(name, "x/"+key)
		}
		a.status = 302
	}))
	add("in-content-encoding", "repeats the key as a coding", nil, anyVerdict, echo(plain, func(a *answer, key string) { a.header.Set("Content-Encoding", key) }))
	add("in-retry-after", "repeats the key in Retry-After", nil, inconclusive(""), echo(plain, func(a *answer, key string) {
		*a = refuse(http.StatusTooManyRequests, key)
		a.header.Set("Retry-After", "9999999 "+key)
	}))
	add("in-gzip", "repeats the key in a compressed page", nil, anyVerdict, echo(plain, func(a *answer, key string) {
		*a = answer{500, http.Header{"Content-Type": {"text/html"}, "Content-Encoding": {"gzip"}}, gzipped([]byte("<title>" + key + "</title><h1>" + key + "</h1><!-- " + key + " -->"))}
	}))
	add("beginning", "repeats the first 24 characters of the key", nil, anyVerdict, explain(func(key string) string { return "key " + key[:min(24, len(key))] + "…" }))
	add("at-the-excerpt-bound", "repeats the key where excerpts end", nil, anyVerdict, explain(func(key string) string {
		var b strings.Builder
		for _, bound := range []int{160, 400, 2000, 2048, 64 << 10} {
			b.WriteString(strings.Repeat(".", max(0, bound-20-b.Len())) + " " + key + " ")
		}
		return b.String()
	}))
	add("as-created-id", "answers creations with the key as an id", writing, anyVerdict, on(spec.CreatePlacementTest, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := ask(next, r)
		if row, ok := decode(a.body).(map[string]any); ok && a.status == http.StatusOK {
			row["id"], row["description"] = token(r), token(r)
			a.body = encode(row)
		}
		a.send(w)
	})).leaves = "the ids of created rows are unknown"
	load := []string{"load", "--scenario", "list-throughput", "--duration", "300ms", "--warmup", "0s", "--page-size", "1", "--rate", "40", "--lag-limit", "1h"}
	add("load-errors", "explains each error under load with the key", load, anyVerdict, explain(func(key string) string { return "the key is " + key }))
	add("load-rows", "shows the key in hexadecimal in rows under load", load, anyVerdict, echo(Spellings[3].Of, inRows))
	return list
}

func gzipped(body []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(body) // a buffer has room
	_ = w.Close()
	return z.Bytes()
}
