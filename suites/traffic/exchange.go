package traffic

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/har"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// exchange is a request of an operation and its response.
type exchange struct {
	api.Response // its call has the operation, the id in the path, the query and the decoded body
	ended        time.Time
	host         string // of the target, with what stands before /api/v2
	key          *key   // nil if the recording does not show which

	violations []contract.Violation // of the client, apart from the key
	unsent     bool                 // the recording does not hold the body of the request
	filters    map[string]string    // parameters of the query beside limit and cursor, by their keys
	unnamed    bool                 // it has other parameters
	limit      string
	cursor     string
	unread     bool // the recording does not hold the body of the response
	doubt      bool // the body breaks a rule on shapes
	rows       []paging.Row
}

// key is what a request has in its Authorization header.
type key struct {
	profile.Key         // a name and the token, unless the profile has the key
	known       bool    // the profile says what it may do
	redacted    bool    // a placeholder, which may also stand for another spelling of the key
	lacks       spec.ID // the requirement that such a request gets 401; "" for a key
	served      map[string]bool
}

// exchangeOf returns the exchange of an entry. It reports false if the entry is not of the API, or
// has no whole response.
func (j *Judge) exchangeOf(e har.Entry) (x *exchange, ok bool, err error) {
	address, err := url.Parse(e.Request.URL)
	if err != nil {
		return nil, false, nil //nolint:nilerr // browsers record addresses of all kinds
	}
	before, _, ofAPI := strings.Cut(address.Path, "/api/v2/")
	path := strings.TrimPrefix(address.Path, before)
	op, id, found := spec.MatchOperation(strings.ToUpper(e.Request.Method), path)
	partial := e.Note != nil && (e.Note.Error != "" || e.Note.Truncated)
	if !ofAPI || !found || e.Response.Status < 200 || partial {
		return nil, false, nil
	}
	body, held, err := e.Response.Content.Body()
	if err != nil {
		return nil, false, err
	}
	request := client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Place: j.total.Requests - 1}
	if e.Request.PostData != nil {
		request.Body = []byte(e.Request.PostData.Text)
	}
	request.Query, _ = url.ParseQuery(address.RawQuery) // the document judges what cannot be read
	for name, values := range request.Query {
		if sensitive.MatchString(name) && len(values[0]) >= shortestKey {
			redact.Process.Learn(values[0], "")
		}
	}
	header := har.Header(e.Request.Headers)
	x = &exchange{host: address.Scheme + "://" + address.Host + before, key: j.keyOf(header), unread: !held || len(body) < e.Response.Content.Size}
	if x.key != nil && x.key.lacks == "" {
		request.Key = x.key.ForClient()
	}
	x.unsent = op.Body != "" && len(request.Body) == 0 && e.Request.BodySize != 0
	x.Exchange = client.Exchange{Request: request, Status: e.Response.Status, Header: har.Header(e.Response.Headers), Body: body, Sent: e.Started, Took: time.Duration(e.Time)}
	x.ended = x.Sent.Add(max(0, x.Took))
	x.Call = api.Call{Operation: op, ID: id, Query: request.Query}
	if decoded, err := schemas.Decode(request.Body); err == nil {
		x.Call.Body = decoded
	}
	j.readQuery(x)
	j.judgeClient(x, &url.URL{Path: path, RawQuery: address.RawQuery}, header)
	return x, true, nil
}

// readQuery reads the query by the names that the profile gives.
func (j *Judge) readQuery(x *exchange) {
	cursor, _ := j.profile.CursorParameter(x.op())
	x.filters = map[string]string{}
	for name, values := range x.Call.Query {
		key := ""
		for _, p := range x.op().Query {
			if own, ok := j.profile.Parameter(x.op().ID, p.Key); ok && own == name {
				key = p.Key
			}
		}
		switch {
		case name == "limit":
			x.limit = values[0]
		case name == cursor && x.op().Answer == spec.Page:
			x.cursor = values[0]
		case key != "" && len(values) == 1:
			x.filters[key] = values[0]
		default:
			x.unnamed = true
		}
	}
}

// judgeClient finds what of the request the specification does not allow. It says nothing of what
// the recording may lack: the key, the body, the page that gave a cursor.
func (j *Judge) judgeClient(x *exchange, address *url.URL, header http.Header) {
	if x.unsent {
		return
	}
	if renamed := j.profile.Parameters[x.op().ID]; len(renamed) > 0 {
		query := url.Values{}
		for name, values := range x.Call.Query {
			for key, own := range renamed {
				if own == name {
					name = x.op().Parameter(key).Name
				}
			}
			query[name] = values
		}
		address.RawQuery = query.Encode()
	}
	if x.key == nil {
		header.Set("Authorization", "Bearer unknown")
	}
	j.clients.Returned(x.op().ID, x.Call.Query.Get(contract.Cursor))
	for _, v := range j.clients.Judge(&http.Request{Method: x.op().Method, URL: address, Header: header}, x.Exchange.Request.Body) {
		if v.Rule != contract.Authorization && v.Place != "query/"+contract.Cursor { // pages choose the cursor
			x.violations = append(x.violations, v)
		}
	}
}

var (
	sensitive   = regexp.MustCompile(`(?i)key|token|secret|passw|auth`) // parameters that may hold a key
	bearer      = regexp.MustCompile(`(?i)^Bearer +([^ ,]+) *$`)
	otherScheme = regexp.MustCompile(`^(?i:Basic|Digest|Token|ApiKey) +[^ ,]+$`)
	hidden      = regexp.MustCompile(`(?i)redacted|\*\*|…|^Bearer x+$`) // what programs put in place of keys
	placeholder = regexp.MustCompile(`^\$OUTREACH_KEY_(\w+)$`)          // what this program does
)

const (
	shortestKey = 8    // bytes of a token that tells keys apart
	mostKeys    = 1000 // that are told apart
)

// keyOf returns the key of a request; nil if the recording does not show it. A program that
// sends keys with other requests has sent this one without.
func (j *Judge) keyOf(header http.Header) *key {
	values, agent := header["Authorization"], header.Get("User-Agent")
	if len(values) == 0 && (j.seesKeys || j.sendsKeys[agent]) {
		return &key{lacks: spec.AuthHeaderMissing}
	}
	if len(values) != 1 || hidden.MatchString(values[0]) {
		return nil
	}
	match := bearer.FindStringSubmatch(values[0])
	switch {
	case strings.EqualFold(strings.TrimSpace(values[0]), "Bearer"):
		return &key{lacks: spec.AuthTokenEmpty}
	case otherScheme.MatchString(values[0]):
		return &key{lacks: spec.AuthSchemeOther}
	case match == nil || len(match[1]) < shortestKey || len(j.keys) == mostKeys && j.keys[match[1]] == nil:
		return nil
	}
	token := match[1]
	if j.keys[token] == nil {
		k := &key{Key: profile.Key{Name: "recorded-" + strconv.Itoa(len(j.keys)+1), Token: token}, served: map[string]bool{}}
		for _, own := range j.profile.Keys {
			if own.Token == token || "$"+own.ForClient().Env() == token {
				k.Key, k.known = own, true
			}
		}
		if k.redacted = placeholder.MatchString(token); !k.redacted {
			redact.Process.Learn(token, k.ForClient().Env())
		} else if !k.known {
			k.Name = "recorded" + strings.Trim(token, "$")
		}
		j.keys[token] = k
	}
	j.sendsKeys[agent] = true
	return j.keys[token]
}
