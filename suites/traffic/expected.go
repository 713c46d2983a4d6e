package traffic

import (
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

var (
	right    = client.Only(http.StatusOK)       // for a valid request
	anything = client.AnyRefusal(http.StatusOK) // for one of which the recording does not show enough
	denials  = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden}
)

// expected returns what the specification allows as the response to a request, and the requirement
// that any other status breaks; "" for that of the rules. What the recording does not show about
// the request is in favour of the server: its key, whether ids exist, whose they are.
func (j *Judge) expected(x *exchange) (client.Allowed, spec.ID) {
	k := x.key
	switch {
	case k != nil && k.lacks != "" && x.breaks(contract.PathID): // a server may take it for an unknown path
		return client.AnyRefusal(), k.lacks
	case k != nil && k.lacks != "":
		return client.Only(http.StatusUnauthorized), k.lacks
	case len(x.violations) > 0:
		return x.expectedIfInvalid()
	case k == nil || x.unsent:
		return anything, ""
	case !k.known && (x.Status == http.StatusUnauthorized || x.Status == http.StatusPaymentRequired || x.notFound()):
		return client.Only(x.Status), "" // with the body of that status
	case !k.known:
		return anything, ""
	}
	scope, enough := scopeOf(k.Scopes, x.op())
	foreign := j.foreign(x)
	switch {
	case foreign != "":
		return client.AnyRefusal(), foreign
	case !enough:
		return client.AnyRefusal(), scope
	case k.State == profile.KeyUnpaid && (x.certain() || x.Status == http.StatusPaymentRequired):
		return client.Only(http.StatusPaymentRequired), spec.Billing402
	case k.State == profile.KeyUnpaid:
		return client.AnyRefusal(), spec.Billing402
	case scope == spec.ScopeAllAll && !slices.Contains(denials, x.Status): // the key of most requests
		scope = ""
	}
	own, other := j.has(k.Workspace, x.Call.ID)
	switch {
	case x.cursor != "" && !j.cursors[digestOf(x.op().ID+x.cursor)]:
		return anything, ""
	case x.Status/100 != 4 || x.certain():
		return right, scope
	case x.notFound():
		return client.Only(http.StatusNotFound), ""
	case own && other == "" && x.op().Body == "": // a body may be refused for what it says
		return right, scope
	}
	return anything, ""
}

// notFound reports whether the response says that what the path names does not exist.
func (x *exchange) notFound() bool { return x.op().HasPathID() && x.Status == http.StatusNotFound }

func (x *exchange) breaks(rule string) bool {
	return slices.ContainsFunc(x.violations, func(v contract.Violation) bool { return v.Rule == rule })
}

// expectedIfInvalid is expected for a request that the document does not allow. Few of them must be
// refused: parsers accept more than a document says.
func (x *exchange) expectedIfInvalid() (client.Allowed, spec.ID) {
	_, object := x.Call.Body.(map[string]any)
	for _, v := range x.violations {
		required := spec.ID("REQUEST-REQUIRED-" + strings.ToUpper(strings.TrimPrefix(v.Place, "body/"))) // of some members
		switch {
		case v.Rule == contract.PathID && uuid.Validate(x.Call.ID) != nil:
			return client.AnyRefusal(), spec.RequestPathID
		case v.Rule == contract.QueryValue && v.Place == "query/limit":
			return anything, spec.PageLimitOutOfRange
		case v.Rule == contract.MissingMember && spec.Has(required.On(x.op().ID)):
			return client.AnyRefusal(), required
		case v.Rule == contract.BodySyntax && x.op().Body != "" && x.Call.Body != nil && !object:
			return client.AnyRefusal(), spec.RequestObject
		}
	}
	return anything, ""
}

