package suites

import (
	"encoding/json"
	"fmt"
	"net/url"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
)

// call is a request in the making. Its methods return changed copies.
type call struct {
	op            spec.Operation
	id            string
	query         url.Values
	body          any    // marshalled, unless raw is set
	raw           []byte // sent as it is, in the place of body
	key           client.Key
	authorization *string
	owner         string // id of the key's workspace, if known
	noRetry       bool
	openRefusal   bool // the body of a refusal is not shown
}

func (k call) withID(id string) call   { k.id = id; return k }
func (k call) withRaw(raw string) call { k.raw = []byte(raw); return k }
func (k call) withBody(body any) call  { k.body, k.raw = body, nil; return k }
func (k call) noWait() call            { k.noRetry = true; return k }

// open marks a request that is invalid, lacks permission or names another
// workspace's things: neither status nor body of its refusal is shown.
func (k call) open() call { k.openRefusal = true; return k }

// withKey sends the request with another key, of which the workspace is not known.
func (k call) withKey(key client.Key) call {
	k.key, k.authorization, k.owner = key, nil, ""
	return k
}

// withAuthorization sends the header as it is given, whatever the key.
func (k call) withAuthorization(header string) call {
	k.authorization, k.owner = &header, ""
	return k
}

// without sends no Authorization header.
func (k call) withoutAuthorization() call { return k.withKey(client.Key{}) }

// with sets a query parameter.
func (k call) with(name, value string) call {
	query := url.Values{}
	for n, v := range k.query {
		query[n] = v
	}
	query.Set(name, value)
	k.query = query
	return k
}

// withField sets a member of a body that is an object.
func (k call) withField(name string, value any) call {
	body := k.object()
	body[name] = value
	return k.withBody(body)
}

// withoutField drops a member of a body that is an object.
func (k call) withoutField(name string) call {
	body := k.object()
	delete(body, name)
	return k.withBody(body)
}

// object returns a copy of the body's members.
func (k call) object() map[string]any {
	body := map[string]any{}
	if members, ok := k.body.(map[string]any); ok {
		for n, v := range members {
			body[n] = v
		}
	}
	return body
}

func (k call) request() client.Request {
	return client.Request{
		Operation: k.op.ID, Method: k.op.Method,
		Path:  k.op.URLPath(k.id),
		Query: k.query, Body: k.bytes(),
		Key: k.key, Authorization: k.authorization, NoRetry: k.noRetry,
	}
}

// bytes is the body as it is sent; nil if there is none.
func (k call) bytes() []byte {
	if k.raw != nil || k.body == nil {
		return k.raw
	}
	encoded, err := json.Marshal(k.body)
	if err != nil {
		panic(fmt.Sprintf("suites: a request body of %s cannot be written as JSON: %v", k.op.ID, err))
	}
	return encoded
}

// answer is what came of a call.
type answer struct {
	client.Exchange
	judge.Sighting
	call call
}

// ok reports whether the answer is a 200 with a body of the documented outer
// form: a page with its items, an array, or a resource. Only such a body shows
// anything of rows: that they are none, too.
func (a answer) ok() bool {
	if a.Status != 200 {
		return false
	}
	switch a.call.op.Answer {
	case spec.Page:
		page, _ := a.Body().(map[string]any)
		_, listed := page["items"].([]any)
		return listed
	case spec.Array:
		_, listed := a.Body().([]any)
		return listed
	default:
		return a.resource()
	}
}

// resource reports whether the answer of an operation that answers with one
// thing shows it: by its id or, where the operation shows no more, its success.
func (a answer) resource() bool {
	if a.call.op.ID == spec.MoveAccounts {
		return a.text("status") == "success"
	}
	return a.text("id") != ""
}

// lacks says what the answer would have to be to be ok.
func (a answer) lacks() string {
	if a.Status != 200 {
		return fmt.Sprintf("a 200 instead of a %d", a.Status)
	}
	if a.call.op.ID == spec.MoveAccounts {
		return `a status of "success"`
	}
	return map[spec.Answer]string{spec.Page: "a page with items", spec.Array: "an array", spec.One: "an object with an id"}[a.call.op.Answer]
}

// row returns the resource in the answer of an operation that answers with one; nil if there is none.
func (a answer) row() map[string]any {
	if a.call.op.Answer != spec.One || len(a.Rows) == 0 {
		return nil
	}
	return a.Rows[0]
}

// text returns a string member of the answered resource; "" if it has none.
func (a answer) text(field string) string {
	value, _ := a.row()[field].(string)
	return value
}

// cursor returns next_starting_after; "" where there is none.
func (a answer) cursor() string {
	page, _ := a.Body().(map[string]any)
	cursor, _ := page["next_starting_after"].(string)
	return cursor
}

// Body returns the decoded body.
func (a answer) Body() any { return a.Sighting.Body }
