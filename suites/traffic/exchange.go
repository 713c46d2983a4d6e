package traffic

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
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
	limit      int                  // 0 for none, and for one that is not a number
	cursor     string
	vague      bool // nobody knows what another parameter asks for

	unread bool // the recording does not hold the body of the response
	doubt  bool // the body breaks a rule on shapes
	rows   []paging.Row

	before   *exchange // the page whose cursor the request has; nil for none
	followed bool      // by another page
}

// key is what a request has in its Authorization header.
type key struct {
	profile.Key         // a name and the token, unless the profile has the key
	known       bool    // the profile says what it may do
	placeholder bool    // stands for the token, and perhaps for another spelling of it
	lacks       spec.ID // the requirement that such a request gets 401; "" for a valid key
}

func (x *exchange) op() spec.Operation { return x.Call.Operation }

// OK reports whether the response is a 200 whose body can be used.
func (x *exchange) OK() bool { return !x.unread && x.Response.OK() }

// String names the exchange in the recording.
func (x *exchange) String() string {
	return fmt.Sprintf("entries[%d], sent at %s", x.Exchange.Request.Place, x.Sent.UTC().Format(time.RFC3339Nano))
}

// memory returns how many bytes of memory the exchange takes, without the values of its rows.
func (x *exchange) memory() int {
	parts := len(x.rows) + len(x.violations)
	bytes := len(x.Exchange.Request.Path) + len(x.Exchange.Request.Body) + schemas.Memory(x.Call.Body) + min(len(x.Exchange.Body), reports.MaxBody)
	for _, v := range x.violations {
		bytes += len(v.Place) + len(v.Message)
	}
	for name, values := range x.Call.Query {
		parts += 1 + len(values)
		bytes += len(name)
		for _, value := range values {
			bytes += len(value)
		}
	}
	return perExchange + bytes + perPart*parts
}

// named returns the id that the request has in its path, or in a field of its body; "" for none.
func (x *exchange) named(field string) string {
	if field == "id" && x.op().HasPathID() {
		return x.Call.ID
	}
	text, _ := x.Call.Members()[field].(string)
	return text
}

// readOnly are the methods of requests that change nothing.
var readOnly = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

// exchangeOf returns the exchange of an entry. It reports false if the entry is not of the API, or
// has no whole response.
func (j *Judge) exchangeOf(e evidence.Entry) (*exchange, bool, error) {
	const root = "/api/v2/"
	address, err := url.Parse(e.Request.URL)
	if err != nil {
		return nil, false, nil //nolint:nilerr // browsers record addresses of all kinds
	}
	prefix, path, _ := strings.Cut(address.Path, root)
	op, id, found := spec.MatchOperation(strings.ToUpper(e.Request.Method), root+path)
	partial := e.Note != nil && (e.Note.Error != "" || e.Note.Truncated)
	if !found && strings.Contains(address.Path, root) && e.Response.Status/100 != 4 && !slices.Contains(readOnly, strings.ToUpper(e.Request.Method)) {
		j.edits = true
	}
	if !found || partial || e.Response.Status < 200 || leadsElsewhere(address, e.Response) {
		return nil, false, nil
	}
	body, held, err := e.Response.Content.Body()
	if err != nil {
		return nil, false, err
	}
	header := evidence.Header(e.Request.Headers)
	query, err := url.ParseQuery(address.RawQuery)
	if !j.hide(append(j.secretsOf(op, query), credentials(header)...)) {
		return nil, false, nil
	}
	x := &exchange{host: address.Scheme + "://" + address.Host + prefix, unread: !held || len(body) < e.Response.Content.Size}
	x.key = j.keyOf(x.host, header)
	request := client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Place: j.results.Traffic.Requests - 1}
	if e.Request.PostData != nil {
		request.Body = []byte(e.Request.PostData.Text)
	}
	if x.key != nil && x.key.Token != "" {
		request.Key = x.key.ForClient()
	}
	x.unsent = op.Body != "" && len(request.Body) == 0 && e.Request.BodySize != 0
	request.Query = query
	x.Exchange = client.Exchange{Request: request, Status: e.Response.Status, Header: evidence.Header(e.Response.Headers), Body: body, Sent: e.Started, Took: time.Duration(e.Time)}
	x.ended = x.Sent.Add(max(0, x.Took))
	x.Call = api.Call{Operation: op, ID: id, Query: query}
	if decoded, err := schemas.Decode(request.Body); err == nil {
		x.Call.Body = decoded
	}
	documented := j.readQuery(x)
	if address.Path = root + path; err == nil { // the document judges what cannot be read
		address.RawQuery = documented.Encode()
	}
	j.judgeClient(x, address, header)
	return x, true, nil
}

// leadsElsewhere reports whether a response sends the client to the same path of another scheme or host:
// what answers there is judged.
func leadsElsewhere(from *url.URL, r evidence.Response) bool {
	to, err := from.Parse(evidence.Header(r.Headers).Get("Location"))
	return r.Status/100 == 3 && err == nil && to.Path == from.Path && (to.Scheme != from.Scheme || to.Host != from.Host)
}

// readQuery reads the query by the names that the profile gives to parameters. It returns the query by
// those of the document.
func (j *Judge) readQuery(x *exchange) url.Values {
	documented := url.Values{}
	x.filters = map[string]string{}
	for name, values := range x.Call.Query {
		p := j.parameter(x.op(), name)
		documented[cmp.Or(p.Name, name)] = values
		switch value := values[0]; {
		case name == "limit": // which programs also send to a plain list
			x.limit, _ = strconv.Atoi(value)
		case p.Key == profile.ParamStartingAfter:
			x.cursor = value
		case p.Key != "" && len(values) == 1 && strings.TrimSpace(value) != "":
			x.filters[p.Key] = value
		default:
			x.vague = true
		}
	}
	return documented
}

