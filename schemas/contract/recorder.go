package contract

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Recorder checks every exchange of a server against the document.
//
// Every response must be valid, and so must every request that gets 200. A run
// that conforms sends no other request as a valid one: STATUS-200 fails if a
// valid request gets another status.
type Recorder struct {
	Document   *Document
	Exceptions []Exception

	mu       sync.Mutex
	problems []string
	statuses map[string]map[int]int
	used     map[string]int
}

// Exception is a kind of invalid request that the server accepts. The
// specification leaves open what a server does with it.
type Exception struct {
	OpenPoint string // the open point in the catalogue
	// Repair returns the exchange without the invalid part of the request. The
	// rest must be valid.
	Repair func(Exchange) Exchange
}

// Middleware records the exchanges of a server.
func (r *Recorder) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		x := Exchange{Request: request}
		var err error
		if x.RequestBody, err = io.ReadAll(request.Body); err != nil {
			r.problem(x, "request body", err)
		}
		request.Body = io.NopCloser(bytes.NewReader(x.RequestBody))
		captured := httptest.NewRecorder()
		next.ServeHTTP(captured, request)
		x.Status, x.Header, x.Body = captured.Code, captured.Header(), captured.Body.Bytes()
		r.check(x)
		for name, values := range x.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(x.Status)
		_, _ = w.Write(x.Body) // a client that has gone away is no problem of the document
	})
}

func (r *Recorder) check(x Exchange) {
	operation := r.Document.Operation(x.Request)
	r.count(operation, x.Status)
	if operation == "" {
		if x.Status == http.StatusOK {
			r.problem(x, "request", fmt.Errorf("a path or method outside the document gets 200"))
		}
		return
	}
	ctx := x.Request.Context()
	if err := r.Document.CheckResponse(ctx, x); err != nil {
		r.problem(x, "response", err)
	}
	if x.Status != http.StatusOK {
		return
	}
	if err := r.Document.CheckRequest(ctx, x); err != nil && !r.excepted(x) {
		r.problem(x, "request", err)
	}
}

// excepted reports whether a repair makes the request valid.
func (r *Recorder) excepted(x Exchange) bool {
	for _, e := range r.Exceptions {
		if r.Document.CheckRequest(x.Request.Context(), e.Repair(x)) != nil {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.used == nil {
			r.used = map[string]int{}
		}
		r.used[e.OpenPoint]++
		return true
	}
	return false
}

func (r *Recorder) count(operation string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.statuses == nil {
		r.statuses = map[string]map[int]int{}
	}
	if r.statuses[operation] == nil {
		r.statuses[operation] = map[int]int{}
	}
	r.statuses[operation][status]++
}

func (r *Recorder) problem(x Exchange, part string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, fmt.Sprintf("%s: %s: %v", x, part, err))
}

// Problems returns what was wrong with the exchanges.
func (r *Recorder) Problems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.problems)
}

// Answered returns how many requests of the operation got the status. The empty
// operation counts requests outside the document.
func (r *Recorder) Answered(operation string, status int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.statuses[operation][status]
}

// Excepted returns how many requests needed the exception.
func (r *Recorder) Excepted(e Exception) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used[e.OpenPoint]
}

// Statuses returns how many requests got each status.
func (r *Recorder) Statuses() map[int]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[int]int{}
	for _, statuses := range r.statuses {
		for status, n := range statuses {
			all[status] += n
		}
	}
	return all
}
