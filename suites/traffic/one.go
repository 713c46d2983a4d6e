package traffic

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
)

// mostWaiting bounds the refusals that wait for what the rest of the recording shows, in bytes.
const mostWaiting = 32 << 20

// excusable are the statuses of refusals that the rest of the recording may excuse.
var excusable = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}

// ofTransport are statuses that a server or a gateway may answer because of headers and sizes.
var ofTransport = []int{http.StatusPartialContent, http.StatusNotModified, http.StatusNotAcceptable, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusLengthRequired,
	http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusRequestedRangeNotSatisfiable, http.StatusExpectationFailed,
	http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusUpgradeRequired, http.StatusRequestHeaderFieldsTooLarge}

// judgeOne judges an exchange by itself, and keeps what the rules on several need.
func (j *Judge) judgeOne(x *exchange) {
	defer func() {
		x.Exchange.Header, x.Exchange.Body = nil, slices.Clone(x.Exchange.Body[:min(len(x.Exchange.Body), reports.MaxBody)])
	}()
	if slices.Contains(ofTransport, x.Status) {
		return
	}
	allowed, breaks := j.expected(x)
	owner := j.ownerOf(x)
	found := j.rules.Check(judge.Request{Operation: x.op(), Allowed: allowed, Owner: owner, Admin: j.profile.AdminOf(owner), Unread: x.unread}, x.Exchange)
	x.Call.Allowed, x.Items = allowed, found.Rows
	x.Read(found.Body)
	x.rows = j.rowsOf(x.op().Resource, found.Rows)
	x.doubt = slices.ContainsFunc(found.Findings, func(f judge.Finding) bool {
		rule, _ := spec.FindRequirement(f.Pair.Requirement)
		return strings.HasPrefix(f.Pointer, "/") && rule.Group == spec.GroupShape
	})
	found.Body, found.Rows = nil, nil
	j.learn(x)
	j.uses[x.op().ID].add(x)
	switch {
	case x.Status == http.StatusOK || x.Status == http.StatusTooManyRequests || allowed.Open() || x.key == nil || x.key.lacks != "" || len(x.violations) > 0:
		j.enter(x, found, breaks)
	case j.waiting+x.memory() <= mostWaiting:
		j.waiting += x.memory()
		j.refusals = append(j.refusals, func() { j.enterRefusal(x, found, breaks) })
	case slices.Contains(excusable, x.Status):
		j.Unjudged++
	default:
		j.enterRefusal(x, found, breaks)
	}
	if x.OK() {
		j.judgeContent(x)
	}
}

// rowsOf returns the rows of a response. Rows that are alike share their values, because pages show most
// rows many times.
func (j *Judge) rowsOf(resource string, values []map[string]any) []paging.Row {
	rows := make([]paging.Row, len(values))
	for i, value := range values {
		rows[i] = paging.RowOf(resource, value)
		key := resource + rows[i].Key
		if last := j.shared[key]; last != nil && reflect.DeepEqual(last, value) {
			rows[i].Value = last
			continue
		}
		j.shared[key] = value
		j.memory += schemas.Memory(value)
	}
	return rows
}

// ownerOf returns the id of the workspace of the key; "" if it is not known.
func (j *Judge) ownerOf(x *exchange) string {
	if x.key == nil || !x.key.known {
		return ""
	}
	return j.profile.Workspaces[x.key.Workspace].ID
}

// enter enters what the rules found. A wrong status breaks the named requirement, if there is one.
func (j *Judge) enter(x *exchange, found judge.Result, breaks spec.ID) {
	op, wrong, named := x.op().ID, !x.Call.Allowed.Status(x.Status), spec.Has(breaks.On(x.op().ID))
	for _, f := range found.Findings {
		id := spec.ID(f.Pair.Requirement)
		if named && (id == spec.Status200 || id == spec.StatusAllowed) {
			id = breaks
		}
		j.charge(id, op, x, f.Pointer, f.Expected, f.Actual)
	}
	for p, n := range found.More {
		j.ledger.ViolatedAgain(p, n)
	}
	for _, o := range found.Observed {
		j.ledger.Observe(o.OpenPoint, op, o.Value)
	}
	if !named || !wrong { // else nothing was seen of the status by itself
		j.ledger.AssessedAll(found.Seen)
	}
	if x.OK() {
		j.ledger.Answered(op, x.Status)
	}
	switch {
	case !named || wrong || x.Status == http.StatusTooManyRequests:
	case x.OK():
		j.counts(breaks, op, 1)
	case x.Status/100 == 4:
		j.ledger.Refused(breaks.On(op), x.Status)
	}
}

