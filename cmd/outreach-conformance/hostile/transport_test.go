package hostile

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	cutOff  = "a lost connection is no evidence: RFC 9112, section 8, calls such a message incomplete"
	notHTTP = "RFC 9112 defines the message; the specification says JSON over HTTP"
	lawful  = "RFC 9112 allows it"
)

// transport are behaviours below the body: connections, framing, header blocks.
func transport() []Behaviour {
	wire := func(name, doc, says string, play func(net.Conn)) Behaviour {
		return Behaviour{Name: "transport/" + name, Doc: doc, Why: "no response comes", Verdict: inconclusive(says),
			Wire: func(conn net.Conn) {
				defer func() { _ = conn.Close() }()
				play(conn)
			}}
	}
	greets := func(name, doc, greeting string) Behaviour {
		return wire(name, doc, "unreachable", func(conn net.Conn) {
			_, _ = conn.Write([]byte(greeting))
			_, _ = io.CopyN(io.Discard, conn, 1) // so that the greeting arrives before a reset
		})
	}
	writes := func(name, doc, why string, v Verdict, of func(a answer) []byte) Behaviour {
		return Behaviour{Name: "transport/" + name, Doc: doc, Why: why, Verdict: v, Play: raw(of)}
	}
	// head replaces a line of the head, which ends with \r\n.
	head := func(name, doc, why string, v Verdict, old, replacement string) Behaviour {
		return writes(name, doc, why, v, func(a answer) []byte {
			a.header.Set("X-Marker", "marker")
			return bytes.Replace(a.text(), []byte(old), []byte(replacement), 1)
		})
	}
	chunked := func(name, doc, why string, v Verdict, of func(body []byte) string) Behaviour {
		return writes(name, doc, why, v, func(a answer) []byte {
			return []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + of(a.body))
		})
	}
	const marker, status = "X-Marker: marker\r\n", "HTTP/1.1 200 OK\r\n"
	length := func(a answer, claimed string) []byte {
		return []byte(fmt.Sprintf("%sContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s", status, claimed, a.body))
	}
	lost, garbled := inconclusive("connection lost"), noPass("STATUS-200", "STATUS-ALLOWED", "SERVED", "PAGE-LIMIT-*")
	return []Behaviour{
		wire("closes-at-once", "closes every connection at once", "unreachable", func(net.Conn) {}),
		wire("resets", "resets every connection", "unreachable", func(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }),
		wire("accepts-and-is-silent", "accepts connections, reads nothing and sends nothing", "unreachable", func(conn net.Conn) { time.Sleep(time.Minute) }),
		wire("reads-and-is-silent", "reads requests and never responds", "unreachable", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }),
		greets("speaks-ssh", "greets like an SSH server", "SSH-2.0-OpenSSH_9.6\r\n"),
		greets("speaks-smtp", "greets like a mail server", "220 mail.example ESMTP\r\n"),
		greets("speaks-tls", "sends a TLS alert on a plain connection", "\x15\x03\x03\x00\x02\x02\x46"),
		greets("speaks-http2", "sends an HTTP/2 preface on a plain connection", "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"),
		greets("speaks-binary", "sends 64 KiB of zero bytes", strings.Repeat("\x00", 64<<10)),

		writes("closes-after-head", "closes the connection after the header block", cutOff, lost, func(a answer) []byte {
			before, _, _ := bytes.Cut(a.text(), []byte("\r\n\r\n"))
			return append(before, "\r\n\r\n"...)
		}),
		writes("closes-within-head", "closes the connection within the header block", cutOff, lost, func(a answer) []byte { return a.text()[:40] }),
		writes("closes-within-status-line", "closes the connection within the status line", cutOff, lost, func(answer) []byte { return []byte("HTTP/1.1 2") }),
		writes("closes-within-body", "closes the connection within the body", cutOff, lost, func(a answer) []byte {
			text := a.text()
			return text[:len(text)-len(a.body)/2]
		}),
		writes("closes-without-answer", "closes the connection instead of answering", cutOff, lost, func(answer) []byte { return nil }),
		writes("promises-too-much", "declares a Content-Length of 10 TB and sends a page", cutOff, inconclusive(""), func(a answer) []byte { return length(a, "10000000000000") }),
		// The rest of the page may arrive before the next request, which then takes it for
		// the head of its response.
		writes("promises-too-little", "declares a Content-Length of 10 bytes and sends a page", "RFC 9112, section 6.3: the body ends there, so it is no JSON",
			fails(append([]string{"BODY-JSON"}, garbled.Fails...)...), func(a answer) []byte { return length(a, "10") }),
		writes("length-negative", "declares a negative Content-Length", notHTTP, inconclusive(""), func(a answer) []byte { return length(a, "-5") }),
		writes("length-words", "declares a Content-Length in words", notHTTP, inconclusive(""), func(a answer) []byte { return length(a, "many") }),
		writes("length-overflow", "declares a Content-Length beyond 64 bits", notHTTP, inconclusive(""), func(a answer) []byte { return length(a, "18446744073709551617") }),
		writes("length-twice", "declares two different lengths", "RFC 9112, section 6.3: an unrecoverable error", inconclusive(""),
			func(a answer) []byte { return length(a, fmt.Sprintf("%d\r\nContent-Length: 3", len(a.body))) }),
		writes("length-repeated", "declares the same length twice", "RFC 9112, section 6.3: a recipient may accept it", passes(),
			func(a answer) []byte {
				return length(a, fmt.Sprintf("%d\r\nContent-Length: %d", len(a.body), len(a.body)))
			}),

		chunked("chunk-size-garbage", "sends a chunk size that is no number", cutOff, inconclusive(""), func([]byte) string { return "zz\r\n{}\r\n0\r\n\r\n" }),
		chunked("chunk-size-overflow", "sends a chunk size beyond 64 bits", cutOff, inconclusive(""), func([]byte) string { return "fffffffffffffffffff\r\n{}" }),
		chunked("chunk-unfinished", "closes the connection before the last chunk", cutOff, lost, func(body []byte) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }),
		chunked("chunk-of-one-byte", "sends every byte in a chunk of its own", bounded, Verdict{Codes: []int{exitPass, exitInconclusive}}, func(body []byte) string {
			var b strings.Builder
			for _, c := range body {
				fmt.Fprintf(&b, "1\r\n%c\r\n", c)
			}
			return b.String() + "0\r\n\r\n"
		}),
		chunked("chunk-extensions", "adds an extension of 4 KiB to a chunk", lawful, passes(), func(body []byte) string {
			return fmt.Sprintf("%x;%s=1\r\n%s\r\n0\r\n\r\n", len(body), strings.Repeat("x", 4000), body)
		}),
		chunked("trailers", "sends 1,000 trailers", lawful, passes(), func(body []byte) string {
			return fmt.Sprintf("%x\r\n%s\r\n0\r\n%s\r\n", len(body), body, strings.Repeat("X-Trailer: value\r\n", 100))
		}),
		chunked("chunked-after-length", "sends a chunked body after the last one, as a second response", "a response that no request asked for: it may arrive before the next request", anyVerdict,
			func(body []byte) string {
				return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse", len(body), body)
			}),
		endless("transport/chunks-without-end", "sends chunks of white space without an end", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
			"10000\r\n"+strings.Repeat(" ", 64<<10)+"\r\n", inconclusive("")),
		endless("transport/header-without-end", "sends header lines without an end", "", "X-Filler: "+strings.Repeat("x", 1000)+"\r\n", inconclusive("")),
		endless("transport/body-without-end", "sends a body without a length and without an end", "Content-Type: application/json\r\n\r\n",
			`{"items":[],"x":"`+strings.Repeat("x", 64<<10), inconclusive("")),
		endless("transport/line-without-end", "sends a header line without an end", "X-Filler: ", strings.Repeat("x", 64<<10), inconclusive("")),
		endless("transport/interim-without-end", "sends interim responses without an end", "\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", inconclusive("")),

		head("status-line-words", "sends a status line in words", notHTTP, garbled, status, "HELLO WORLD\r\n"),
		head("status-version", "answers in HTTP/9.9", "RFC 9110, section 2.5: a recipient may process it as the version it knows", passes(), "HTTP/1.1", "HTTP/9.9"),
		head("status-negative", "sends the status -200", notHTTP, garbled, "200", "-200"),
		head("status-long", "sends the status 20000", notHTTP, garbled, "200", "20000"),
		head("status-letters", "sends the status abc", notHTTP, garbled, "200", "abc"),
		head("status-without-reason", "sends no reason phrase", lawful, passes(), " 200 OK", " 200 "),
		head("reason-of-100-kB", "sends a reason phrase of 100 kB", lawful, passes(), "200 OK", "200 "+strings.Repeat("x", 100_000)),
		head("no-status-line", "sends a body without a head, as HTTP/0.9 does", notHTTP, garbled, status, ""),
		head("switching-protocols", "answers 101 to a request that asks for no upgrade", "RFC 9110, section 15.2.2: only after an Upgrade header",
			garbled, status, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"+status),
		head("early-hints", "sends 3 interim responses first", "RFC 9110, section 15.2: a client reads past them", passes(),
			status, strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 3)+status),
		head("continue", "sends 100 Continue without being asked", "RFC 9110, section 15.2.1: a client may ignore it", passes(), status, "HTTP/1.1 100 Continue\r\n\r\n"+status),

		head("header-name-with-space", "writes a space before the colon of a header", "RFC 9112, section 5.1: a proxy must remove it", passes(), marker, "X-Marker : marker\r\n"),
		head("header-without-colon", "sends a header line without a colon", notHTTP, inconclusive(""), marker, "marker\r\n"),
		head("header-name-empty", "sends a header without a name", notHTTP, inconclusive(""), marker, ": marker\r\n"),
		head("header-with-nul", "sends a NUL byte in a header", notHTTP, Verdict{Codes: []int{exitPass, exitInconclusive}}, marker, "X-Marker: a\x00b\r\n"),
		head("header-folded", "folds a header over 2 lines", "RFC 9112, section 5.2: a user agent replaces the fold by spaces", passes(), marker, "X-Marker: a\r\n  b\r\n"),
		head("header-latin-1", "sends a header in Latin-1", "RFC 9110, section 5.5: opaque data", passes(), marker, "X-Marker: caf\xe9 \xff\r\n"),
		head("header-of-1-MB", "sends a header of 1 MB", "no limit is stated; the harness reads 256 KiB", inconclusive(""), marker, "X-Marker: "+strings.Repeat("x", 1<<20)+"\r\n"),
		head("headers-10000", "sends 10,000 headers", lawful, passes(), marker, strings.Repeat("X-Marker: marker\r\n", 10_000)),
		head("header-block-at-the-bound", "sends a header block of almost 256 KiB", lawful, passes(), marker, strings.Repeat("X-Marker: "+strings.Repeat("x", 980)+"\r\n", 250)),
		head("coding-unknown", "sends an unknown transfer coding", notHTTP, inconclusive(""), marker, "Transfer-Encoding: gzip, chunked\r\n"),
		{Name: "transport/bare-line-feeds", Doc: "ends lines with a line feed", Why: "RFC 9112, section 2.2: a recipient may accept it", Verdict: passes(),
			Play: raw(func(a answer) []byte {
				before, after, _ := bytes.Cut(a.text(), []byte("\r\n\r\n"))
				return append(append(bytes.ReplaceAll(before, []byte("\r\n"), []byte("\n")), "\n\n"...), after...)
			})},
		writes("http-1.0", "answers in HTTP/1.0 and ends the body with the connection", "RFC 9112, section 6.3: allowed", passes(),
			func(a answer) []byte {
				return []byte("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + string(a.body))
			}),
		writes("closes-unannounced", "closes every connection after the response without saying so", "RFC 9112, section 9.6: a client must cope", passes(),
			func(a answer) []byte { return a.text() }),
		{Name: "transport/answers-twice", Doc: "sends each response twice on connections that stay open", Why: "RFC 9112, section 6.3: a client may take the second for the next response", Verdict: Verdict{Codes: []int{exitPass, exitFail}, Fails: []string{"*"}},
			Play: kept(func(a answer) []byte { return append(a.text(), a.text()...) })},
		{Name: "transport/line-breaks-after-response", Doc: "sends line breaks after each response", Why: "RFC 9112, section 2.2: only a server skips them; to a client they may be the start of the next response", Verdict: Verdict{Codes: []int{exitPass, exitInconclusive}},
			Play: kept(func(a answer) []byte { return append(a.text(), "\r\n\r\n"...) })},
	}
}

// endless sends the head, and the rest again and again until the client has gone.
func endless(name, doc, head, rest string, v Verdict) Behaviour {
	return Behaviour{Name: name, Doc: doc, Why: "it never ends; the harness must stop reading", Verdict: v,
		Play: served(func(w http.ResponseWriter, _ *http.Request, _ answer) {
			withConnection(w, func(conn net.Conn) {
				_, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n" + head))
				for sent := 0; err == nil && sent < 1<<30; sent += len(rest) {
					_, err = conn.Write([]byte(rest))
				}
			})
		})}
}

// kept sends what is no single response on a connection that stays open for a while.
func kept(of func(a answer) []byte) player {
	return served(func(w http.ResponseWriter, _ *http.Request, a answer) {
		withConnection(w, func(conn net.Conn) {
			_, _ = conn.Write(of(a))
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			_, _ = io.CopyN(io.Discard, conn, 1) // until the client closes it or sends the next request
		})
	})
}
