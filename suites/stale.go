package suites

import (
	"bytes"
	"net/http"
	"slices"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// A profile may name rows that the target no longer has. The target cannot be blamed for
// that, and a refusal of such a row shows nothing.

// existing returns the ids that the profile names in the role's workspace, without
// subsequences and tests that the target does not show to the full key. It looks once a run.
func (api *API) existing(role string, ids []string) []string {
	asked, _ := api.lost.LoadOrStore(role, sync.OnceValue(func() []string { return api.lostRows(role) }))
	lost := asked.(func() []string)()
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(lost, id) })
}

// lostRows looks for the rows of a workspace. It asks for tests up to the first that exists:
// specs use that one.
func (api *API) lostRows(role string) (lost []string) {
	key, _ := api.Profile.FullKey(role)
	if api.Profile.Stateless || !slices.Contains(api.rolesThatRead(), role) {
		return nil
	}
	request := func(operation, id string) client.Request {
		op := spec.MustOperation(operation)
		api.Spent(1)
		return client.Request{Operation: op.ID, Method: op.Method, Path: op.URLPath(id), Key: key.ForClient(),
			Allowed: client.Only(http.StatusOK, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented)}
	}
	w := api.Profile.Workspaces[role]
	if named := slices.Concat(w.Subsequences, w.ExpendableSubsequences); len(named) > 0 && api.Profile.Implements(spec.ListSubsequences) {
		rows, err := paging.All(api.ctx, paging.List(api.Send, request(spec.ListSubsequences, ""), profile.ParamStartingAfter), maxLimit, handful)
		for _, id := range named {
			if err == nil && !slices.ContainsFunc(rows, func(row paging.Row) bool { return row.Key == paging.FoldID(id) }) {
				lost = append(lost, id)
			}
		}
	}
	if role == dataset.Main || !api.Serves(spec.GetPlacementTest) {
		return lost
	}
	for _, id := range w.PlacementTests {
		if api.Send(api.ctx, request(spec.GetPlacementTest, id)).Status != http.StatusNotFound {
			break
		}
		lost = append(lost, id)
	}
	return lost
}

// isStale reports whether the target answers a valid request, with the full key, for a lead or
// a campaign of the profile just as one for an id that nothing has. No operation shows leads
// and campaigns. It asks once a run for each.
func (api *API) isStale(k Call) bool {
	id := k.id
	if k.Operation.ID == spec.MoveLead {
		id, _ = k.members()["id"].(string)
	}
	named := func(id string) Call {
		plain := Call{Operation: k.Operation, key: api.key(dataset.Main), owner: api.owner(dataset.Main)}.MayBeRefused()
		if k.Operation.ID == spec.MoveLead {
			return plain.WithBody(map[string]any{"id": id, "subsequence_id": k.members()["subsequence_id"]})
		}
		return plain.WithID(id).WithBody(map[string]any{"variables": []string{api.Word()}})
	}
	asked, _ := api.stale.LoadOrStore(id, sync.OnceValue(func() bool {
		unknown := api.FreshID()
		return api.answersAlike(api.askBeside(named(id)), id, named(unknown), unknown)
	}))
	return asked.(func() bool)()
}

// needCampaign ends the spec if the target refused a creation that names a campaign of the
// profile which it does not have.
func (api *API) needCampaign(refused Response) {
	id, named := refused.Call.members()["campaign_id"].(string)
	adding := Call{Operation: spec.MustOperation(spec.AddCampaignVariables)}.WithID(id)
	if named && api.Serves(adding.Operation.ID) && api.sandbox().Permit(api.ctx, api.change(adding)) == nil && api.isStale(adding) {
		api.hasJudged(refused)
		api.NotAssessed("%s that the target has", lackedEntry(dataset.Main, "campaigns", "a campaign"))
	}
}

// answersAlike reports whether the target did not find the name of the call in the response,
// and refuses the second call, with a name that nothing has, in the same words.
func (api *API) answersAlike(r Response, name string, unknown Call, another string) bool {
	if r.Status != http.StatusNotFound && (r.Call.id != "" || r.Status != http.StatusBadRequest && r.Status != http.StatusUnprocessableEntity) {
		return false
	}
	without := func(r Response, name string) []byte {
		r.Exchange.Body = bytes.ReplaceAll(r.Exchange.Body, []byte(name), nil)
		return withoutNumbers(r)
	}
	other := api.askBeside(unknown)
	return r.Status == other.Status && bytes.Equal(without(r, name), without(other, another))
}

// askBeside sends a call that belongs to no spec.
func (api *API) askBeside(k Call) Response {
	api.Spent(1)
	r := api.ask(k, k.request())
	api.record(r)
	return r
}
