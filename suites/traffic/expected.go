package traffic

import (
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/oracle"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
)

// expected returns what the specification allows as the response to a request, and the requirement
// that any other status breaks; "" for that of the rules. What the recording does not show about
// the request is in favour of the server: its key, whether ids exist, whose they are.
func (j *Judge) expected(x *exchange) (client.Allowed, spec.ID) {
	k := x.key
	switch {
	case slices.Contains(ofTransport, x.Status):
		return client.AnyRefusal(http.StatusOK), ""
	case k != nil && (k.lacks != "" || k.State == profile.KeyRevoked):
		breaks := spec.AuthKeyRevoked
		if k.lacks != "" {
			breaks = k.lacks
		}
		if x.breaks(contract.PathID) { // a server may take it for an unknown path
			return client.AnyRefusal(), breaks
		}
		return client.Only(http.StatusUnauthorized), breaks
	case len(x.violations) > 0:
		return x.expectedIfInvalid()
	case k == nil || x.unsent:
		return client.AnyRefusal(http.StatusOK), ""
	case !k.known && (x.Status == http.StatusUnauthorized || x.Status == http.StatusPaymentRequired || x.Status == http.StatusNotFound && x.op().HasPathID()):
		return client.Only(x.Status), ""
	case !k.known:
		return client.AnyRefusal(http.StatusOK), ""
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
	}
	return j.expectedIfAuthorized(x, scope)
}

// ofTransport are statuses that a server or a gateway may answer because of headers and sizes.
var ofTransport = []int{http.StatusNotAcceptable, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
	http.StatusMisdirectedRequest, http.StatusRequestHeaderFieldsTooLarge}

// expectedIfAuthorized is expected for a valid request whose key has a scope that is enough.
func (j *Judge) expectedIfAuthorized(x *exchange, scope spec.ID) (client.Allowed, spec.ID) {
	denied := slices.Contains([]int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden}, x.Status)
	breaks := scope
	if scope == spec.ScopeAllAll && !denied { // the key of most requests
		breaks = ""
	}
	switch {
	case x.cursor != "" && !j.cursors[x.op().ID+x.cursor]:
		return client.AnyRefusal(http.StatusOK), ""
	case x.Status/100 != 4 || x.certain():
		return right, breaks
	case x.op().HasPathID() && x.Status == http.StatusNotFound:
		return client.Only(http.StatusNotFound), ""
	case x.op().HasPathID() && x.op().Body == "" && j.isOwn(x, x.Call.ID): // a body may be refused for what it says
		return right, breaks
	}
	return client.AnyRefusal(http.StatusOK), ""
}

// right is what is right for a valid request.
var right = client.Only(http.StatusOK)

// use is what an operation has served, and what it has refused to keys.
type use struct {
	any, limited, unfiltered bool      // it has served a request: with a limit, without a filter
	known                    bool      // a response shows that the target knows the operation
	unserved                 *exchange // the first valid request with a 404, 405 or 501; nil for none
}

func (u *use) add(x *exchange) {
	_, limited := x.Call.Query["limit"]
	if x.OK() && !x.unnamed {
		u.any, u.limited, u.unfiltered = true, u.limited || limited, u.unfiltered || len(x.filters) == 0
	}
	keyed := x.key != nil && x.key.lacks == ""
	// A 404 may also mean what the request names.
	unserved := spec.MeansUnserved(x.Status) && (x.Status != http.StatusNotFound || x.certain() || x.op().ID == spec.CreatePlacementTest && x.Call.Members()["campaign_id"] == nil)
	u.known = u.known || x.Status/100 == 2 || keyed && !unserved
	if keyed && unserved && len(x.violations) == 0 && u.unserved == nil {
		u.unserved = x
	}
}

