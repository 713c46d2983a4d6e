// Package contract checks requests and responses against the OpenAPI document
// with kin-openapi. A run checks responses with gojsonschema: here a second
// library reads the same document. Only tests may import the package. It imports
// schemas and spec, and no client, suite or server.
package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Exchange is one request with its response, both read to the end.
type Exchange struct {
	Request     *http.Request // the body is in RequestBody
	RequestBody []byte

	Status int
	Header http.Header
	Body   []byte
}

func (x Exchange) String() string {
	return fmt.Sprintf("%s %s (%d)", x.Request.Method, x.Request.URL.RequestURI(), x.Status)
}

// Document is the OpenAPI document, ready to check exchanges. It is safe for
// concurrent use.
type Document struct {
	router routers.Router
	failed *openapi3.Schema // the body of an error response
	bodies *schemas.Validator
}

// Load returns the document of the package schemas.
func Load() (*Document, error) {
	doc, err := schemas.Document()
	if err != nil {
		return nil, err
	}
	doc.Servers = nil // any host
	router, err := legacy.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	bodies, err := schemas.New()
	if err != nil {
		return nil, err
	}
	return &Document{router: router, failed: doc.Components.Schemas["Error"].Value, bodies: bodies}, nil
}

// Operation returns the id of the operation that a request names. It is empty if
// the document has no such path or method.
func (d *Document) Operation(r *http.Request) string {
	route, _, err := d.router.FindRoute(r)
	if err != nil {
		return ""
	}
	return route.Operation.OperationID
}

// CheckRequest returns what is wrong with a request.
func (d *Document) CheckRequest(ctx context.Context, x Exchange) error {
	input, err := d.input(x)
	if err != nil {
		return err
	}
	parameters := append(slices.Clone(input.Route.PathItem.Parameters), input.Route.Operation.Parameters...)
	return errors.Join(
		openapi3filter.ValidateRequest(ctx, input),
		checkQuery(parameters, x.Request),
		checkFormats(parameters, input.PathParams),
		d.checkBody(input.Route.Operation.OperationID, x.RequestBody),
	)
}

// CheckResponse returns what is wrong with a response. The document leaves the body of
// other client errors than the documented ones open. The reference server promises
// more: every status of 400 or more has the documented body.
func (d *Document) CheckResponse(ctx context.Context, x Exchange) error {
	input, err := d.input(x)
	if err != nil {
		return err
	}
	response := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: x.Status, Header: x.Header, Options: input.Options}
	response.SetBodyBytes(x.Body)
	if x.Status >= http.StatusBadRequest && input.Route.Operation.Responses.Value(strconv.Itoa(x.Status)) == nil {
		return d.checkError(x)
	}
	return openapi3filter.ValidateResponse(ctx, response)
}

func (d *Document) checkError(x Exchange) error {
	body, err := schemas.Decode(x.Body)
	if err != nil {
		return fmt.Errorf("the body of an error: %w", err)
	}
	return d.failed.VisitJSON(body, openapi3.EnableFormatValidation())
}

// checkBody returns unknown fields of a request body, which openapi3filter allows.
func (d *Document) checkBody(operation string, body []byte) error {
	op, ok := spec.FindOperation(operation)
	if !ok {
		return nil // the operation without a documented shape, which takes no body
	}
	var wrong []error
	for _, f := range d.bodies.Request(op, body) {
		if f.Requirement == schemas.RequestUnknown {
			wrong = append(wrong, fmt.Errorf("unknown field %s", f.Pointer))
		}
	}
	return errors.Join(wrong...)
}

// input finds the operation and prepares the request for openapi3filter, which
// reads the body.
func (d *Document) input(x Exchange) (*openapi3filter.RequestValidationInput, error) {
	request, body := x.Request.Clone(context.Background()), x.RequestBody
	if request.Method == http.MethodDelete && string(bytes.TrimSpace(body)) == "null" {
		body = nil // the specification allows null there, and OpenAPI describes no body of DELETE
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	request.ContentLength = int64(len(body))
	route, path, err := d.router.FindRoute(request)
	if err != nil {
		return nil, fmt.Errorf("no operation: %w", err)
	}
	options := &openapi3filter.Options{
		MultiError:                        true,
		IncludeResponseStatus:             true,
		RejectWhenRequestBodyNotSpecified: true,
		SkipSettingDefaults:               true,
		AuthenticationFunc:                bearer,
		SchemaValidationOptions:           []openapi3.SchemaValidationOption{openapi3.EnableFormatValidation()},
	}
	options.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string {
		return fmt.Sprintf("/%s: %s (%.80v)", strings.Join(err.JSONPointer(), "/"), err.Reason, err.Value)
	})
	return &openapi3filter.RequestValidationInput{Request: request, PathParams: path, Route: route, Options: options}, nil
}

// bearer checks that a request carries a key. Whether a key is valid is not for
// the document to say.
func bearer(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	scheme, token, _ := strings.Cut(input.RequestValidationInput.Request.Header.Get("Authorization"), " ")
	if scheme != "Bearer" || token == "" {
		return errors.New("the Authorization header holds no bearer token")
	}
	return nil
}

// checkQuery returns unknown and repeated query parameters, which openapi3filter
// ignores.
func checkQuery(parameters openapi3.Parameters, r *http.Request) error {
	var wrong []error
	for name, values := range r.URL.Query() {
		if parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			wrong = append(wrong, fmt.Errorf("unknown query parameter %q", name))
		} else if len(values) > 1 {
			wrong = append(wrong, fmt.Errorf("query parameter %q: %d values", name, len(values)))
		}
	}
	return errors.Join(wrong...)
}

// checkFormats checks the formats of path parameters, which openapi3filter ignores.
func checkFormats(parameters openapi3.Parameters, path map[string]string) error {
	var wrong []error
	for name, value := range path {
		p := parameters.GetByInAndName(openapi3.ParameterInPath, name)
		if p == nil {
			wrong = append(wrong, fmt.Errorf("unknown path parameter %q", name))
		} else if err := p.Schema.Value.VisitJSON(value, openapi3.EnableFormatValidation()); err != nil {
			wrong = append(wrong, fmt.Errorf("path parameter %q: %w", name, err))
		}
	}
	return errors.Join(wrong...)
}
