package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/lookup"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// Call is a request in the making. Its methods return changed copies.
type Call struct {
	Operation spec.Operation

	ID            string
	Query         url.Values
	Body          any    // marshalled, unless raw is set
	Raw           []byte // sent as it is, instead of body
	backwards     bool   // the members of the body are sent in reverse order
	Key           client.Key
	Authorization *string
	Header        http.Header // besides Authorization
	owner         string      // id of the key's workspace; "" if unknown
	anyOwner      bool        // the rows may belong to another workspace than the profile says
	Fresh         bool        // it has a connection of its own
	NoRetry       bool
	Provoked      bool // a 429 is expected: the key has been driven to its limit
	Allowed       client.Allowed
	Breaks        spec.ID // the requirement that any other response breaks; "" for that of the rules
	breaksOn      string  // the operation on which it breaks that; "" for its own or the spec's
	keysOnly      bool    // the response keeps only the keys of its rows
	Brief         bool    // the response keeps no rows
	probe         bool    // it asks whether the operation is served; other calls judge its status
	from          *Call   // whose page gave the cursor; nil for none
}

// WithID names the resource in the path.
func (k Call) WithID(id string) Call { k.ID = id; return k }

// Raw is a body that is sent as it is.
type Raw string

// WithBody sends the value as JSON, or Raw as it is.
func (k Call) WithBody(body any) Call {
	if raw, ok := body.(Raw); ok {
		k.Raw = []byte(raw)
		return k
	}
	k.Body, k.Raw = body, nil
	return k
}

// Backwards sends the members of the body, and of all objects in it, in reverse
// alphabetical order.
func Backwards(k Call) Call { k.backwards = true; return k }

// WithoutRetry hands over a 429 instead of waiting and trying again.
func WithoutRetry(k Call) Call { k.NoRetry = true; return k }

// KeysOf keeps only the keys of the rows in the response.
func KeysOf(k Call) Call { k.keysOnly = true; return k }

// WithKey sends the request with another key, whose workspace is not known.
func (k Call) WithKey(key client.Key) Call {
	k.Key, k.Authorization, k.owner = key, nil, ""
	return k
}

// WithKeyOf is WithKey for a key of a known workspace.
func WithKeyOf(k Call, key client.Key, workspace string) Call {
	k = k.WithKey(key)
	k.owner = workspace
	return k
}

// WithHeader sets a header. An Authorization is sent as given, whatever the key.
func (k Call) WithHeader(name, value string) Call {
	if name == "Authorization" {
		k.Authorization, k.owner = &value, ""
		return k
	}
	header := k.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set(name, value)
	k.Header = header
	return k
}

// WithQuery sets a query parameter.
func (k Call) WithQuery(name, value string) Call {
	query := maps.Clone(k.Query)
	if query == nil {
		query = url.Values{}
	}
	query.Set(name, value)
	k.Query = query
	return k
}

// Absent is the value of a field that the body does not have.
var Absent absent

type absent struct{}

// WithField sets a member of a body that is an object.
func (k Call) WithField(name string, value any) Call {
	body := k.Members()
	body[name] = value
	if _, without := value.(absent); without {
		delete(body, name)
	}
	return k.WithBody(body)
}

// Members returns a copy of the body's members.
func (k Call) Members() map[string]any {
	body := map[string]any{}
	if members, ok := k.Body.(map[string]any); ok {
		maps.Copy(body, members)
	}
	return body
}

// What the specification allows as the response. A call is valid until it says otherwise:
// only a 200 is right.

// MustGet declares that only the status is right. Any other breaks the requirement.
func (k Call) MustGet(status int, breaks spec.ID) Call {
	k.Allowed, k.Breaks, k.breaksOn = client.Only(status), breaks, ""
	return k
}

// MayGet declares that these statuses are right too.
func (k Call) MayGet(statuses ...int) Call { k.Allowed = k.Allowed.Or(statuses...); return k }

// MustBeRefused declares a request that is invalid, lacks permission or names a row of
// another workspace: the specification shows neither status nor body of its refusal. Any other
// response breaks the requirement.
func (k Call) MustBeRefused(breaks spec.ID) Call {
	k.Allowed, k.Breaks, k.breaksOn = client.AnyRefusal(), breaks, ""
	return k
}

// MayBeRefused declares a request that a server may serve or refuse.
func (k Call) MayBeRefused() Call {
	k.Allowed, k.Breaks, k.breaksOn = client.AnyRefusal(http.StatusOK), "", ""
	return k
}

// certain reports whether the status is the only right one, or a refusal where nothing else
// is right. Then the response puts the requirement that the call names to the test.
func (k Call) certain(status int) bool {
	return k.Allowed == client.Only(status) || k.Allowed == client.AnyRefusal() && status != http.StatusTooManyRequests
}

// Breaking names the requirement that a response with any other status breaks.
func (k Call) Breaking(id spec.ID) Call { k.Breaks, k.breaksOn = id, ""; return k }

// Sent returns the request that the call sends.
func Sent(k Call) client.Request { return k.request() }

func (k Call) request() client.Request {
	return client.Request{
		Operation: k.Operation.ID, Method: k.Operation.Method,
		Path:  k.Operation.URLPath(k.ID),
		Query: k.Query, Header: k.Header, Body: BodyOf(k), Allowed: k.Allowed, Fresh: k.Fresh,
		Key: k.Key, Authorization: k.Authorization, NoRetry: k.NoRetry, Provoked: k.Provoked, Settle: k.Operation.Unsafe(),
	}
}