// blame returns the requirement that a valid request breaks which is not served: that on the part
// which the served requests do not have.
func (u *use) blame(x *exchange) spec.ID {
	_, limited := x.Call.Query["limit"]
	switch {
	case x.op().Answer != spec.Page || !u.any:
		return ""
	case len(x.filters) > 0 && u.unfiltered:
		return spec.QueryAccepted
	case len(x.filters) == 0 && !limited && u.limited && x.cursor == "":
		return spec.PageLimitAbsent
	case len(x.filters) == 0 && limited && x.cursor == "":
		return spec.PageLimitAccepted
	}
	return ""
}

// certain reports whether nothing but the key decides whether a valid request is served. Ids may be
// unknown or foreign, both ends of a window may be required, and texts may be strange.
func (x *exchange) certain() bool {
	const long = 1000 // bytes of a query that a server may refuse
	start, end := x.filters[profile.ParamWindowStart], x.filters[profile.ParamWindowEnd]
	open := slices.ContainsFunc(oracle.Filters(x.op().ID), func(f oracle.Filter) bool {
		value, used := x.filters[f.Key]
		return used && (f.ByID() || f.Kind == spec.Exclude || strings.TrimSpace(value) == "" || strings.ContainsFunc(value, unicode.IsControl))
	})
	window := (start == "") == (end == "") && (start <= end && !(start == end && strings.Contains(end, "T")))
	return x.op().Answer != spec.One && x.cursor == "" && !x.unnamed && !open && window && len(x.Call.Query.Encode()) < long && !oracle.Contradicts(x.op().ID, x.filters)
}

func (x *exchange) breaks(rule string) bool {
	return slices.ContainsFunc(x.violations, func(v contract.Violation) bool { return v.Rule == rule })
}

// expectedIfInvalid is expected for a request that the document does not allow. Few of them must be
// refused: parsers accept more than a document says.
func (x *exchange) expectedIfInvalid() (client.Allowed, spec.ID) {
	for _, v := range x.violations {
		field, top := strings.CutPrefix(v.Place, "body/")
		required := spec.ID("REQUEST-REQUIRED-" + strings.ToUpper(field))
		switch {
		case v.Rule == contract.PathID && uuid.Validate(x.Call.ID) != nil:
			return client.AnyRefusal(), spec.RequestPathID
		case v.Rule == contract.QueryValue && v.Place == "query/limit":
			return client.AnyRefusal(http.StatusOK), spec.PageLimitOutOfRange
		case v.Rule == contract.MissingMember && top && spec.Has(required.On(x.op().ID)):
			return client.AnyRefusal(), required
		case v.Rule == contract.BodySyntax && x.op().Body != "" && x.Call.Body != nil && !isObject(x.Call.Body):
			return client.AnyRefusal(), spec.RequestObject
		}
	}
	return client.AnyRefusal(http.StatusOK), ""
}

func isObject(value any) bool { _, ok := value.(map[string]any); return ok }

// scopeOf returns the requirement on a key with these scopes, and whether they are enough.
func scopeOf(scopes []string, op spec.Operation) (spec.ID, bool) {
	alternatives := op.Scope.Alternatives()
	enough := alternatives == nil || slices.ContainsFunc(alternatives, func(s string) bool { return slices.Contains(scopes, s) })
	switch {
	case alternatives == nil || slices.Contains(scopes, "all:all"):
		return spec.ScopeAllAll, true
	case len(scopes) == 0:
		return spec.ScopeNone, false
	case len(scopes) > 1 && enough:
		return spec.ScopeSeveral, true
	case len(scopes) > 1:
		return spec.ScopeSeveralOnly, false
	case enough:
		return []spec.ID{spec.ScopeExact, spec.ScopeResourceAll, spec.ScopeAllAction, spec.ScopeAllAll}[slices.Index(alternatives, scopes[0])], true
	}
	if resource, _, _ := strings.Cut(scopes[0], ":"); resource == op.Scope.Resource || resource == "all" {
		return spec.ScopeWrongAction, false
	}
	return spec.ScopeWrongResource, false
}
