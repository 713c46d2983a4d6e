// Package standin is a stateless server for when there is none: it answers each
// operation with the example of the OpenAPI document, whoever asks and whatever
// for, as a mock server does.
//
// It imports the shapes and the catalogue, and nothing that sends or judges.
package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/goccy/go-yaml"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// New returns the server. Its error is a mistake in the document: an operation
// without an example.
func New() (http.Handler, error) {
	var d document
	if err := yaml.Unmarshal(schemas.OpenAPI(), &d.root); err != nil {
		return nil, fmt.Errorf("standin: %w", err)
	}
	mux := http.NewServeMux()
	for _, op := range spec.Operations() {
		schema := d.at("paths", op.Path, strings.ToLower(op.Method), "responses", "200", "content", "application/json", "schema")
		example, ok := d.example(schema)
		if !ok {
			return nil, fmt.Errorf("standin: the document has no example for the answer of %s", op.ID)
		}
		body, err := json.Marshal(example)
		if err != nil {
			return nil, fmt.Errorf("standin: the example of %s: %w", op.ID, err)
		}
		mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = w.Write(body) // a client that has gone needs no answer
		})
	}
	return mux, nil
}

// Transport returns the server without a network.
func Transport() (http.RoundTripper, error) {
	server, err := New()
	return transport{server}, err
}

type transport struct{ server http.Handler }

// RoundTrip answers at once. It keeps the rules of an http.RoundTripper: the
// request's body is closed, and an ended context is an error.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	t.server.ServeHTTP(w, r)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// recorder is an http.ResponseWriter that keeps what is written.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }

// document is the OpenAPI document as plain maps.
type document struct{ root map[string]any }

// at returns what stands at the end of the path; nil if nothing does.
func (d document) at(path ...string) map[string]any {
	here := d.root
	for _, step := range path {
		here, _ = here[step].(map[string]any)
	}
	return here
}

// example returns the example of a schema: its own, or one put together from
// those of its parts. A part without one is left out.
func (d document) example(schema map[string]any) (any, bool) {
	if ref, ok := schema["$ref"].(string); ok {
		return d.example(d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
	}
	if example, ok := schema["example"]; ok {
		return example, true
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0], true
	}
	if items, ok := schema["items"].(map[string]any); ok {
		item, ok := d.example(items)
		return []any{item}, ok
	}
	properties, _ := schema["properties"].(map[string]any)
	object := map[string]any{}
	for name, property := range properties {
		part, _ := property.(map[string]any)
		if example, ok := d.example(part); ok {
			object[name] = example
		}
	}
	return object, len(object) > 0
}
