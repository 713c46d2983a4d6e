package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/lookup"
	"outreach.example/conformance/internal/paging"
	"outreach.example/conformance/spec"
)

// maxVain is how many requests a run repeats on a fresh connection without getting
// another response.
const maxVain = 20

// onFreshConnection repeats a GET whose response surprises, if the request shared its
// connection with others. If only the response on the fresh connection is right, the
// first one breaks STATUS-200, and the spec goes on with the new one. Otherwise the
// first one is returned.
func (api *API) onFreshConnection(k Call, first Response) Response {
	valid := k.Allowed.Valid()
	if lost(first.Exchange) {
		return api.aloneOnAConnection(k, first)
	}
	if !surprising(valid, first.Exchange) {
		return first
	}
	if api.vain.Add(1) > maxVain || api.Sandbox().Permit(api.Ctx, Change(api, k)) != nil {
		api.vain.Add(-1)
		return first
	}
	again := k.request()
	again.Fresh = true
	second := api.sendOne(k, again)
	if !better(valid, first.Exchange, second.Exchange) {
		api.hasVerdict(second.Exchange) // that of the first
		return first
	}
	api.vain.Add(-1)
	api.hasVerdict(first.Exchange)
	broken := spec.Pair{Requirement: string(spec.Status200), Operation: k.Operation.ID}
	api.Evidence.Assessed(broken, 1)
	expected := strconv.Itoa(second.Status)
	if second.Status != http.StatusOK {
		expected += ", as on a fresh connection"
	}
	Violated(api, broken, Found(first, "status", expected, describeShared(first, second.Status)), "")
	return second
}

// lost reports whether the target closed the connection without a response.
func lost(ex client.Exchange) bool {
	return errors.Is(ex.Err, client.ErrProtocol) && !ex.Malformed && ex.Status == 0
}

// aloneOnAConnection repeats a request without a response, alone on a fresh connection. If
// there is none twice, while a harmless request gets one, the target does not respond to this
// one. A creation may have made a test each time: the sandbox finds all by their names. What
// else changes something may have done so the first time, so another response says nothing.
func (api *API) aloneOnAConnection(k Call, first Response) Response {
	again := k.request()
	again.Fresh = true
	for range 2 {
		if api.vain.Add(1) > maxVain || api.Sandbox().Permit(api.Ctx, Change(api, k)) != nil {
			api.vain.Add(-1)
			return first
		}
		second := api.sendOne(k, again)
		switch {
		case lost(second.Exchange):
			continue
		case second.Err == nil && (!k.Operation.Unsafe() || k.Operation.ID == spec.CreatePlacementTest && second.OK()):
			api.vain.Add(-1)
			return second
		}
		api.hasVerdict(second.Exchange)
		return first
	}
	list, ok := api.Profile.AnyList("")
	if !ok || list.ID == k.Operation.ID {
		list, ok = api.Profile.AnyList(spec.Plain())
	}
	harmless := client.Request{Operation: list.ID, Method: list.Method, Path: list.Path, Key: Key(api, dataset.Main), Fresh: true, Allowed: client.AnyRefusal(http.StatusOK)}
	if !ok || api.Send(api.Ctx, harmless).Err != nil {
		return first
	}
	id := k.Breaks
	if id == "" && k.Allowed.Valid() {
		id = spec.Status200
	} else if id == "" {
		id = spec.StatusAllowed
	}
	broken := id.On(k.Operation.ID)
	api.Evidence.Assessed(broken, 1)
	Violated(api, broken, Found(first, "", "a response", "none: the target closed the connection, also twice alone on a fresh one ("+list.ID+" gets a response meanwhile)"), "")
	first.unanswered = true
	return first
}

// surprising reports whether a response may belong to what the connection carried
// before. A lost connection is no surprise: a server may close an idle one at any
// time. A request that is not valid is surprised only after a body that may be unread.
func surprising(valid bool, ex client.Exchange) bool {
	switch {
	case !ex.Reused || ex.Request.Method != http.MethodGet:
		return false
	case ex.Err != nil:
		return ex.Malformed
	case ex.Status == http.StatusOK, ex.Status == http.StatusTooManyRequests:
		return false
	default:
		return valid || ex.AfterBody != "" && spec.ErrorText[ex.Status] == "" && ex.Status != http.StatusForbidden
	}
}

// better reports whether the response on the fresh connection shows that the first
// one was wrong.
func better(valid bool, first, second client.Exchange) bool {
	switch {
	case second.Err != nil, second.Reused, second.Status == first.Status:
		return false
	case valid && !first.Malformed:
		return second.Status == http.StatusOK
	default:
		return second.Status < 500
	}
}

