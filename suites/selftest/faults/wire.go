package faults

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// Request is a complete request, matched to its operation.
type Request struct {
	Operation string // operation id; empty if the path matches none of the 18
	ID        string // the path's id, if the operation has one
	Method    string
	Path      string // from the server's root, decoded
	Query     url.Values
	Header    http.Header
	Body      []byte

	ctx context.Context // of the request that is transformed; nil for none
}

// Response is a complete response. Its Content-Length follows from the body.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Handler answers a request. An error means a connection without an answer.
type Handler func(Request) (Response, error)

// Middleware wraps a handler. A Middleware with state keeps it only in the
// handler that it returns.
type Middleware func(Handler) Handler

// Chain combines middlewares, the first outermost.
func Chain(transforms ...Middleware) Middleware {
	return func(h Handler) Handler {
		for i := len(transforms) - 1; i >= 0; i-- {
			h = transforms[i](h)
		}
		return h
	}
}

// clone returns a copy whose query, header and body can be changed.
func (r Request) clone() Request {
	query := url.Values{}
	for name, values := range r.Query {
		query[name] = append([]string(nil), values...)
	}
	r.Query, r.Header, r.Body = query, r.Header.Clone(), bytes.Clone(r.Body)
	return r
}

// token returns the Bearer token of the request; empty if it has none.
func (r Request) token() string {
	if !isBearer(r) {
		return ""
	}
	return strings.TrimSpace(r.Header.Get("Authorization")[len("Bearer"):])
}

// withToken returns the request with another key.
func (r Request) withToken(token string) Request {
	r = r.clone()
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// Serving returns a handler that calls an http.Handler in this process.
func Serving(h http.Handler) Handler {
	return func(r Request) (Response, error) {
		request, err := http.NewRequest(r.Method, (&url.URL{Scheme: "http", Host: "subject.invalid", Path: r.Path, RawQuery: r.Query.Encode()}).String(), bytes.NewReader(r.Body))
		if err != nil {
			return Response{}, err
		}
		request.Header, request.RequestURI, request.RemoteAddr = r.Header.Clone(), request.URL.RequestURI(), "192.0.2.1:1234"
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		return Response{recorder.Code, recorder.Result().Header, recorder.Body.Bytes()}, nil
	}
}

// maxBody limits the body that a fault reads.
const maxBody = 64 << 20

// Forwarding returns a handler that sends requests to a server over a transport.
func Forwarding(base *url.URL, transport http.RoundTripper) Handler {
	return func(r Request) (Response, error) {
		target := *base
		target.Path = strings.TrimRight(base.Path, "/") + r.Path
		target.RawQuery = r.Query.Encode()
		request, err := http.NewRequestWithContext(cmp.Or(r.ctx, context.Background()), r.Method, target.String(), bytes.NewReader(r.Body))
		if err != nil {
			return Response{}, err
		}
		request.Header = r.Header.Clone()
		answer, err := transport.RoundTrip(request)
		if err != nil {
			return Response{}, err
		}
		defer func() { _ = answer.Body.Close() }() // the body was read completely
		body, err := io.ReadAll(io.LimitReader(client.Payload(answer), maxBody))
		return Response{answer.StatusCode, answer.Header, body}, err
	}
}

// RoundTripper returns a handler as the transport of a client. prefix is the
// path of the base address, which the client adds to every path.
func RoundTripper(h Handler, prefix string) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		var body []byte
		if request.Body != nil {
			read, err := io.ReadAll(io.LimitReader(request.Body, maxBody))
			_ = request.Body.Close()
			if err != nil {
				return nil, err
			}
			body = read
		}
		path := strings.TrimPrefix(request.URL.Path, prefix)
		r := Request{Method: request.Method, Path: path, Query: request.URL.Query(), Header: request.Header.Clone(), Body: body, ctx: request.Context()}
		r.Operation, r.ID = operationAt(r.Method, path)
		if err := request.Context().Err(); err != nil {
			return nil, err
		}
		answer, err := h(r)
		if err != nil {
			return nil, err
		}
		header := answer.Header.Clone()
		header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
		return &http.Response{
			Status: http.StatusText(answer.Status), StatusCode: answer.Status,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: header, Body: io.NopCloser(bytes.NewReader(answer.Body)), ContentLength: int64(len(answer.Body)), Request: request,
		}, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// operationAt returns the operation of a request and the id in its path; both
// are empty if the path is not one of the catalogue.
func operationAt(method, path string) (operation, id string) {
	op, id, _ := spec.MatchOperation(method, path)
	return op.ID, id
}

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
