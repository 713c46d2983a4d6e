package inspect

import (
	"net/http"
	"net/url"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// Answer is one response to a load request, with the request.
type Answer struct {
	Asked  judge.Request
	Method string
	Path   string // from the server's root, with the query: /api/v2/campaigns?limit=10
	Sent   []byte // body of the request; nil for none
	Key    client.Key

	Status int
	Header http.Header
	Body   *Buffer // belongs to the receiver of the Answer; nil is an empty body
	Cut    bool    // Body is incomplete
	Long   bool    // Body is incomplete because it is larger than the bound
}

// Func receives an answer and its Body. It returns at once, because its caller
// measures. It is called from many goroutines.
type Func func(Answer)

// judged returns the question for the rules. A 404 of an account move is legal: another
// run, or a killed one, may have moved the account. Only its shape is judged.
func (a Answer) judged() judge.Request {
	asked := a.Asked
	if a.Status == http.StatusNotFound && asked.Operation.ID == spec.MoveAccounts {
		asked.Allowed = client.Allowed{}
	}
	return asked
}

// exchange returns the answer in the form of the rules and the curl command.
func (a Answer) exchange() client.Exchange {
	path, query, _ := strings.Cut(a.Path, "?")
	values, _ := url.ParseQuery(query) // the curl command lacks what cannot be parsed
	return client.Exchange{
		Request: client.Request{Operation: a.Asked.Operation.ID, Method: a.Method, Path: path, Query: values, Body: a.Sent, Key: a.Key},
		Status:  a.Status,
		Header:  a.Header,
		Body:    a.Body.Bytes(),
	}
}
