package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"outreach.example/conformance/spec"
)

// listing selects what most behaviours need: the shapes and pages of one list.
var listing = []string{"run", "--operation", spec.ListLeadLists, "--group", "shape,pages"}

// judging selects groups of requirements on operations.
func judging(operations, groups string) []string {
	return []string{"run", "--operation", operations, "--group", groups}
}

// answer is a complete response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask returns the answer of a server.
func ask(server http.Handler, r *http.Request) answer {
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	header := w.Result().Header
	header.Del("Content-Length") // send counts again
	return answer{w.Code, header, w.Body.Bytes()}
}

// send writes the answer with its length, unless the header has one.
func (a answer) send(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.header.Get("Content-Length") == "" {
		w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may have gone
}

// text writes the answer as it goes over the wire.
func (a answer) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	header := a.header.Clone()
	header.Set("Content-Length", fmt.Sprint(len(a.body)))
	_ = header.Write(&b) // a buffer has room
	b.WriteString("\r\n")
	b.Write(a.body)
	return b.Bytes()
}

// player answers in front of the reference server.
type player func(next http.Handler) http.Handler

// all replaces every answer.
func all(respond func(w http.ResponseWriter, r *http.Request, a answer)) player {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { respond(w, r, ask(next, r)) })
	}
}

// served replaces the answers with status 200. Others, such as the 401 without a key,
// stay as they are.
func served(respond func(w http.ResponseWriter, r *http.Request, a answer)) player {
	return all(func(w http.ResponseWriter, r *http.Request, a answer) {
		if a.status != http.StatusOK {
			a.send(w)
			return
		}
		respond(w, r, a)
	})
}

// changed changes the answers with status 200.
func changed(change func(*answer)) player {
	return served(func(w http.ResponseWriter, _ *http.Request, a answer) {
		change(&a)
		a.send(w)
	})
}

// body replaces the bodies of answers with status 200.
func body(of func(original []byte) []byte) player {
	return changed(func(a *answer) { a.body = of(a.body) })
}

// nth replaces every nth answer with status 200.
func nth(n int64, other answer) player {
	return func(next http.Handler) http.Handler {
		var count atomic.Int64
		return changed(func(a *answer) {
			if count.Add(1)%n == 0 {
				*a = other
			}
		})(next)
	}
}

// on answers the requests of one operation that have a key. Others are served.
func on(id string, respond func(w http.ResponseWriter, r *http.Request, next http.Handler)) player {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if op, _, ok := spec.MatchOperation(r.Method, r.URL.Path); ok && op.ID == id && token(r) != "" {
				respond(w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// keyed answers requests with a key instead of the server. Others are served.
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

// regexpByte matches each byte of ASCII text.
var regexpByte = regexp.MustCompile(`(?s).`)

// raw answers with bytes instead of HTTP, and closes the connection.
func raw(of func(a answer) []byte) player {
	return served(func(w http.ResponseWriter, _ *http.Request, a answer) {
		withConnection(w, func(conn net.Conn) { _, _ = conn.Write(of(a)) }) // the client may have gone
	})
}

// withConnection takes the connection over, and closes it at the end.
func withConnection(w http.ResponseWriter, use func(net.Conn)) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	use(conn)
}

// hang waits until the client has gone.
func hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(5 * time.Minute): // so that nothing outlives a test
	}
}

// page changes the decoded pages of lists.
func page(change func(page map[string]any)) player {
	return body(func(original []byte) []byte {
		object, ok := decode(original).(map[string]any)
		if !ok || object["items"] == nil {
			return original
		}
		change(object)
		return encode(object)
	})
}

// row changes each row of a page, or the one row of another answer.
func row(change func(row map[string]any)) player {
	return body(func(original []byte) []byte {
		value := decode(original)
		for _, row := range rowsIn(value) {
			change(row)
		}
		return encode(value)
	})
}

func rowsIn(value any) (rows []map[string]any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			rows = append(rows, rowsIn(item)...)
		}
	case map[string]any:
		if items, ok := value["items"].([]any); ok {
			return rowsIn(items)
		}
		rows = append(rows, value)
	}
	return rows
}

func decode(body []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // the reference server sends JSON
	return value
}

func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("hostile: " + err.Error())
	}
	return text
}

// refuse answers as the specification shows errors.
func refuse(status int, message string) answer {
	name := http.StatusText(status)
	return answer{status, http.Header{"Content-Type": {"application/json"}},
		encode(map[string]any{"statusCode": status, "error": name, "message": message})}
}

// token returns the key of a request.
func token(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}
