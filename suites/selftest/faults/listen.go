package faults

import (
	"io"
	"net/http"
	"strconv"
)

// Listening serves a handler over HTTP, for effects that need a connection. If
// the handler fails, it closes the connection without an answer.
func Listening(h Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r := Request{Method: request.Method, Path: request.URL.Path, Query: request.URL.Query(), Header: request.Header.Clone(), Body: body}
		r.Operation, r.ID = operationAt(r.Method, r.Path)
		answer, err := h(r)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		header := w.Header()
		for name, values := range answer.Header {
			header[name] = values
		}
		header.Del("Content-Length")
		if header.Get("Transfer-Encoding") == "" {
			header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
		}
		w.WriteHeader(answer.Status)
		_, _ = w.Write(answer.Body) // the client may be gone
	})
}