// echoes are the members of a response that repeat what the request names.
var echoes = []struct {
	id    spec.ID
	field string
}{{spec.StateGetList, "id"}, {spec.StateDeleteAnswer, "id"}, {spec.VariablesCampaign, "id"}, {spec.LeadMoveLead, "id"}, {spec.LeadMoveSubsequence, "subsequence_id"}}

// metadata says what a get shows as metadata, by the parameter that asks for it.
var metadata = map[string]struct {
	id   spec.ID
	want types.GomegaMatcher
}{
	"true":  {spec.MetaTrue, api.Be("an object", gomega.BeAssignableToTypeOf(map[string]any{}))},
	"false": {spec.MetaFalse, api.BeAbsent()},
	"":      {spec.MetaAbsent, api.BeAbsent()},
}

// judgeContent compares a 200 with its request.
func (j *Judge) judgeContent(x *exchange) {
	op := x.op().ID
	switch x.op().Answer {
	case spec.Page:
		j.judgePage(x)
	case spec.Array:
		j.enterVerdict(spec.ListRowsOnce, op, api.RepeatedRows(x.page(), func(row paging.Row) bool { return row.ByID }))
	default:
		for _, e := range echoes {
			if sent := x.named(e.field); sent != "" && len(x.violations) == 0 {
				j.expect(x.Response, e.id, op, api.HaveMember(e.field, api.EqualID(sent)))
			}
		}
		if op == spec.CreatePlacementTest {
			j.judgeCreated(x, x.Response, nil)
		}
		if asked, ok := metadata[x.filters["with_metadata"]]; ok && op == spec.GetPlacementTest && !x.vague {
			j.expect(x.Response, asked.id, op, api.HaveMember("metadata", asked.want))
		}
	}
}

// judgeCreated judges that a view of a created test shows what was sent, but not for fields that only
// the server sets. A null may stand for a default. Another client may have changed the test before the
// view, unless one of the later views shows again what was sent.
func (j *Judge) judgeCreated(made *exchange, view api.Response, later []sighting) {
	late := view.Sent.Sub(made.ended) > j.profile.Visibility()
	owner := j.ownerOf(made)
	sent := made.Call.Members()
	for _, field := range slices.Sorted(maps.Keys(sent)) {
		value := sent[field]
		switch {
		case value == nil:
		case field == "organization_id" && (owner == "" || value == owner): // the server sets the same
		case slices.Contains(spec.CreateReadOnly, field):
			other := api.Be("a value other than the one sent", gomega.Not(api.EqualJSON(value)))
			j.expect(view, spec.StateReadOnly(field), made.op().ID, api.HaveMember(field, other))
		case len(made.violations) > 0 || late && slices.Contains(api.ChangesAtItsEnd, field): // a server changes it by itself
		case slices.Contains(api.KeptFields(), field) && !api.IsUpToTheServer(field, api.Normalize(value)):
			keeps := api.HaveMember(field, api.Keep(field, api.Normalize(value)))
			found := verdictOf(keeps, view)
			kept := slices.ContainsFunc(later, func(s sighting) bool { return api.Fits(keeps, s.alone()) })
			if kept || len(found.Findings) == 0 || view.Sent.Equal(made.Sent) {
				j.enterVerdict(spec.StateCreate(field), view.Call.Operation.ID, found)
			}
		}
	}
}

// judgePage judges the length of a page and its cursor.
func (j *Judge) judgePage(x *exchange) {
	id, limit := spec.PageLimitHonoured, x.limit
	switch {
	case !x.Call.Query.Has("limit"):
		id, limit = spec.PageLimitAbsent, spec.MaxLimit
	case limit < 1, limit > spec.MaxLimit, slices.ContainsFunc(x.violations, func(v contract.Violation) bool { return v.Place == "query/limit" }):
		id, limit = spec.PageLimitOutOfRange, spec.MaxLimit
	case len(x.filters) > 0 && spec.Has(spec.FilterWalk.On(x.op().ID)):
		id = spec.FilterWalk
	}
	if limit == x.limit {
		j.counts(spec.PageLimitAccepted, x.op().ID, 1)
	}
	j.expect(x.Response, id, x.op().ID, api.HaveAtMostItems(limit))
	cursor := api.CursorRequirement(x.op())
	j.enterVerdict(cursor, x.op().ID, verdictOf(api.CarryCursors(cursor == spec.PageCursorTimestamp), x.page()))
}

// page returns the exchange as a walk of one page.
func (x *exchange) page() api.Walk {
	return api.Walk{List: x.Call, Responses: []api.Response{x.Response}, Walk: paging.Walk{End: paging.Done, Pages: []paging.Page{{Limit: x.limit, Rows: x.rows, Cursor: x.Cursor()}}}}
}
