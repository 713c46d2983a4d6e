package judge

import (
	"net/http"
	"net/url"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// Replay is a line for a shell that shows again what breaks the requirement. One
// request alone meets no rate limit: where the finding is of a limit, the line
// drives the key there first.
func Replay(requirement string, ex client.Exchange) string {
	switch {
	case requirement == "RATE-RESUMES": // the longest that any client waits must be over
		return ex.CurlAtLimit(smallest(), client.DefaultMaxThrottle)
	case requirement == "RATE-429" || ex.Status == http.StatusTooManyRequests:
		return ReplayExcess(ex)
	default:
		return ex.Curl()
	}
}

// ReplayExcess is Replay for any finding of an answer to a request beyond the
// limit, which its requirement and status need not tell: a server error in the
// place of a 429 breaks STATUS-200.
func ReplayExcess(ex client.Exchange) string { return ex.CurlAtLimit(smallest(), 0) }

// smallest is a request that drives a key to its limit.
func smallest() client.Request {
	return client.Request{Path: spec.MustOperation(spec.ListLeadLists).Path, Query: url.Values{"limit": {"1"}}}
}
