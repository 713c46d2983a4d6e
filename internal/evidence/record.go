// Package evidence records the exchanges of a run as an HTTP archive without secrets, and
// answers the requests of the same run from the archive.
//
// It imports the client and the archive format, and judges nothing.
package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/har"
	"outreach.example/conformance/internal/redact"
)

// Members of the log beside the entries.
const (
	aboutRun  = "_run"       // what a replay must know
	decisions = "_decisions" // what the sources decided
)

// Run is what a replay of the recorded run must know. Settings are up to the caller.
type Run struct {
	Keys     map[string]string `json:"keys"` // shape of the token, by name of the key
	Settings json.RawMessage   `json:"settings"`
}

// Recorder writes each exchange of a client to an archive, compressed. It is safe for
// concurrent use.
type Recorder struct {
	mu      sync.Mutex
	zip     *gzip.Writer
	archive *har.Writer
	decided map[string]map[string][]int // by source and what is decided
	shape   func(token string) string
	keys    map[string]string // shape of the token, by name of the key
}

// Scheduler is for client.WithSchedulers: a source lives by the clock of the machine, and its decisions
// are recorded.
func (r *Recorder) Scheduler(source string) client.Scheduler { return &recorded{by: r, source: source} }

type recorded struct {
	client.RealTime
	by     *Recorder
	source string
}

func (l *recorded) Decide(about string, choice int) int {
	l.by.mu.Lock()
	defer l.by.mu.Unlock()
	if l.by.decided[l.source] == nil {
		l.by.decided[l.source] = map[string][]int{}
	}
	l.by.decided[l.source][about] = append(l.by.decided[l.source][about], choice)
	return choice
}

// NewRecorder returns a recorder that writes to the file. Close ends the archive.
func NewRecorder(to io.Writer, program, version string, shape func(token string) string) *Recorder {
	zip, _ := gzip.NewWriterLevel(to, gzip.BestSpeed) // the level is valid
	return &Recorder{zip: zip, archive: har.NewWriter(zip, program, version), decided: map[string]map[string][]int{}, keys: map[string]string{}, shape: shape}
}

// Observe records an exchange. It is for Options.Observe of a client.
func (r *Recorder) Observe(e client.Exchange) {
	entry := entryOf(e)
	r.mu.Lock()
	if key := e.Request.Key; key.Name != "" {
		r.keys[key.Name] = r.shape(key.Token)
	}
	r.mu.Unlock()
	encoded, _ := encode(entry) // it holds strings and numbers
	r.mu.Lock()
	defer r.mu.Unlock()
	r.archive.Add(encoded)
}

// encode returns the JSON form of an entry.
func encode(e har.Entry) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(e)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// Close ends the archive. settings are those of the run, as JSON. It returns the first error of
// writing.
func (r *Recorder) Close(settings any) (failed error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	public := func(value any) json.RawMessage {
		text, err := json.Marshal(value)
		failed = errors.Join(failed, err)
		return redact.Process.Content(text)
	}
	members := map[string]any{aboutRun: public(Run{r.keys, public(settings)}), decisions: public(r.decided)}
	return errors.Join(failed, r.archive.Close(members), r.zip.Close())
}

// entryOf returns the exchange without secrets.
func entryOf(e client.Exchange) har.Entry {
	entry := har.Entry{ID: e.ID, Started: e.Sent.UTC(), Time: har.Millis(e.Took), Timings: har.Timings{Wait: har.Millis(e.Took)},
		Source: e.Source, Place: e.Request.Place, Key: e.Request.Key.Name,
		Request: requestOf(e.Wire, e.Request), Response: responseOf(e)}
	note := har.Note{Kind: client.Kind(e.Err), Truncated: e.Truncated, Reused: e.Reused, AfterBody: e.AfterBody, Stale: e.StaleConnection,
		Malformed: e.Malformed, Throttled: e.Throttled, Unsent: e.Sent.IsZero(),
		WaitedOut: e.Status == http.StatusTooManyRequests && !e.Request.NoRetry && e.Err == nil}
	if e.Err != nil {
		note.Error = e.Err.Error()
	}
	if note != (har.Note{}) {
		entry.Note = &note
	}
	return entry
}

func requestOf(wire *http.Request, req client.Request) har.Request {
	body := req.Body
	r := har.Request{Cookies: []har.Pair{}, Headers: []har.Pair{}, Query: []har.Pair{}, HTTPVersion: "HTTP/1.1", HeadersSize: -1, BodySize: len(body)}
	if wire == nil {
		return r
	}
	r.Method, r.URL, r.Headers, r.Query = wire.Method, wire.URL.String(), har.Pairs(wire.Header), har.QueryOf(wire.URL)
	if len(body) > 0 {
		r.PostData = &har.PostData{MimeType: wire.Header.Get("Content-Type"), Text: redact.Process.Text(string(body))}
	}
	for i, h := range r.Headers {
		if h.Value == "Bearer "+req.Key.Token { // no other secret is as frequent
			r.Headers[i].Value = "Bearer $" + req.Key.Env()
		}
	}
	redactAll(append(texts(r.Headers, r.Query), &r.URL))
	return r
}

func responseOf(e client.Exchange) har.Response {
	r := har.Response{Status: e.Status, StatusText: http.StatusText(e.Status), HTTPVersion: e.Proto, Cookies: []har.Pair{}, Headers: har.Pairs(e.Header),
		HeadersSize: -1, BodySize: -1, RedirectURL: e.Header.Get("Location")}
	redactAll(append(texts(r.Headers), &r.RedirectURL))
	r.Content = har.ContentOf(redact.Process.Content(e.Body), har.MimeType(e.Header))
	r.Content.Size = len(e.Body)
	return r
}

// texts returns the names and values of all pairs.
func texts(lists ...[]har.Pair) (all []*string) {
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