// BodyOf returns the body as it is sent; nil if there is none.
func BodyOf(k Call) []byte {
	if k.Raw != nil || k.Body == nil {
		return k.Raw
	}
	encoded, err := json.Marshal(k.Body)
	if err != nil {
		panic(fmt.Sprintf("suites: the body of %s is not JSON: %v", k.Operation.ID, err))
	}
	if k.backwards {
		return backwards(Normalize(k.Body))
	}
	return encoded
}

// backwards encodes a decoded JSON value, with the members of each object in reverse
// alphabetical order.
func backwards(value any) []byte {
	var out []byte
	switch value := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(value))
		for i, name := range slices.Backward(names) {
			encoded, _ := json.Marshal(name) // a string can be encoded
			out = append(append(out, encoded...), ':')
			out = append(out, backwards(value[name])...)
			if i > 0 {
				out = append(out, ',')
			}
		}
		return append(append([]byte{'{'}, out...), '}')
	case []any:
		for i, item := range value {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, backwards(item)...)
		}
		return append(append([]byte{'['}, out...), ']')
	default:
		encoded, _ := json.Marshal(value) // it was decoded from JSON
		return encoded
	}
}

// Response is the server's answer to a call, with what the rules saw in it. Its body
// and header hold only what a spec needs: the beginning of the body, a few headers.
type Response struct {
	client.Exchange
	Call Call

	unanswered bool         // the target does not respond to the call, which is charged
	found      judge.Result // without the body
	lost       *lookup.ID   // of the profile, which the target does not have; nil for none
	broken     spec.Pair    // that it breaks by its status; zero for none
	Items      []map[string]any
	keyed      []paging.Row // the rows with their keys; without values if the call keeps only keys
	full       bool         // the rows are dropped: the memory for them is used up
	Again      *Response    // the page that gave a cursor whose row is gone, as it is now; nil for none
	back       int          // how many pages before this one that is
	Next       any          // next_starting_after
	HasNext    bool
	lacks      string // what a 200 would have to be OK; "" for nothing
	text       string // the beginning of a body other than that of a 200, as people read it
	form       string // of a body that is a refusal

	// Made once for all violations of a response.
	repeat, excerpt func() string
	heads           func() *reports.Exchange

	changes []client.Step // what the spec had asked the target to change before
	noted   int           // how many requests the trial had noted with this one; 0 if it is not among them
}

// Describe returns the status and the beginning of the body as people read it.
func (r Response) Describe() string {
	if r.text == "" {
		return judge.DescribeStatus(r.Exchange)
	}
	return judge.DescribeRead(r.Exchange, r.text)
}

// shown returns the beginning of the body for results.
func (r Response) shown() string {
	if r.excerpt != nil {
		return r.excerpt()
	}
	return excerpt(r.Exchange)
}

// complete adds to a violation of the pair the request and the response that show it.
func (r Response) complete(v *reports.Violation, p spec.Pair, made func(id string) bool) {
	if r.Exchange.Request.Path == "" {
		return
	}
	v.Curl, v.Body = r.curl(p, v.Expected+"\n"+v.Actual, made), r.shown()
	if r.heads != nil {
		v.Exchange = r.heads()
	}
}

// heads returns the request and the head of the response. bytes is the length of the
// body.
func heads(ex client.Exchange, bytes int) *reports.Exchange {
	head := func(h client.Head) reports.Head {
		return reports.Head{Line: h.Line, Headers: h.Headers, Bytes: h.Bytes}
	}
	shown := reports.Exchange{Request: head(ex.RequestHead()), Response: head(ex.ResponseHead()), RequestBody: bodyText(ex.RequestExcerpt(reports.MaxBody))}
	shown.Response.Bytes = bytes
	return &shown
}

// excerpt returns the beginning of the body, in which no id is a key.
func excerpt(ex client.Exchange) string {
	return bodyText(ex.Excerpt(reports.MaxBody))
}

// bodyText returns the text of a body, in which no id is a key.
func bodyText(body string) string {
	text := schemas.ShortenIDs(body) // may be longer
	return strings.ToValidUTF8(text[:min(len(text), reports.MaxBody)], "")
}

// OK reports whether the response is a 200 with a body of the documented outer
// form: a page with its items, an array, or a resource. Only such a body says
// anything about rows, also that there are none.
func (r Response) OK() bool { return r.Shortfall() == "" }

// Shortfall says what an OK response would have instead; "" if it is OK.
func (r Response) Shortfall() string {
	if r.Status != 200 {
		return fmt.Sprintf("a 200 response (got %d)", r.Status)
	}
	return r.lacks
}

// Rows returns the resources in the body of a 200.
func (r Response) Rows() []map[string]any { return r.Items }

// PageRows returns the rows with their keys; without their values if the call reads keys
// only.
func (r Response) PageRows() []paging.Row { return r.keyed }

// Row returns the resource in the answer of an operation that answers with one;
// nil if there is none.
func (r Response) Row() map[string]any {
	if r.Call.Operation.Answer != spec.One || len(r.Rows()) == 0 {
		return nil
	}
	return r.Rows()[0]
}

// Text returns a string member of the resource; "" if it has none.
func (r Response) Text(field string) string {
	value, _ := r.Row()[field].(string)
	return value
}

// ID returns the id of the resource; "" if it shows none.
func (r Response) ID() string { return r.Text("id") }

// Cursor returns next_starting_after; "" if there is none.
func (r Response) Cursor() string {
	cursor, _ := r.Next.(string)
	return cursor
}