// certain reports whether nothing but the key decides whether a valid request is served. Ids may be
// unknown or foreign, both ends of a window may be required, and texts may be strange.
func (x *exchange) certain() bool {
	const long = 1000 // bytes of a query that a server may refuse
	start, end := x.filters[profile.ParamWindowStart], x.filters[profile.ParamWindowEnd]
	window := (start == "") == (end == "") && start <= end && (start != end || !strings.Contains(end, "T"))
	return window && x.op().Answer != spec.One && x.cursor == "" && !x.vague && len(x.Call.Query.Encode()) < long && !oracle.Contradicts(x.op().ID, x.filters) &&
		!slices.ContainsFunc(oracle.Filters(x.op().ID), func(f oracle.Filter) bool {
			value := x.filters[f.Key]
			return value != "" && (f.ByID() || f.Kind == spec.Exclude) || strings.ContainsFunc(value, unicode.IsControl)
		})
}

// scopeOf returns the requirement on a key with these scopes, and whether they are enough.
func scopeOf(scopes []string, op spec.Operation) (id spec.ID, enough bool) {
	alternatives := op.Scope.Alternatives()
	at := slices.IndexFunc(alternatives, func(s string) bool { return slices.Contains(scopes, s) })
	switch {
	case alternatives == nil || slices.Contains(scopes, "all:all"):
		return spec.ScopeAllAll, true
	case len(scopes) == 0:
		return spec.ScopeNone, false
	case len(scopes) > 1 && at >= 0:
		return spec.ScopeSeveral, true
	case len(scopes) > 1:
		return spec.ScopeSeveralOnly, false
	case at >= 0:
		return []spec.ID{spec.ScopeExact, spec.ScopeResourceAll, spec.ScopeAllAction}[at], true
	}
	if resource, _, _ := strings.Cut(scopes[0], ":"); resource == op.Scope.Resource || resource == "all" {
		return spec.ScopeWrongAction, false
	}
	return spec.ScopeWrongResource, false
}

// use is what a recording shows of an operation.
type use struct {
	keys     map[*key]bool    // that it has served
	forms    map[spec.ID]bool // of the requests that it has served
	known    bool             // a response shows that the target knows the operation
	unserved *exchange        // the first valid request with a 404, 405 or 501; nil for none
}

// form returns the requirement that a list breaks if it serves valid requests of other forms alone; ""
// for none.
func (x *exchange) form() spec.ID {
	switch {
	case x.op().Answer != spec.Page || len(x.filters) == 0 && x.cursor != "":
		return ""
	case len(x.filters) > 0:
		return spec.QueryAccepted
	case x.Call.Query.Has("limit"):
		return spec.PageLimitAccepted
	}
	return spec.PageLimitAbsent
}

func (u *use) add(x *exchange) {
	keyed := x.key != nil && x.key.lacks == ""
	if x.OK() && keyed {
		u.keys[x.key] = true
	}
	if x.OK() && !x.vague {
		u.forms[x.form()] = true
	}
	// A 404 may also mean what the request names.
	certain := x.certain() || x.op().ID == spec.CreatePlacementTest && x.named("campaign_id") == ""
	unserved := spec.MeansUnserved(x.Status) && (x.Status != http.StatusNotFound || certain)
	u.known = u.known || x.Status/100 == 2 || keyed && !unserved
	if keyed && unserved && len(x.violations) == 0 && u.unserved == nil {
		u.unserved = x
	}
}

// blame returns the requirement that a valid request breaks which is not served; "" for that of the
// rules. Requests with a limit may differ in the limit.
func (u *use) blame(x *exchange) spec.ID {
	form := x.form()
	if others := len(u.forms) > 1 || !u.forms[form]; len(u.forms) > 0 && (others || form == spec.PageLimitAccepted) {
		return form
	}
	return ""
}

// enterRefusal enters what the rules found in a refusal, once the recording has shown what else is
// served.
func (j *Judge) enterRefusal(x *exchange, found judge.Result, breaks spec.ID) {
	u := j.uses[x.op().ID]
	served := u.keys[x.key]
	switch {
	case x.key.placeholder && x.Status == http.StatusUnauthorized && served: // the key may have been spelt otherwise
	case !x.key.known && !served: // the key may lack a scope
	case !u.known && spec.MeansUnserved(x.Status): // so that nothing is said of the key
	case x.Call.Allowed == right && (breaks == "" || breaks == spec.ScopeAllAll && served):
		j.enter(x, found, u.blame(x))
	default:
		j.enter(x, found, breaks)
	}
}