// parameter returns the parameter that the profile gives the name; the zero one if there is none.
func (j *Judge) parameter(op spec.Operation, name string) (p spec.Parameter) {
	if at := slices.IndexFunc(op.Query, func(p spec.Parameter) bool {
		own, known := j.profile.Parameter(op.ID, p.Key)
		return known && own == name
	}); at >= 0 {
		p = op.Query[at]
	}
	return p
}

// judgeClient finds what of the request the specification does not allow. It says nothing of what
// the recording may lack: the key, the body, the page that gave a cursor.
func (j *Judge) judgeClient(x *exchange, address *url.URL, header http.Header) {
	if x.unsent {
		return
	}
	if x.key == nil {
		header.Set("Authorization", "Bearer unknown")
	}
	j.clients.Returned(x.op().ID, x.Call.Query.Get(contract.Cursor))
	violations := j.clients.Judge(&http.Request{Method: x.op().Method, URL: address, Header: header}, x.Exchange.Request.Body)
	x.violations = slices.DeleteFunc(violations, func(v contract.Violation) bool {
		return v.Rule == contract.Authorization || v.Place == "query/"+contract.Cursor // pages choose the cursor
	})
}

var (
	sensitive   = regexp.MustCompile(`(?i)key|token|secret|passw|auth`) // parameters that may hold a key
	bearer      = regexp.MustCompile(`(?i)^Bearer +([^ ,]{8,}) *$`)     // a shorter token may be a placeholder
	noToken     = regexp.MustCompile(`(?i)^ *Bearer *$`)
	otherScheme = regexp.MustCompile(`^(?i:Basic|Digest|Token|ApiKey) +[^ ,]+$`)
	hidden      = regexp.MustCompile(`(?i)redacted|\*\*|…|^Bearer x+$`) // what programs put in place of keys
)

const (
	shortestKey = 8    // bytes of what is redacted
	mostKeys    = 1000 // that are told apart, and of other secrets
)

// hide keeps secrets out of all output. It reports false if there are too many of them.
func (j *Judge) hide(secrets []string) bool {
	for _, secret := range secrets {
		if len(secret) < shortestKey || j.hidden[secret] {
			continue
		}
		if len(j.hidden) == mostKeys {
			return false
		}
		j.hidden[secret] = true
		redact.Process.Learn(secret, "")
	}
	return true
}

// secretsOf returns the values of parameters that may hold keys.
func (j *Judge) secretsOf(op spec.Operation, query url.Values) (secrets []string) {
	for name, values := range query {
		if sensitive.MatchString(name) && j.parameter(op, name).Key == "" {
			secrets = append(secrets, values...)
		}
	}
	return secrets
}

// credentials returns what else than a token of the API an Authorization header has.
func credentials(header http.Header) (secrets []string) {
	for _, value := range header["Authorization"] {
		if hidden.MatchString(value) || bearer.MatchString(value) && len(header["Authorization"]) == 1 {
			continue
		}
		scheme, secret, found := strings.Cut(strings.TrimSpace(value), " ")
		if !found {
			secret = scheme
		}
		if secret = strings.TrimSpace(secret); strings.Contains(secret, "$OUTREACH_") { // also what stands for a key in our output
			continue
		}
		secrets = append(secrets, secret)
		if decoded, err := base64.StdEncoding.DecodeString(secret); err == nil && strings.EqualFold(scheme, "Basic") {
			user, password, _ := strings.Cut(string(decoded), ":")
			secrets = append(secrets, cmp.Or(password, user))
		}
	}
	return secrets
}

// keyOf returns the key of a request; nil if the recording does not show it. A program that
// sends keys with other requests to the host has sent this one without.
func (j *Judge) keyOf(host string, header http.Header) *key {
	values, agent := header["Authorization"], host+" "+header.Get("User-Agent")
	switch {
	case len(values) == 0 && (j.SeesKeys || j.sendsKeys[agent]):
		return &key{lacks: spec.AuthHeaderMissing}
	case len(values) != 1 || hidden.MatchString(values[0]):
		return nil
	case noToken.MatchString(values[0]):
		return &key{lacks: spec.AuthTokenEmpty}
	case otherScheme.MatchString(values[0]):
		return &key{lacks: spec.AuthSchemeOther}
	}
	match := bearer.FindStringSubmatch(values[0])
	if match == nil {
		return nil
	}
	j.sendsKeys[agent] = true
	k := j.keys[match[1]]
	if k == nil && len(j.keys) < mostKeys {
		k = j.newKey(match[1])
		j.keys[match[1]] = k
	}
	return k
}

// newKey returns the key of a token, as the profile describes it. No output will show the token.
func (j *Judge) newKey(token string) *key {
	k := &key{Key: profile.Key{Name: "recorded-" + strconv.Itoa(len(j.keys)+1), Token: token}, placeholder: strings.HasPrefix(token, "$")}
	for _, own := range j.profile.Keys {
		if own.Token == token || "$"+own.ForClient().Env() == token {
			k.Key, k.known = own, true
		}
	}
	if k.State == profile.KeyRevoked {
		k.lacks = spec.AuthKeyRevoked
	}
	if !k.placeholder {
		redact.Process.Learn(token, k.ForClient().Env())
	}
	return k
}
