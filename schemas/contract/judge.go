package contract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"outreach.example/conformance/schemas/internal/format"
)

// The rules, each with the sentence of the specification that a request breaks.
const (
	UnknownPath    = "unknown-path"    // Endpoints: no operation has the path
	UnknownMethod  = "unknown-method"  // Endpoints: the path has other methods
	Authorization  = "authorization"   // Authentication 1: Authorization: Bearer <API_KEY>
	PathID         = "path-id"         // Endpoints: Path: id uuid
	QuerySyntax    = "query-syntax"    // the query string cannot be parsed
	UnknownQuery   = "unknown-query"   // Endpoints: the operation has no such parameter
	RepeatedQuery  = "repeated-query"  // Endpoints: the parameter has one value
	QueryValue     = "query-value"     // Endpoints, Pagination, Limits: the form of the value
	UnexpectedBody = "unexpected-body" // Endpoints: the operation has no body
	ContentType    = "content-type"    // What the service does: application/json for request bodies
	BodySyntax     = "body-syntax"     // the same: the body is not a JSON object
	UnknownMember  = "unknown-member"  // Endpoints: the body has no such member
	ReadOnlyMember = "read-only"       // Resources: the member is read-only
	MissingMember  = "missing-member"  // Endpoints: the member is required
	MemberValue    = "member-value"    // Resources, Limits: the form of the value
)

// Cursor is the parameter that takes the cursor of a page.
const Cursor = "starting_after"

// Violation is one thing in a request that the document does not allow.
type Violation struct {
	Rule    string
	Place   string // query/NAME, path/id, header, body or a JSON pointer below body, with * for numbers
	Message string
}

// Judgement is what the document says about a request.
type Judgement struct {
	Operation  string // its id; empty if the document has none
	Pages      bool   // starting_after takes what a page returned, and nothing else
	Violations []Violation
}

// Judge compares a request with the document.
func (d *Document) Judge(r *http.Request, body []byte) Judgement {
	input, err := d.input(r, body)
	if err != nil {
		return Judgement{Violations: []Violation{d.unrouted(r)}}
	}
	operation := input.Route.Operation
	found := append(checkQuery(operation.Parameters, r.URL.RawQuery), violations(openapi3filter.ValidateRequest(r.Context(), input))...)
	if len(body) > MaxBody {
		found = append(found, Violation{BodySyntax, "body", fmt.Sprintf("the body is larger than %d bytes", MaxBody)})
	}
	cursor := operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, Cursor)
	return Judgement{operation.OperationID, cursor != nil && cursor.Schema.Value.Pattern == "", found}
}

// unrouted explains why no operation takes the request.
func (d *Document) unrouted(r *http.Request) Violation {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if d.Operation(&http.Request{Method: method, URL: r.URL}) != "" {
			methods = append(methods, method)
		}
	}
	if methods == nil {
		return Violation{UnknownPath, "", fmt.Sprintf("no operation has the path %.100q", r.URL.Path)}
	}
	return Violation{UnknownMethod, "", fmt.Sprintf("this path has %s, not %q", strings.Join(methods, " or "), r.Method)}
}

// checkQuery returns what openapi3filter ignores: unknown and repeated parameters, and booleans
// such as 1.
func checkQuery(known openapi3.Parameters, raw string) (found []Violation) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		found = append(found, Violation{QuerySyntax, "query", fmt.Sprintf("the query string cannot be parsed: %v", err)})
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		rule, message := "", ""
		switch p := known.GetByInAndName(openapi3.ParameterInQuery, name); {
		case p == nil:
			rule, message = UnknownQuery, fmt.Sprintf("unknown query parameter %.100q: the operation has %s", name, names(known))
		case len(values[name]) > 1:
			rule, message = RepeatedQuery, fmt.Sprintf("query parameter %q must have one value, not %d", name, len(values[name]))
		case p.Schema.Value.Type.Is(openapi3.TypeBoolean) && values.Get(name) != "true" && values.Get(name) != "false":
			rule, message = QueryValue, fmt.Sprintf("query parameter %q must be true or false, not %.100q", name, values.Get(name))
		default:
			continue
		}
		found = append(found, Violation{rule, "query/" + name, message})
	}
	return found
}

func names(parameters openapi3.Parameters) string {
	var names []string
	for _, p := range parameters {
		names = append(names, p.Value.Name)
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(names, ", "), "none")
}

// violations returns what the errors of openapi3filter say, in the form of this package.
func violations(err error) (found []Violation) {
	switch e := err.(type) {
	case openapi3.MultiError:
		for _, one := range e {
			found = append(found, violations(one)...)
		}
	case *openapi3filter.SecurityRequirementsError:
		found = []Violation{{Authorization, "header", e.Errors[0].Error()}}
	case *openapi3.SchemaError:
		found = []Violation{member(e)}
	case *openapi3filter.RequestError:
		p, rule, place, message := e.Parameter, BodySyntax, "body", e.Error()
		switch {
		case p != nil:
			if rule, place = QueryValue, p.In+"/"+p.Name; p.In == openapi3.ParameterInPath {
				rule = PathID
			}
			message = fmt.Sprintf("%s parameter %q: %v", p.In, p.Name, first(e.Err))
		case e.RequestBody == nil:
			rule, message = UnexpectedBody, "the operation has no body"
		case e.Err == nil:
			rule, place, message = ContentType, "header", message+" (want "+media+")"
		default:
			if found = violations(e.Err); found != nil {
				return found
			}
		}
		found = []Violation{{rule, place, message}}
	}
	return found
}

// first returns the first of the errors of a value.
func first(err error) error {
	if many, ok := err.(openapi3.MultiError); ok {
		return many[0]
	}
	return err
}

var escape, index = strings.NewReplacer("~", "~0", "/", "~1"), regexp.MustCompile(`/[0-9]+`)

// pointer returns the JSON pointer of a value (RFC 6901).
func pointer(e *openapi3.SchemaError) (at string) {
	for _, name := range e.JSONPointer() {
		at += "/" + escape.Replace(name)
	}
	return at
}

func member(e *openapi3.SchemaError) Violation {
	at, rule, message := pointer(e), MemberValue, e.Error()
	switch {
	case at == "":
		rule, message = BodySyntax, "the body: "+message
	case e.Schema.ReadOnly:
		rule, message = ReadOnlyMember, at+" in the body is read-only"
	case e.Schema.Always != nil:
		rule, message = UnknownMember, at+" in the body is unknown: "+e.Schema.Description
	case e.SchemaField == "required":
		rule, message = MissingMember, at+" in the body is missing"
	}
	return Violation{rule, "body" + index.ReplaceAllString(at, "/*"), message}
}

// describe returns the message of a SchemaError, with the words of the document in place of
// formats, patterns and long lists.
func describe(e *openapi3.SchemaError) string {
	reason := e.Reason
	if e.SchemaField != "type" && e.SchemaField != "nullable" {
		words, _ := e.Schema.Extensions["x-words"].(string)
		strict, _ := e.Schema.Extensions["x-format"].(string)
		f, _ := format.Lookup(cmp.Or(strict, e.Schema.Format))
		if words = cmp.Or(words, f.Words); words != "" {
			reason = "value must be " + words
		}
	}
	value, _ := json.Marshal(e.Value) // it was decoded from JSON
	return strings.TrimPrefix(fmt.Sprintf("%s: %s (got %.100s)", pointer(e), reason, value), ": ")
}
