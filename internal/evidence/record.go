// Package evidence records the exchanges of a run as an HTTP archive without secrets, and
// answers the requests of the same run from the archive.
//
// It imports the client, and judges nothing.
package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip" // takes half the time of the standard library's for an archive

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/redact"
)

// Recorder writes each exchange of a client to an archive, compressed. It is safe for
// concurrent use.
type Recorder struct {
	mu    sync.Mutex
	zip   *gzip.Writer // keeps its first error
	as    encoder
	begun bool
	run   Run
	shape func(token string) string

	clean sync.Map // searched → true: bodies without secrets
}

// searched is a body and what it was searched for.
type searched struct {
	digest     [sha256.Size]byte
	generation int // of the known secrets
}

// NewRecorder returns a recorder that writes to the file. Close ends the archive.
func NewRecorder(to io.Writer, program, version string, shape func(token string) string) *Recorder {
	zip, _ := gzip.NewWriterLevel(to, gzip.BestSpeed) // the level is valid
	r := &Recorder{zip: zip, as: newEncoder(), shape: shape, run: Run{Keys: map[string]string{}, Decisions: map[string]map[string][]int{}}}
	r.write(headBegins, creator{program, version}, headEnds)
	return r
}

// write writes a value between two texts. The caller holds the mutex.
func (r *Recorder) write(before string, value any, after string) {
	text, _ := r.as.encode(value) // it holds strings and numbers
	_, _ = io.WriteString(r.zip, before)
	_, _ = r.zip.Write(text)
	_, _ = io.WriteString(r.zip, after)
}

// Scheduler is for client.WithSchedulers: a source lives by the clock of the machine, and its decisions
// are recorded.
func (r *Recorder) Scheduler(source string) client.Scheduler { return &recorded{by: r, source: source} }

type recorded struct {
	client.RealTime
	by     *Recorder
	source string
}

// Apart returns the same.
func (l *recorded) Apart() client.Scheduler { return l }

func (l *recorded) Decide(about string, choice int) int {
	l.by.mu.Lock()
	defer l.by.mu.Unlock()
	made := l.by.run.Decisions
	if made[l.source] == nil {
		made[l.source] = map[string][]int{}
	}
	made[l.source][about] = append(made[l.source][about], choice)
	return choice
}

// Observe records an exchange. It is for Options.Observe of a client.
func (r *Recorder) Observe(e client.Exchange) {
	entry := entryOf(e, r.redacted(e.Body))
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := e.Request.Key; key.Name != "" {
		r.run.Keys[key.Name] = r.shape(key.Token)
	}
	before := ",\n"
	if !r.begun {
		before, r.begun = "\n", true
	}
	r.write(before, entry, "")
}

// redacted returns a body without secrets. Most bodies hold none, and two of three come again.
func (r *Recorder) redacted(body []byte) []byte {
	seen := searched{sha256.Sum256(body), redact.Process.Generation()}
	if _, clean := r.clean.Load(seen); clean {
		return body
	}
	public := redact.Process.Content(body)
	if bytes.Equal(public, body) {
		r.clean.Store(seen, true)
	}
	return public
}

// Close ends the archive. settings are those of the run, as JSON. It returns the first error of
// writing.
func (r *Recorder) Close(settings any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := json.Marshal(settings)
	r.run.Settings = text
	if err == nil {
		text, err = r.as.encode(r.run)
	}
	r.write("\n"+endBegins, json.RawMessage(redact.Process.Content(bytes.Clone(text))), endEnds+"\n")
	return errors.Join(err, r.zip.Close())
}

// entryOf returns the exchange without secrets. body is that of the response, without secrets.
func entryOf(e client.Exchange, body []byte) Entry {
	entry := Entry{ID: e.ID, Started: e.Sent.UTC(), Time: Millis(e.Took), Timings: Timings{Wait: Millis(e.Took)},
		Source: e.Source, Place: e.Request.Place, Key: e.Request.Key.Name,
		Request: requestOf(e.Wire, e.Request), Response: responseOf(e, body)}
	note := Note{Kind: client.Kind(e.Err), Truncated: e.Truncated, Reused: e.Reused, AfterBody: e.AfterBody, Stale: e.StaleConnection,
		Malformed: e.Malformed, Throttled: e.Throttled, Unsent: e.Sent.IsZero(),
		WaitedOut: e.Status == http.StatusTooManyRequests && !e.Request.NoRetry && e.Err == nil}
	if e.Err != nil {
		note.Error = e.Err.Error()
	}
	if note != (Note{}) {
		entry.Note = &note
	}
	return entry
}

func requestOf(wire *http.Request, req client.Request) Request {
	body := req.Body
	r := Request{Cookies: []Pair{}, Headers: []Pair{}, Query: []Pair{}, HTTPVersion: "HTTP/1.1", HeadersSize: -1, BodySize: len(body)}
	if wire == nil {
		return r
	}
	r.Method, r.URL, r.Headers, r.Query = wire.Method, wire.URL.String(), Pairs(wire.Header), queryOf(wire.URL)
	if len(body) > 0 {
		r.PostData = &PostData{MimeType: wire.Header.Get("Content-Type"), Text: redact.Process.Text(string(body))}
	}
	for i, h := range r.Headers {
		if h.Value == "Bearer "+req.Key.Token { // no other secret is as frequent
			r.Headers[i].Value = "Bearer $" + req.Key.Env()
		}
	}
	redactAll(append(texts(r.Headers, r.Query), &r.URL))
	return r
}

func responseOf(e client.Exchange, body []byte) Response {
	r := Response{Status: e.Status, StatusText: http.StatusText(e.Status), HTTPVersion: e.Proto, Cookies: []Pair{}, Headers: Pairs(e.Header),
		HeadersSize: -1, BodySize: -1, RedirectURL: e.Header.Get("Location")}
	redactAll(append(texts(r.Headers), &r.RedirectURL))
	r.Content = ContentOf(body, MimeType(e.Header))
	r.Content.Size = len(e.Body)
	return r
}

// texts returns the names and values of all pairs.
func texts(lists ...[]Pair) (all []*string) {
	for _, pairs := range lists {
		for i := range pairs {
			all = append(all, &pairs[i].Name, &pairs[i].Value)
		}
	}
	return all
}

// redactAll redacts the texts: most have no secret, which one look at all of them shows.
func redactAll(texts []*string) {
	const between = "\n"
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(*text)
		all.WriteString(between)
	}
	if joined := all.String(); redact.Process.Text(joined) == joined {
		return
	}
	for _, text := range texts {
		*text = redact.Process.Text(*text)
	}
}
