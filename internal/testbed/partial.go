package testbed

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// Forms of the response to a request for an operation that is not implemented.
const (
	Unserved404Page         = "404-page"
	Unserved404Path         = "404-path" // a page that names the path
	Unserved404AsDocumented = "404-documented"
	Unserved404Route        = "404-route" // as documented, with a message that names the route
	Unserved405             = "405"
	Unserved501             = "501"
)

// UnservedForms are all forms.
var UnservedForms = []string{Unserved404Page, Unserved404Path, Unserved404AsDocumented, Unserved404Route, Unserved405, Unserved501}

// Partial is a server that implements only some operations of another.
type Partial struct {
	Next   http.Handler
	Serves []string // ids of operations
	// AuthorizationFirst answers 401 to each request without an Authorization header,
	// also for what is not implemented.
	AuthorizationFirst bool
	Form               string
}

func (p Partial) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op, _, known := spec.MatchOperation(r.Method, r.URL.Path)
	switch {
	case known && slices.Contains(p.Serves, op.ID):
		p.Next.ServeHTTP(w, r)
	case p.AuthorizationFirst && r.Header.Get("Authorization") == "":
		documentedError(w, http.StatusUnauthorized, "Invalid API key")
	default:
		p.unserved(w, r)
	}
}

func (p Partial) unserved(w http.ResponseWriter, r *http.Request) {
	switch p.Form {
	case Unserved404Page:
		page(w, http.StatusNotFound, "Not Found")
	case Unserved404Path:
		page(w, http.StatusNotFound, "Cannot "+r.Method+" "+r.URL.Path)
	case Unserved404AsDocumented:
		documentedError(w, http.StatusNotFound, "Resource not found")
	case Unserved404Route:
		documentedError(w, http.StatusNotFound, "Route "+r.Method+":"+strings.TrimPrefix(r.URL.Path, "/api/v2")+" not found")
	case Unserved405:
		page(w, http.StatusMethodNotAllowed, "Method Not Allowed")
	case Unserved501:
		documentedError(w, http.StatusNotImplemented, "Not implemented")
	default:
		panic("testbed: unknown form " + p.Form)
	}
}

// documentedError writes an error as the specification shows it.
func documentedError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"statusCode":%d,"error":%q,"message":%q}`, status, http.StatusText(status), message) // the client may have gone
}

// page writes an error as frameworks show it.
func page(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<h1>%s</h1>", text) // the client may have gone
}
