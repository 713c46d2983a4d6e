package suites

import (
	"fmt"
	"net/http"
	"strconv"

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
