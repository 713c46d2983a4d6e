package refserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// send answers with status 200 and a document.
func (c *call) send(doc []byte) error {
	writeJSON(c.w, http.StatusOK, doc)
	return nil
}

// writeJSON answers with a JSON document. A client that is gone is no fault of
// the request, so an error of writing is not reported.
func writeJSON(w http.ResponseWriter, status int, doc []byte) {
	header := w.Header()
	header["Content-Type"] = jsonContent
	header["Content-Length"] = []string{strconv.Itoa(len(doc))}
	w.WriteHeader(status)
	_, _ = w.Write(doc)
}

var jsonContent = []string{"application/json; charset=utf-8"}

// writeError answers with the refusal, or with 500 when err is none.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	refusal := errInternal
	if !errors.As(err, &refusal) {
		s.options.Logger.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if refusal.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, refusal.status, refusal.body())
}

// render writes a value as JSON, leaving <, > and & readable.
func render(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// parse reads a document that render wrote. Numbers of free objects keep their digits.
func parse[T any](doc []byte) (T, error) {
	var v T
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err
}
