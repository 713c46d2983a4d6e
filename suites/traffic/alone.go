package traffic

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/match"
)

// mostWaiting bounds the refusals that wait for what the rest of the recording shows.
const mostWaiting = 5000

// alone judges an exchange by itself, and keeps what the rules on several need.
func (j *Judge) alone(x *exchange) {
	defer func() {
		x.Exchange.Header, x.Exchange.Body = nil, slices.Clone(x.Exchange.Body[:min(len(x.Exchange.Body), reports.MaxBody)])
	}()
	conditional := slices.Contains([]int{http.StatusNotModified, http.StatusPartialContent, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable}, x.Status)
	if conditional || x.unread && x.Status == http.StatusOK {
		return
	}
	allowed, breaks := j.expected(x)
	asked := judge.Request{Operation: x.op(), Allowed: allowed}
	if x.key != nil && x.key.known {
		asked.Owner = j.profile.Workspaces[x.key.Workspace].ID
		asked.Admin = j.profile.AdminOf(asked.Owner)
	}
	found := j.rules.Check(asked, x.Exchange)
	x.Call.Allowed, x.Items = allowed, found.Rows
	x.Read(found.Body)
	x.rows = j.intern(x.op().Resource, found.Rows)
	x.doubt = slices.ContainsFunc(found.Findings, func(f judge.Finding) bool {
		rule, _ := spec.FindRequirement(f.Pair.Requirement)
		return strings.HasPrefix(f.Pointer, "/") && rule.Group == spec.GroupShape
	})
	if x.OK() && x.key != nil && x.key.served != nil {
		x.key.served[x.op().ID] = true
	}
	j.owns(x)
	j.uses[x.op().ID].add(x)
	found.Body, found.Rows = nil, nil
	if k := x.key; len(x.violations) > 0 || k == nil || k.lacks != "" || x.OK() || x.Status == http.StatusTooManyRequests || allowed.Open() {
		j.enter(x, found, breaks)
	} else if len(j.later) < mostWaiting { // what else is served shows what is wrong
		j.later = append(j.later, func() {
			switch served := k.served[x.op().ID]; {
			case k.redacted && x.Status == http.StatusUnauthorized && served: // another spelling of the key
			case !k.known && !served, !j.uses[x.op().ID].known && spec.MeansUnserved(x.Status): // the key may lack a scope
			case allowed == right && breaks == "":
				j.enter(x, found, j.uses[x.op().ID].blame(x))
			case allowed == right && breaks == spec.ScopeAllAll && served: // the key has the permission
				j.enter(x, found, "")
			default:
				j.enter(x, found, breaks)
			}
		})
	}
	if x.OK() {
		j.judgeResponse(x)
	}
}

// enter enters what the rules found. A wrong status breaks the named requirement, if there is one.
func (j *Judge) enter(x *exchange, found judge.Result, breaks spec.ID) {
	named := breaks != "" && spec.Has(breaks.On(x.op().ID))
	status := func(requirement string) bool {
		return requirement == string(spec.Status200) || requirement == string(spec.StatusAllowed)
	}
	wrong := false
	for _, f := range found.Findings {
		id := spec.ID(f.Pair.Requirement)
		if status(f.Pair.Requirement) {
			wrong = true
			if named {
				id = breaks
			}
		}
		j.charge(id, f.Pair.Operation, x, f.Pointer, f.Expected, f.Actual)
	}
	j.ledger.AssessedAll(slices.DeleteFunc(slices.Clone(found.Seen), func(s judge.Seen) bool { return wrong && named && status(s.Pair.Requirement) }))
	for p, n := range found.More {
		j.ledger.ViolatedAgain(p, n)
	}
	if x.OK() {
		j.ledger.Answered(x.op().ID, x.Status)
	}
	switch {
	case wrong || !named:
	case x.Status/100 == 4 && x.Status != http.StatusTooManyRequests:
		j.ledger.Refused(breaks.On(x.op().ID), x.Status)
	case x.OK():
		j.counts(breaks, x.op().ID, 1)
	}
	for _, o := range found.Observed {
		j.ledger.Observe(o.OpenPoint, x.op().ID, o.Value)
	}
}

// judged returns the verdict of one of our matchers.
func judged(m types.GomegaMatcher, actual any) api.Verdict {
	_, _ = m.Match(actual) // ours only fail on another type
	return api.VerdictOf(m, actual, "")
}

