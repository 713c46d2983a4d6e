package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// exchange is one request with its response, both read to the end.
type exchange struct {
	Request     *http.Request // the body is in RequestBody
	RequestBody []byte

	Status int
	Header http.Header
	Body   []byte
}

func (x exchange) String() string {
	return fmt.Sprintf("%s %s (%d)", x.Request.Method, x.Request.URL.RequestURI(), x.Status)
}

// document judges exchanges with kin-openapi. A run judges responses with gojsonschema: here a
// second library reads the same document.
type document struct {
	*contract.Document
	router routers.Router
	failed *openapi3.Schema // the body of an error response
}

var loaded = sync.OnceValues(func() (*document, error) {
	requests, err := contract.Load()
	if err != nil {
		return nil, err
	}
	doc, err := schemas.Document()
	if err != nil {
		return nil, err
	}
	doc.Servers = nil // any host
	router, err := legacy.NewRouter(doc)
	return &document{requests, router, doc.Components.Schemas["Error"].Value}, err
})

// checkRequest returns what is wrong with a request.
func (d *document) checkRequest(x exchange) error {
	var wrong []error
	for _, v := range d.Judge(x.Request, x.RequestBody).Violations {
		wrong = append(wrong, errors.New(v.Message))
	}
	return errors.Join(wrong...)
}

// checkResponse returns what is wrong with a response. The document leaves the body of
// other client errors than the documented ones open. The reference server promises
// more: every status of 400 or more has the documented body.
func (d *document) checkResponse(ctx context.Context, x exchange) error {
	route, _, err := d.router.FindRoute(x.Request)
	if err != nil {
		return fmt.Errorf("no operation: %w", err)
	}
	if x.Status >= http.StatusBadRequest && route.Operation.Responses.Value(strconv.Itoa(x.Status)) == nil {
		body, err := schemas.Decode(x.Body)
		if err != nil {
			return fmt.Errorf("the body of an error: %w", err)
		}
		return d.failed.VisitJSON(body, openapi3.EnableFormatValidation())
	}
	options := &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true,
		SchemaValidationOptions: []openapi3.SchemaValidationOption{openapi3.EnableFormatValidation()}}
	response := &openapi3filter.ResponseValidationInput{Status: x.Status, Header: x.Header, Options: options,
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: x.Request, Route: route}}
	response.SetBodyBytes(x.Body)
	return openapi3filter.ValidateResponse(ctx, response)
}

// recorder checks every exchange of a server against the document.
//
// Every response must be valid, and so must every request that gets 200. A run
// that conforms sends no other request as a valid one: STATUS-200 fails if a
// valid request gets another status.
type recorder struct {
	Document   *document
	Exceptions []exception

	mu       sync.Mutex
	problems []string
	statuses map[string]map[int]int
	used     map[string]int
}

// exception is a kind of invalid request that the server accepts. The
// specification leaves open what a server does with it.
type exception struct {
	OpenPoint string // the open point in the catalogue
	// Repair returns the exchange without the invalid part of the request. The
	// rest must be valid.
	Repair func(exchange) exchange
}

// Middleware records the exchanges of a server.
func (r *recorder) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		x := exchange{Request: request}
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

func (r *recorder) check(x exchange) {
	operation := r.Document.Operation(x.Request)
	r.count(operation, x.Status)
	if operation == "" {
		if x.Status == http.StatusOK {
			r.problem(x, "request", fmt.Errorf("a path or method outside the document gets 200"))
		}
		return
	}
	if err := r.Document.checkResponse(x.Request.Context(), x); err != nil {
		r.problem(x, "response", err)
	}
	if x.Status != http.StatusOK {
		return
	}
	if err := r.Document.checkRequest(x); err != nil && !r.excepted(x) {
		r.problem(x, "request", err)
	}
}

// excepted reports whether a repair makes the request valid.
func (r *recorder) excepted(x exchange) bool {
	for _, e := range r.Exceptions {
		if r.Document.checkRequest(e.Repair(x)) != nil {
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

func (r *recorder) count(operation string, status int) {
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

func (r *recorder) problem(x exchange, part string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, fmt.Sprintf("%s: %s: %v", x, part, err))
}

// Problems returns what was wrong with the exchanges.
func (r *recorder) Problems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.problems)
}

// Answered returns how many requests of the operation got the status. The empty
// operation counts requests outside the document.
func (r *recorder) Answered(operation string, status int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.statuses[operation][status]
}

// Excepted returns how many requests needed the exception.
func (r *recorder) Excepted(e exception) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used[e.OpenPoint]
}

