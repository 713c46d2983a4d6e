package suites

import (
	"net/http"
	"slices"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/lookup"
	"outreach.example/conformance/spec"
)

// The specification leaves open whether a change can be made again: whether a lead can be
// moved to the subsequence in which it is, or a variable added that exists. No operation
// shows where a lead is, or which variables there are, so a valid request may repeat what
// was done before, also by an earlier run. A server may also demand that the names of tests
// differ. If such a request is refused, it is sent again as a change that is new. The spec
// judges the second response.

// allowRefusedNames lets the target refuse valid creations with a name that the run has sent
// before, or that several of the calls have. It returns these as they were, by their place.
func (api *API) allowRefusedNames(calls []Call) (sent []Call, renamable map[int]Call) {
	sent, renamable = slices.Clone(calls), map[int]Call{}
	first := map[string]int{}
	for i, k := range calls {
		name, named := k.members()["name"].(string)
		if k.Operation.ID != spec.CreatePlacementTest || k.raw != nil || !named {
			continue
		}
		_, again := api.names.LoadOrStore(name, true)
		if !k.allowed.Valid() {
			continue
		}
		if !again {
			first[name] = i
			continue
		}
		renamable[i] = k
		if j, beside := first[name]; beside { // either may come first
			renamable[j] = calls[j]
		}
	}
	for i := range renamable {
		sent[i] = sent[i].MayBeRefused()
	}
	return sent, renamable
}

// mayRepeat lists the operations whose changes no view shows.
var mayRepeat = []string{spec.AddCampaignVariables, spec.MoveLead}

// askAsNew is ask. If the call may have been refused only because it repeats a change, it
// returns the response to a new change, if that is served.
func (api *API) askAsNew(k Call, request client.Request) Response {
	if !k.allowed.Valid() || !slices.Contains(mayRepeat, k.Operation.ID) {
		return api.ask(k, request)
	}
	api.repeated.RLock()
	var r, open Response
	api.Client.DoWith(api.ctx, request, func(ex client.Exchange) {
		r = api.judged(k, ex)
		if ex.Status == http.StatusNotFound || refusesRepetition(ex.Status) {
			open = api.judged(k.MayBeRefused(), ex)
		}
	})
	api.repeated.RUnlock()
	if r.Err != nil || open.Status == 0 {
		return r
	}
	for _, id := range api.namedIn(k) {
		if api.once(id, true) == lookup.Gone {
			api.record(open)
			api.lacks(id)
		}
	}
	if !refusesRepetition(r.Status) {
		return r
	}
	api.repeated.Lock() // nobody else moves the lead back in between
	defer api.repeated.Unlock()
	var others []string
	if k.Operation.ID == spec.MoveLead {
		if others = api.subsequencesBeside(k.members()["subsequence_id"]); len(others) == 0 {
			api.record(open)
			api.NotAssessed("a second entry under subsequences: the target answered %d to a lead move, and the lead may be in the only one", r.Status)
		}
	}
	again, served := api.askForNewChange(k, others)
	if !served {
		return r
	}
	api.record(open)
	return again
}

// refusesRepetition reports whether the status may say that a change was made before.
func refusesRepetition(status int) bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity}, status)
}

// askForNewChange sends the call as a change that was not made before. A lead is moved to
// one of the other subsequences first.
func (api *API) askForNewChange(k Call, others []string) (r Response, served bool) {
	if k.Operation.ID == spec.AddCampaignVariables {
		names, ok := k.members()["variables"].([]string)
		if !ok {
			return r, false
		}
		fresh := make([]string, len(names))
		for i := range fresh {
			fresh[i] = api.Word()
		}
		return api.askNewChange(k.WithField("variables", fresh))
	}
	for _, other := range others {
		away := k.WithField("subsequence_id", other).MayBeRefused()
		moved := api.ask(away, away.request())
		api.record(moved)
		if moved.OK() {
			return api.askNewChange(k)
		}
	}
	return r, false
}

// askOnceKnown is ask for a get or a deletion of a test. A server may know a created test
// late, also if it has shown it once: a 404 counts only if it lasts.
func (api *API) askOnceKnown(k Call, request client.Request) Response {
	if !k.allowed.Valid() {
		return api.ask(k, request)
	}
	var r, open Response
	api.Client.DoWith(api.ctx, request, func(ex client.Exchange) {
		r = api.judged(k, ex)
		if ex.Status == http.StatusNotFound {
			open = api.judged(k.MayGet(http.StatusNotFound), ex)
		}
	})
	if r.Err != nil || r.Status != http.StatusNotFound || !api.sandbox().MayShowLate(k.id, r.Sent) {
		return r
	}
	var again Response
	served := false
	api.look(func() bool {
		again, served = api.askNewChange(k)
		return served || again.Err != nil || again.Status != http.StatusNotFound
	})
	if !served {
		return r
	}
	api.record(open)
	api.observeOn(k.Operation.ID, spec.OpenPointVisibility, "a created test: late")
	return again
}

// askNewChange sends the call. A response that is not served shares the verdict on the one
// before.
func (api *API) askNewChange(k Call) (r Response, served bool) {
	if r = api.ask(k, k.request()); !r.OK() {
		api.hasVerdict(r.Exchange)
	}
	return r, r.OK()
}

// subsequencesBeside returns the other subsequences of the same workspace that leads may
// be moved to.
func (api *API) subsequencesBeside(named any) (others []string) {
	id, _ := named.(string)
	for _, w := range api.Profile.Workspaces {
		if slices.Contains(w.Subsequences, id) {
			others = append(others, w.Subsequences...)
		}
	}
	return slices.DeleteFunc(others, func(other string) bool { return other == id })
}
