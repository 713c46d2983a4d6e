package inspect

import (
	"net/http"
	"net/url"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// Answer is one answer that came under load, and what was asked for it.
type Answer struct {
	Asked  judge.Asked
	Method string
	Path   string // from the server's root, with the query: /api/v2/campaigns?limit=10
	Sent   []byte // body of the request; nil for none
	Key    client.Key

	Status int
	Header http.Header
	Body   *Buffer // given to whoever takes the answer; nil is an empty body
	Cut    bool    // there is more of the answer than Body holds, or it broke off
	Long   bool    // it is cut since its body is larger than is read
}

// Func takes an answer over, Body included, and returns at once: whoever calls
// it is measuring. It is called from many goroutines.
type Func func(Answer)

// judged is what the rules are asked. A 429 is always legal, however right the
// request: that it is refused is no violation, but what the refusal looks like
// is judged. So it is with an account that is not there to be moved: another run,
// or one that was killed, may have moved it.
func (a Answer) judged() judge.Asked {
	asked := a.Asked
	gone := a.Status == http.StatusNotFound && asked.Operation.ID == spec.MoveAccounts
	if a.Status == http.StatusTooManyRequests || gone {
		asked.Valid = false
	}
	return asked
}

// compressed reports whether the body is in a form that the rules do not read:
// generators ask for bodies that are not compressed.
func (a Answer) compressed() bool {
	encoding := a.Header.Get("Content-Encoding")
	return encoding != "" && !strings.EqualFold(encoding, "identity")
}

// exchange is the answer as the rules and the curl line know it.
func (a Answer) exchange() client.Exchange {
	path, query, _ := strings.Cut(a.Path, "?")
	values, _ := url.ParseQuery(query) // what cannot be parsed is not in the curl line
	return client.Exchange{
		Request: client.Request{Operation: a.Asked.Operation.ID, Method: a.Method, Path: path, Query: values, Body: a.Sent, Key: a.Key},
		Status:  a.Status,
		Header:  a.Header,
		Body:    a.Body.Bytes(),
	}
}
