// Package contract judges and makes requests by the OpenAPI document with kin-openapi.
// `serve --strict-clients` and tests of what the program sends judge. The suites make
// variants: every kind of value that the document allows for a part of a request, and every
// kind that it rules out. A part is a member of a body or a query parameter.
//
// It leaves out what the document cannot know: ids, email addresses and items without a
// shape exist on a target, or do not. The caller knows them.
//
// It imports schemas and its formats, and no client, suite or server.
package contract

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"outreach.example/conformance/schemas"
)

const (
	// MaxBody is the size of the largest body that is judged, in bytes.
	MaxBody = 1 << 20
	// manyErrors is the size from which a body shows its first violation alone. It bounds
	// the memory: each violation takes hundreds of bytes.
	manyErrors = 64 << 10
)

// Document is the OpenAPI document, ready to judge requests. It is safe for
// concurrent use.
type Document struct {
	router  routers.Router
	options openapi3filter.Options
}

// Load returns the document of the package schemas. The first call reads it.
var Load = sync.OnceValues(func() (*Document, error) {
	doc, err := schemas.Document()
	if err != nil {
		return nil, err
	}
	doc.Servers = nil // any host
	router, err := legacy.NewRouter(doc, openapi3.DisableExamplesValidation())
	if err != nil {
		return nil, err
	}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.RequestBody != nil {
				closeBody(operation)
			}
		}
	}
	openapi3filter.RegisterBodyDecoder(media, decode)
	d := &Document{router, openapi3filter.Options{
		RejectWhenRequestBodyNotSpecified: true,
		SkipSettingDefaults:               true,
		AuthenticationFunc:                bearer,
		SchemaValidationOptions:           []openapi3.SchemaValidationOption{openapi3.EnableFormatValidation()},
	}}
	d.options.WithCustomSchemaErrorFunc(describe)
	return d, nil
})

const media = "application/json"

// decode reads bodies more strictly than the decoder of openapi3filter.
func decode(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return schemas.Decode(text)
}

// closeBody makes undocumented members of a request violations, and those that the response
// has as read-only members.
func closeBody(operation *openapi3.Operation) {
	body := operation.RequestBody.Value.Content[media].Schema.Value
	closeObjects(body)
	for name, p := range operation.Responses.Status(http.StatusOK).Value.Content[media].Schema.Value.Properties {
		if p.Value.ReadOnly && body.Properties[name] == nil {
			body.Properties[name] = &openapi3.SchemaRef{Value: &openapi3.Schema{ReadOnly: true}}
		}
	}
}

func closeObjects(s *openapi3.Schema) {
	for _, p := range s.Properties {
		closeObjects(p.Value)
	}
	if len(s.Properties) > 0 {
		never := &openapi3.Schema{Always: new(bool), Description: "the members are " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")}
		s.AdditionalProperties.Schema = &openapi3.SchemaRef{Value: never}
	}
}

// Operation returns the id of the operation that a request names. It is empty if
// the document has no such path or method.
func (d *Document) Operation(r *http.Request) string {
	route, _, err := d.find(r)
	if err != nil {
		return ""
	}
	return route.Operation.OperationID
}

// find returns the route of a request. FindRoute alone ignores a slash at the end.
func (d *Document) find(r *http.Request) (*routers.Route, map[string]string, error) {
	if strings.HasSuffix(r.URL.Path, "/") {
		return nil, nil, routers.ErrPathNotFound
	}
	return d.router.FindRoute(r)
}

// input finds the operation and prepares the request for openapi3filter, which
// reads the body. The error says that there is no operation.
func (d *Document) input(r *http.Request, body []byte) (*openapi3filter.RequestValidationInput, error) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	options := d.options
	options.ExcludeRequestBody = len(body) > MaxBody
	if body = bytes.TrimSpace(body); method == http.MethodDelete && string(body) == "null" {
		body = nil // the specification allows null there, and OpenAPI describes no body of DELETE
	}
	options.MultiError = len(body) < manyErrors
	request := &http.Request{Method: method, URL: r.URL, Header: r.Header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}
	route, path, err := d.find(request)
	return &openapi3filter.RequestValidationInput{Request: request, PathParams: path, Route: route, Options: &options}, err
}

var token = regexp.MustCompile(`(?i)^Bearer +[^ ]+ *$`)

// bearer checks that a request carries a key. Whether a key is valid is not for
// the document to say.
func bearer(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	headers := input.RequestValidationInput.Request.Header.Values("Authorization")
	if len(headers) != 1 || !token.MatchString(headers[0]) {
		return errors.New("there must be one header Authorization: Bearer <API_KEY>")
	}
	return nil
}
