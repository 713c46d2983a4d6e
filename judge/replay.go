package judge

import (
	"net/http"
	"net/url"

	"outreach.example/conformance/client"
	"outreach.example/conformance/spec"
)

// Replay is a line for a shell that shows again what breaks the requirement. One
// request alone meets no rate limit: where the finding is of a limit, the line
// drives the key there first.
func Replay(requirement string, ex client.Exchange) string {
	list := spec.MustOperation(spec.ListLeadLists)
	read := client.Request{Path: list.Path, Query: url.Values{"limit": {"1"}}}
	switch {
	case requirement == "RATE-RESUMES": // the longest that any client waits must be over
		return ex.CurlAtLimit(read, client.DefaultMaxThrottle)
	case requirement == "RATE-429" || ex.Status == http.StatusTooManyRequests:
		return ex.CurlAtLimit(read, 0)
	default:
		return ex.Curl()
	}
}
