package hostile

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"outreach.example/conformance/spec"
)

// keys are targets that repeat the key of a request. The tests search all artifacts.
func keys() []Behaviour {
	const why = "a key must not reach anything that a person reads"
	var list []Behaviour
	add := func(name, doc string, args []string, v Verdict, play player) {
		list = append(list, Behaviour{Name: "keys/" + name, Doc: doc, Why: why, Args: args, Verdict: v, Play: play})
	}
	anything := Verdict{Codes: []int{exitPass, exitFail, exitInconclusive}, Fails: []string{"*"}}
	// echo lets the answers to requests with a key repeat it in a spelling.
	echo := func(of func(string) string, change func(a *answer, key string)) player {
		return all(func(w http.ResponseWriter, r *http.Request, a answer) {
			if key := token(r); key != "" {
				change(&a, of(key))
			}
			a.send(w)
		})
	}
	// explain refuses each request with a key, in words that hold the key.
	explain := func(message func(key string) string) player {
		return keyed(func(w http.ResponseWriter, key string) { refuse(http.StatusInternalServerError, message(key)).send(w) })
	}
	plain := Spellings[0].Of
	twoLists := judging(spec.ListLeadLists+","+spec.ListPhoneNumbers, "shape,errors,keys")
	for _, s := range Spellings {
		name := strings.ReplaceAll(strings.Trim(strings.ToLower(s.Name), `\`), " ", "-")
		add(name+"-in-errors", "explains each error with the key in the spelling “"+s.Name+"”", judging(spec.ListLeadLists, "shape,keys,errors"), anything, explain(func(key string) string { return "the key " + s.Of(key) + " is fine, but" }))
		add(name+"-in-rows", "shows the key in ids, names and extra fields, in the spelling “"+s.Name+"”", twoLists, anything, echo(s.Of, func(a *answer, key string) {
			value := decode(a.body)
			for _, row := range rowsIn(value) {
				row["id"], row["name"], row["x-"+key], row["price"] = key, "of "+key, 1, key
			}
			if page, ok := value.(map[string]any); ok {
				page["next_starting_after"] = key
			}
			a.body = encode(value)
		}))
		list[len(list)-1].Leaves = "no id of a created row is true"
	}
	add("in-status-line", "repeats the key as a reason phrase", nil, anything, keyedRaw("HTTP/1.1 500 %s\r\nContent-Length: 0\r\n\r\n"))
	add("in-malformed-status", "repeats the key as a status code", nil, anything, keyedRaw("HTTP/1.1 %s OK\r\n\r\n"))
	add("in-protocol", "repeats the key instead of HTTP", nil, anything, keyedRaw("%s\r\n\r\n"))
	add("in-malformed-header", "repeats the key as a header line", nil, anything, keyedRaw("HTTP/1.1 200 OK\r\n%s\r\n\r\n"))
	add("in-length", "repeats the key as a Content-Length", nil, anything, keyedRaw("HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n"))
	add("in-chunk-size", "repeats the key as a chunk size", nil, anything, keyedRaw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n"))
	add("in-headers", "repeats the key in headers that reports show", nil, anything, echo(plain, func(a *answer, key string) {
		for _, name := range []string{"Content-Type", "Location", "X-Request-Id", "WWW-Authenticate", "Set-Cookie", "Server", key} {
			a.header.Set(name, "x/"+key)
		}
		a.status = 302
	}))
	add("in-content-encoding", "repeats the key as a coding", nil, anything, echo(plain, func(a *answer, key string) { a.header.Set("Content-Encoding", key) }))
	add("in-retry-after", "repeats the key in Retry-After", nil, Verdict{Codes: []int{exitInconclusive}}, echo(plain, func(a *answer, key string) {
		*a = refuse(http.StatusTooManyRequests, key)
		a.header.Set("Retry-After", "9999999 "+key)
	}))
	add("in-html", "repeats the key in a page", nil, anything, echo(plain, func(a *answer, key string) {
		*a = answer{500, http.Header{"Content-Type": {"text/html"}}, []byte("<title>" + key + "</title><h1>" + key + "</h1><!-- " + key + " -->")}
	}))
	add("in-gzip", "repeats the key in a compressed body", nil, anything, echo(plain, func(a *answer, key string) {
		*a = refuse(500, key)
		a.body, a.header["Content-Encoding"] = gzipped(a.body), []string{"gzip"}
	}))
	add("beginning", "repeats the first 24 characters of the key", nil, anything, explain(func(key string) string { return "key " + key[:min(24, len(key))] + "…" }))
	add("at-the-excerpt-bound", "repeats the key where excerpts end", nil, anything, explain(func(key string) string {
		var b strings.Builder
		for _, bound := range []int{160, 400, 2000, 2048, 64 << 10} {
			for b.Len() < bound-20 {
				b.WriteByte('.')
			}
			b.WriteString(" " + key + " ")
		}
		return b.String()
	}))
	add("in-created-rows", "shows the key in what was created, and refuses to delete it", writing, anything, func(next http.Handler) http.Handler {
		return echo(plain, func(a *answer, key string) {
			if row, ok := decode(a.body).(map[string]any); ok && row["email_subject"] != nil {
				row["description"], row["test_code"] = key, key
				a.body = encode(row)
			}
		})(next)
	})
	add("as-created-id", "answers creations with the key as an id", writing, anything, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := ask(next, r)
			if row, ok := decode(a.body).(map[string]any); ok && isOperation(r, spec.CreatePlacementTest) && a.status == http.StatusOK {
				row["id"] = token(r)
				a.body = encode(row)
			}
			a.send(w)
		})
	})
	list[len(list)-1].Leaves = "the ids of created rows are unknown"
	load := []string{"load", "--scenario", "list-throughput", "--duration", "300ms", "--warmup", "0s", "--page-size", "1", "--rate", "40", "--lag-limit", "1h"}
	add("load-errors", "explains each error under load with the key", load, anything, explain(func(key string) string { return "the key is " + key }))
	add("load-rows", "shows the key in hexadecimal in rows under load", load, anything, echo(Spellings[3].Of, func(a *answer, key string) {
		value := decode(a.body)
		for _, row := range rowsIn(value) {
			row["id"] = key
		}
		a.body = encode(value)
	}))
	add("load-coding", "names the key as a coding under load", load, anything, echo(plain, func(a *answer, key string) { a.header.Set("Content-Encoding", key) }))
	return list
}

// keyed answers requests with a key. Others are served.
func keyed(respond func(w http.ResponseWriter, key string)) player {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if token(r) == "" {
				next.ServeHTTP(w, r)
				return
			}
			respond(w, token(r))
		})
	}
}

// keyedRaw answers requests with a key with bytes that hold it.
func keyedRaw(format string) player {
	return keyed(func(w http.ResponseWriter, key string) {
		withConnection(w, func(conn net.Conn) { _, _ = fmt.Fprintf(conn, format, key) }) // the client may have gone
	})
}