// judgeResponse compares a 200 with its request.
func (j *Judge) judgeResponse(x *exchange) {
	op := x.op().ID
	must := func(id spec.ID, m types.GomegaMatcher) { j.verdict(id, op, judged(m, x.Response)) }
	body := x.Call.Members()
	sameID := func(id any) types.GomegaMatcher {
		text, _ := id.(string)
		return match.HaveMember("id", match.EqualID(text))
	}
	switch {
	case x.op().Answer == spec.Page:
		j.judgePage(x)
	case op == spec.Plain():
		j.verdict(spec.ListRowsOnce, op, api.RepeatedRows(x.page(), func(row paging.Row) bool { return row.ByID }))
	case op == spec.GetPlacementTest:
		must(spec.StateGetList, sameID(x.Call.ID))
		j.judgeMetadata(x)
	case x.op().Deletes():
		must(spec.StateDeleteAnswer, sameID(x.Call.ID))
	case op == spec.AddCampaignVariables:
		must(spec.VariablesCampaign, sameID(x.Call.ID))
	case op == spec.MoveLead && len(x.violations) == 0:
		must(spec.LeadMoveLead, sameID(body["id"]))
		if to, ok := body["subsequence_id"].(string); ok {
			must(spec.LeadMoveSubsequence, match.HaveMember("subsequence_id", match.EqualID(to)))
		}
	case op == spec.CreatePlacementTest:
		for field := range body {
			j.keeps(x, field, x.Response)
		}
		j.ignores(x, x.Response)
	}
}

// ignores judges that a view of a created test does not show what was sent for read-only fields.
func (j *Judge) ignores(made *exchange, view api.Response) {
	for _, field := range spec.CreateReadOnly {
		if sent := made.Call.Members()[field]; sent != nil && !made.owner(field, sent, j) {
			other := match.Be("a value other than the one sent", gomega.Not(match.EqualJSON(sent)))
			j.verdict(spec.StateReadOnly(field), made.op().ID, judged(match.HaveMember(field, other), view))
		}
	}
}

// owner reports whether the value is that which a test of the key has anyway.
func (x *exchange) owner(field string, sent any, j *Judge) bool {
	return field == "organization_id" && (x.key == nil || !x.key.known || fmt.Sprint(sent) == j.profile.Workspaces[x.key.Workspace].ID)
}

// keeps judges that a view of a created test shows the value that was sent. A null may stand for a
// default.
func (j *Judge) keeps(made *exchange, field string, view api.Response) {
	sent := api.Normalize(made.Call.Members()[field])
	if !slices.Contains(api.KeptFields(), field) || sent == nil || len(made.violations) > 0 || api.IsUpToTheServer(field, sent) {
		return
	}
	j.verdict(spec.StateCreate(field), view.Call.Operation.ID, judged(match.HaveMember(field, match.Keep(field, sent)), view))
}

// judgeMetadata judges that a get shows metadata if the request asks for it.
func (j *Judge) judgeMetadata(x *exchange) {
	id, want := spec.MetaAbsent, match.BeAbsent()
	switch asked, given := x.filters["with_metadata"]; {
	case asked == "true":
		id, want = spec.MetaTrue, match.Be("an object", gomega.BeAssignableToTypeOf(map[string]any{}))
	case asked == "false":
		id = spec.MetaFalse
	case given || x.unnamed:
		return
	}
	j.verdict(id, x.op().ID, judged(match.HaveMember("metadata", want), x.Response))
}

// judgePage judges the length of a page and its cursor.
func (j *Judge) judgePage(x *exchange) {
	limit, err := strconv.Atoi(x.limit)
	id := spec.PageLimitHonoured
	switch {
	case !x.Call.Query.Has("limit"):
		id, limit = spec.PageLimitAbsent, api.MaxLimit
	case err != nil || limit < 1 || limit > api.MaxLimit:
		id, limit = spec.PageLimitOutOfRange, api.MaxLimit
	default:
		j.counts(spec.PageLimitAccepted, x.op().ID, 1)
		if len(x.filters) > 0 && spec.Has(spec.FilterWalk.On(x.op().ID)) {
			id = spec.FilterWalk
		}
	}
	j.verdict(id, x.op().ID, judged(match.HaveAtMostItems(limit), x.Response))
	cursor := match.CursorRequirement(x.op())
	j.verdict(cursor, x.op().ID, judged(match.CarryCursors(cursor == spec.PageCursorTimestamp), x.page()))
}

// page returns the exchange as a walk of one page.
func (x *exchange) page() api.Walk {
	limit, _ := strconv.Atoi(x.limit)
	return api.Walk{List: x.Call, Responses: []api.Response{x.Response}, Walk: paging.Walk{End: paging.Done,
		Pages: []paging.Page{{Limit: limit, Rows: x.rows, Cursor: x.Cursor()}}}}
}
