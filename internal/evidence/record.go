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
	ids     int
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
	var encoded bytes.Buffer
	r.mu.Lock()
	r.ids++
	entry.ID = r.ids
	if key := e.Request.Key; key.Name != "" {
		r.keys[key.Name] = r.shape(key.Token)
	}
	r.mu.Unlock()
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(entry) // it holds strings and numbers
	r.mu.Lock()
	defer r.mu.Unlock()
	r.archive.Add(bytes.TrimRight(encoded.Bytes(), "\n"))
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
	entry := har.Entry{Started: e.Sent.UTC(), Time: har.Millis(e.Took), Timings: har.Timings{Wait: har.Millis(e.Took)},
		Source: e.Source, Place: e.Request.Place, Key: e.Request.Key.Name,
		Request: requestOf(e.Wire, e.Request.Body), Response: responseOf(e)}
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

func requestOf(wire *http.Request, body []byte) har.Request {
	r := har.Request{Cookies: []har.Pair{}, Headers: []har.Pair{}, Query: []har.Pair{}, HTTPVersion: "HTTP/1.1", HeadersSize: -1, BodySize: len(body)}
	if wire == nil {
		return r
	}
	r.Method, r.URL = wire.Method, redact.Process.Text(wire.URL.String())
	r.Headers, r.Query = redacted(har.Pairs(wire.Header)), redacted(har.QueryOf(wire.URL))
	if len(body) > 0 {
		r.PostData = &har.PostData{MimeType: wire.Header.Get("Content-Type"), Text: redact.Process.Text(string(body))}
	}
	return r
}

func responseOf(e client.Exchange) har.Response {
	r := har.Response{Status: e.Status, StatusText: http.StatusText(e.Status), HTTPVersion: e.Proto, Cookies: []har.Pair{}, Headers: redacted(har.Pairs(e.Header)),
		HeadersSize: -1, BodySize: -1, RedirectURL: redact.Process.Text(e.Header.Get("Location"))}
	r.Content = har.ContentOf(redact.Process.Content(e.Body), har.MimeType(e.Header))
	r.Content.Size = len(e.Body)
	return r
}

func redacted(pairs []har.Pair) []har.Pair {
	for i, p := range pairs {
		pairs[i] = har.Pair{Name: redact.Process.Text(p.Name), Value: redact.Process.Text(p.Value)}
	}
	return pairs
}
