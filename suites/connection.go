package suites

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
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
	valid := k.allowed.Valid()
	if lost(first.Exchange) {
		return api.aloneOnAConnection(k, first)
	}
	if !surprising(valid, first.Exchange) {
		return first
	}
	if api.vain.Add(1) > maxVain || api.sandbox().Permit(api.ctx, api.change(k)) != nil {
		api.vain.Add(-1)
		return first
	}
	again := k.request()
	again.Fresh = true
	second := api.ask(k, again)
	if !better(valid, first.Exchange, second.Exchange) {
		api.hasVerdict(second.Exchange) // that of the first
		return first
	}
	api.vain.Add(-1)
	api.hasVerdict(first.Exchange)
	broken := spec.Pair{Requirement: string(spec.Status200), Operation: k.Operation.ID}
	api.evidence.Assessed(broken, 1)
	expected := strconv.Itoa(second.Status)
	if second.Status != http.StatusOK {
		expected += ", as on a fresh connection"
	}
	api.violated(broken, Finding{first, "status", expected, describeShared(first, second.Status)}, "")
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
		if api.vain.Add(1) > maxVain || api.sandbox().Permit(api.ctx, api.change(k)) != nil {
			api.vain.Add(-1)
			return first
		}
		second := api.ask(k, again)
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
	harmless := client.Request{Operation: list.ID, Method: list.Method, Path: list.Path, Key: api.key(dataset.Main), Fresh: true, Allowed: client.AnyRefusal(http.StatusOK)}
	if !ok || api.Send(api.ctx, harmless).Err != nil {
		return first
	}
	id := k.breaks
	if id == "" && k.allowed.Valid() {
		id = spec.Status200
	} else if id == "" {
		id = spec.StatusAllowed
	}
	broken := id.On(k.Operation.ID)
	api.evidence.Assessed(broken, 1)
	api.violated(broken, Finding{first, "", "a response", "none: the target closed the connection, also twice alone on a fresh one (" + list.ID + " gets a response meanwhile)"}, "")
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