// describeShared describes a response that only a shared connection got.
func describeShared(first Response, fresh int) string {
	ex := first.Exchange
	what, body := "a response that is not HTTP", ""
	if ex.Malformed {
		body = ex.Err.Error()
	} else {
		what, body = strconv.Itoa(ex.Status), first.text
	}
	why := "the server answers at random, or mixes up the requests of a connection"
	if ex.AfterBody != "" {
		why = fmt.Sprintf("the server probably leaves a request body unread (of %s)", ex.AfterBody)
	}
	what = fmt.Sprintf("%s, only after another request on the same connection; on a fresh connection it is %d: %s", what, fresh, why)
	if body == "" {
		return what
	}
	return what + "; the response: " + judge.Clip(body)
}

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
		name, named := k.Members()["name"].(string)
		if k.Operation.ID != spec.CreatePlacementTest || k.Raw != nil || !named {
			continue
		}
		again := !FirstTime(api, "sent the name", name)
		if !k.Allowed.Valid() {
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

// MayRepeat lists the operations whose changes no view shows.
var MayRepeat = []string{spec.AddCampaignVariables, spec.MoveLead}

// askAsNew is sendOne. If the call may have been refused only because it repeats a change, it
// returns the response to a new change, if that is served.
func (api *API) askAsNew(k Call, request client.Request) Response {
	if lead, named := k.Members()["id"].(string); named && k.Operation.ID == spec.MoveLead && k.Allowed.Status(http.StatusOK) && !k.Provoked {
		// Nobody else moves the lead meanwhile: the server may move it and then read where it is.
		moving := Once(api.Env, func() *sync.Mutex { return &sync.Mutex{} }, "moving the lead", paging.FoldID(lead))
		moving.Lock()
		defer moving.Unlock()
	}
	if !k.Allowed.Valid() || !slices.Contains(MayRepeat, k.Operation.ID) {
		return api.sendOne(k, request)
	}
	var r, open Response
	api.Client.DoWith(api.Ctx, request, func(ex client.Exchange) {
		r = api.judged(k, ex)
		if ex.Status == http.StatusNotFound || RefusesRepetition(ex.Status) {
			open = api.judged(k.MayBeRefused(), ex)
		}
	})
	if r.Err != nil || open.Status == 0 {
		return r
	}
	for _, id := range api.namedIn(k) {
		if api.once(id, true) == lookup.Gone {
			api.record(open)
			Lacks(api, id)
		}
	}
	if !RefusesRepetition(r.Status) {
		return r
	}
	var others []string
	if k.Operation.ID == spec.MoveLead {
		if others = api.subsequencesBeside(k.Members()["subsequence_id"]); len(others) == 0 {
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

// RefusesRepetition reports whether the status may say that a change was made before: any 4xx that the
// specification gives no other meaning. A 403 may also speak of the key.
func RefusesRepetition(status int) bool {
	return status/100 == 4 && spec.ErrorText[status] == "" && status != http.StatusForbidden
}

// askForNewChange sends the call as a change that was not made before. A lead is moved to
// one of the other subsequences first.
func (api *API) askForNewChange(k Call, others []string) (r Response, served bool) {
	if k.Operation.ID == spec.AddCampaignVariables {
		names, ok := k.Members()["variables"].([]string)
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
		moved := api.sendOne(away, away.request())
		api.record(moved)
		if moved.OK() {
			return api.askNewChange(k)
		}
	}
	return r, false
}

// askOnceKnown is sendOne for a get or a deletion of a test. A server may know a created test
// late, also if it has shown it once: a 404 counts only if it lasts.
func (api *API) askOnceKnown(k Call, request client.Request) Response {
	if !k.Allowed.Valid() {
		return api.sendOne(k, request)
	}
	var r, open Response
	api.Client.DoWith(api.Ctx, request, func(ex client.Exchange) {
		r = api.judged(k, ex)
		if ex.Status == http.StatusNotFound {
			open = api.judged(k.MayGet(http.StatusNotFound), ex)
		}
	})
	if r.Err != nil || r.Status != http.StatusNotFound || !api.Sandbox().MayShowLate(k.ID, r.Sent) {
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
	ObserveOn(api, k.Operation.ID, spec.OpenPointVisibility, "a created test: late")
	return again
}

// askNewChange sends the call. A response that is not served shares the verdict on the one
// before.
func (api *API) askNewChange(k Call) (r Response, served bool) {
	if r = api.sendOne(k, k.request()); !r.OK() {
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

// A cursor may name a row, and a server may refuse it with any 4xx once the row is deleted.
// The run itself, or somebody else, may delete that row between two pages.

// Behind returns the call for the page behind another one.
func Behind(api *API, k Call, page Response) Call {
	k = k.WithQuery(CursorParameter(api, k.Operation), page.Cursor())
	k.from = &page.Call
	return k
}

// askBehind is sendOne for a page behind another one. If the row of the cursor is gone, a refusal
// is right, and the response holds the page that gave the cursor, as it is now.
func (api *API) askBehind(k Call, request client.Request) Response {
	var r, open Response
	api.Client.DoWith(api.Ctx, request, func(ex client.Exchange) {
		r = api.judged(k, ex)
		if ex.Status/100 == 4 {
			open = api.judged(k.MayBeRefused(), ex)
		}
	})
	if r.Err != nil || r.Status/100 != 4 || !k.Allowed.Valid() {
		return r
	}
	page, back := api.pageBefore(k)
	if back == 0 {
		return r
	}
	ObserveOn(api, k.Operation.ID, spec.OpenPointDeletedCursor, "refused: %d", r.Status)
	open.Again, open.back = &page, back
	return open
}

// pageBefore reads the page that gave the cursor of a refused call until it gives another one:
// then a row that the cursor may name is gone. back is how many pages before the refused one it
// is: if the cursor of that page is refused, too, the page before it counts. back is 0 if the
// same cursor is served after all.
func (api *API) pageBefore(k Call) (page Response, back int) {
	refusable := func(k Call) Response {
		k = k.MayBeRefused()
		r := api.sendOne(k, k.request())
		api.record(r)
		return r
	}
	api.look(func() bool {
		switch page = refusable(*k.from); {
		case page.OK():
			page.Call = *k.from
			if page.Cursor() != k.Query.Get(CursorParameter(api, k.Operation)) {
				back = 1
			}
		case page.Status/100 == 4 && k.from.from != nil:
			if page, back = api.pageBefore(*k.from); back > 0 {
				back++
			}
		}
		return back > 0 || refusable(k).Status/100 != 4
	})
	return page, back
}