func documentOf(t *testing.T) *document {
	t.Helper()
	d, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func request(target string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Authorization", "Bearer x")
	return r
}

// leadList returns the document's example of a lead list with some fields replaced. A nil
// value removes the field.
func leadList(t *testing.T, changes map[string]any) []byte {
	t.Helper()
	doc, err := schemas.Document()
	if err != nil {
		t.Fatal(err)
	}
	row := doc.Components.Schemas["LeadList"].Value.Example.(map[string]any)
	for name, value := range changes {
		if row[name] = value; value == nil {
			delete(row, name)
		}
	}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRecordedResponses(t *testing.T) {
	d := documentOf(t)
	row := func(changes map[string]any) string {
		return `{"items": [` + string(leadList(t, changes)) + `], "next_starting_after": null}`
	}
	const failed = `{"statusCode": 404, "error": "Not Found", "message": "m"}`
	cases := []struct {
		name   string
		status int
		media  string
		body   string
		want   string // in the error; empty for a valid response
	}{
		{"a page", 200, "application/json; charset=utf-8", row(nil), ""},
		{"an undocumented field", 200, "application/json", row(map[string]any{"x": 1}), ""},
		{"a documented error", 404, "application/json", failed, ""},
		{"an undocumented status with the documented body", 400, "application/json", failed, ""},

		{"another media type", 200, "text/html", row(nil), "text/html"},
		{"no JSON", 200, "application/json", "{", "decode"},
		{"no items", 200, "application/json", "{}", "items"},
		{"a missing field", 200, "application/json", row(map[string]any{"name": nil}), "name"},
		{"a field of another type", 200, "application/json", row(map[string]any{"name": 1}), "name"},
		{"an id that is no UUID", 200, "application/json", row(map[string]any{"id": "1"}), "/id"},
		{"a UUID of version 4", 200, "application/json", row(map[string]any{"id": "0198c0de-0000-4000-8000-00000000000a"}), "/id"},
		{"a timestamp of 30 February", 200, "application/json", row(map[string]any{"timestamp_created": "2026-02-30T00:00:00.000Z"}), "timestamp_created"},
		{"a documented error without its message", 404, "application/json", `{"statusCode": 404, "error": "Not Found"}`, "message"},
		{"an undocumented status with another body", 400, "application/json", `{}`, "statusCode"},
		{"an undocumented status without JSON", 500, "text/plain", "oops", "the body of an error"},
		{"an undocumented success", 204, "application/json", "", "status is not supported"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			x := exchange{request("/api/v2/lead-lists"), nil, c.status, http.Header{"Content-Type": {c.media}}, []byte(c.body)}
			if err := d.checkResponse(t.Context(), x); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// A recorder reports a damaged request and a damaged response, and nothing else.
func TestRecorder(t *testing.T) {
	unknown := exception{OpenPoint: spec.OpenPointUnknownQuery, Repair: func(x exchange) exchange {
		x.Request = x.Request.Clone(t.Context())
		query := x.Request.URL.Query()
		query.Del("allowed")
		x.Request.URL.RawQuery = query.Encode()
		return x
	}}
	const good, bad = `{"items": []}`, `{"items": 7}`
	cases := []struct {
		name, target, body string
		status             int
		want               string // in the one problem; empty for none
		excepted           int
	}{
		{"valid", "/api/v2/lead-lists?limit=1", good, 200, "", 0},
		{"a damaged request", "/api/v2/lead-lists?limt=1", good, 200, "request: unknown query parameter", 0},
		{"a damaged response", "/api/v2/lead-lists?limit=1", bad, 200, "response: ", 0},
		{"an invalid request that is refused", "/api/v2/lead-lists?limt=1", `{"statusCode": 400, "error": "Bad Request", "message": "m"}`, 400, "", 0},
		{"an exception", "/api/v2/lead-lists?allowed=1", good, 200, "", 1},
		{"an exception that is invalid besides", "/api/v2/lead-lists?allowed=1&limit=0", good, 200, "request: ", 0},
		{"a path outside the document", "/api/v2/nothing", good, 200, "outside the document", 0},
		{"a path outside the document that is refused", "/api/v2/nothing", "", 404, "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			recorder := &recorder{Document: documentOf(t), Exceptions: []exception{unknown}}
			server := recorder.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			w := httptest.NewRecorder()
			r := request(c.target)
			server.ServeHTTP(w, r)
			if w.Code != c.status || w.Body.String() != c.body || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("the client got %d %v %s", w.Code, w.Header(), w.Body)
			}
			problems := recorder.Problems()
			if len(problems) > 1 || (len(problems) == 1) != (c.want != "") || c.want != "" && !strings.Contains(problems[0], c.want) {
				t.Errorf("problems %q, want %q", problems, c.want)
			}
			if got := recorder.Excepted(unknown); got != c.excepted {
				t.Errorf("%d exceptions, want %d", got, c.excepted)
			}
			if got := recorder.Answered(recorder.Document.Operation(r), c.status); got != 1 {
				t.Errorf("%d exchanges with status %d", got, c.status)
			}
		})
	}
}
