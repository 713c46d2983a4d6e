package hostile

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"strings"
	"sync"
	"unicode/utf16"
)

const (
	notOffered = "RFC 9110, section 8.4: the client did not offer this coding, so the body cannot be judged"
	notUTF8    = "RFC 8259, section 8.1: JSON between systems is UTF-8"
	json200    = "What the service does: all endpoints return JSON"
)

// encodings are content codings, character sets and media types.
func encodings() []Behaviour {
	coded := func(name, doc, why, coding string, v Verdict, encode func([]byte) []byte) Behaviour {
		return Behaviour{Name: "encoding/" + name, Doc: doc, Why: why, Verdict: v, Play: changed(func(a *answer) {
			a.header.Set("Content-Encoding", coding)
			a.body = encode(a.body)
		})}
	}
	plain := func(body []byte) []byte { return body }
	constant := func(text string) func([]byte) []byte { return func([]byte) []byte { return []byte(text) } }
	bytesOf := func(name, doc, why string, v Verdict, change func([]byte) []byte) Behaviour {
		return Behaviour{Name: "encoding/" + name, Doc: doc, Why: why, Verdict: v, Play: body(change)}
	}
	media := func(name, doc string, v Verdict, value ...string) Behaviour {
		return Behaviour{Name: "encoding/media-" + name, Doc: doc, Why: json200, Verdict: v, Play: changed(func(a *answer) { a.header["Content-Type"] = value })}
	}
	wide := func(order binary.AppendByteOrder) func([]byte) []byte {
		return func(text []byte) (encoded []byte) {
			for _, unit := range utf16.Encode([]rune(string(text))) {
				encoded = order.AppendUint16(encoded, unit)
			}
			return encoded
		}
	}
	inName := func(text string) func([]byte) []byte {
		return func(page []byte) []byte { return bytes.ReplaceAll(page, []byte(`"name":"`), []byte(`"name":"`+text)) }
	}
	bomb := sync.OnceValue(func() []byte { return gzipped(bytes.Repeat([]byte(" "), 128<<20)) }) // 1,000 times smaller
	return []Behaviour{
		coded("gzip", "compresses although it need not", "the client offers gzip", "gzip", passes(), gzipped),
		coded("gzip-in-capitals", "names the coding GZIP", "RFC 9110, section 8.4.1: codings ignore case", "GZIP", passes(), gzipped),
		coded("gzip-bomb", "sends 128 KiB that decode to 128 MiB", "the harness stops at its bound", "gzip", inconclusive(""), func([]byte) []byte { return bomb() }),
		coded("gzip-in-gzip", "compresses twice", notOffered, "gzip, gzip", inconclusive("gzip, gzip"), func(b []byte) []byte { return gzipped(gzipped(b)) }),
		coded("gzip-of-plain", "declares gzip and sends plain JSON", notOffered, "gzip", inconclusive("gzip"), plain),
		coded("gzip-cut", "cuts the compressed body in two", cutOff, "gzip", inconclusive(""), func(b []byte) []byte { return gzipped(b)[:len(gzipped(b))/2] }),
		coded("gzip-checksum", "damages the checksum", cutOff, "gzip", inconclusive(""), func(b []byte) []byte {
			z := gzipped(b)
			z[len(z)-6] ^= 0xff
			return z
		}),
		coded("gzip-then-garbage", "adds garbage after the compressed body", cutOff, "gzip", inconclusive(""), func(b []byte) []byte { return append(gzipped(b), "garbage"...) }),
		coded("gzip-of-nothing", "compresses an empty body", "an empty body is no JSON", "gzip", fails("BODY-JSON"), func([]byte) []byte { return gzipped(nil) }),
		coded("gzip-in-two-members", "compresses in two members", "RFC 1952, section 2.2: members follow each other", "gzip", passes(),
			func(b []byte) []byte { return append(gzipped(b[:len(b)/2]), gzipped(b[len(b)/2:])...) }),
		coded("brotli", "declares br", notOffered, "br", inconclusive("br"), constant("\x8b\x05\x80hello\x03")),
		coded("brotli-of-plain", "declares br and sends plain JSON", notOffered, "br", inconclusive("br"), plain),
		coded("zstd", "declares zstd", notOffered, "zstd", inconclusive("zstd"), constant("\x28\xb5\x2f\xfd\x04\x00\x11\x00\x00{}")),
		coded("deflate", "compresses with deflate", notOffered, "deflate", inconclusive("deflate"), func(b []byte) []byte {
			var z bytes.Buffer
			w := zlib.NewWriter(&z)
			_, _ = w.Write(b) // a buffer has room
			_ = w.Close()
			return z.Bytes()
		}),
		coded("unknown", "declares an unknown coding", notOffered, "x-secret\x1b[31m", Verdict{Codes: []int{exitInconclusive}}, plain),
		coded("coding-of-10-kB", "declares a coding with a name of 10 kB", notOffered, strings.Repeat("x", 10_000), inconclusive("xxxx"), plain),
		coded("identity", "declares identity", "RFC 9110, section 8.4: it means no coding", "identity", passes(), plain),

		bytesOf("utf-16-le", "sends UTF-16", notUTF8, fails("BODY-JSON"), wide(binary.LittleEndian)),
		bytesOf("utf-16-be", "sends UTF-16, high bytes first", notUTF8, fails("BODY-JSON"), wide(binary.BigEndian)),
		bytesOf("latin-1", "sends a name in Latin-1", notUTF8, fails("BODY-JSON"), inName("caf\xe9")),
		bytesOf("overlong", "sends overlong UTF-8", notUTF8, fails("BODY-JSON"), inName("\xc0\xaf")),
		bytesOf("surrogates-in-utf-8", "sends surrogates as UTF-8", notUTF8, fails("BODY-JSON"), inName("\xed\xa0\x80")),
		bytesOf("byte-order-mark", "begins with U+FEFF", "RFC 8259, section 8.1: a sender must not, a parser may ignore it",
			Verdict{Codes: []int{exitPass, exitFail}, Fails: []string{"BODY-JSON"}}, func(b []byte) []byte { return append([]byte("\uFEFF"), b...) }),
		bytesOf("nul-bytes", "puts a NUL byte after each byte", notUTF8, fails("BODY-JSON"), func(b []byte) []byte {
			var padded []byte
			for _, c := range b {
				padded = append(padded, c, 0)
			}
			return padded
		}),
		bytesOf("lone-surrogate-escaped", "escapes half a surrogate pair", "RFC 8259, section 8.2: the grammar allows it", passes(), inName(`\ud800`)),

		media("html", "declares JSON as text/html", fails("CONTENT-TYPE"), "text/html"),
		media("absent", "declares no media type", fails("CONTENT-TYPE"), ""),
		media("empty-parts", "declares a media type without a subtype", fails("CONTENT-TYPE"), "application/"),
		media("jsonp", "declares application/jsonp", fails("CONTENT-TYPE"), "application/jsonp"),
		media("charset", "declares a character set that JSON has not", passes(), "application/json; charset=iso-8859-1"),
		media("in-capitals", "writes the media type in capitals", passes(), "APPLICATION/JSON"),
		media("plus-json", "declares a media type of its own", passes(), "application/hal+json"),
		media("of-100-kB", "declares a media type of 100 kB", fails("CONTENT-TYPE"), "text/"+strings.Repeat("x", 100_000)),
		media("escapes", "puts a terminal sequence into the media type", noPass("CONTENT-TYPE"), "text/\x1b[2J\u202e"),
	}
}

func gzipped(body []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(body) // a buffer has room
	_ = w.Close()
	return z.Bytes()
}
