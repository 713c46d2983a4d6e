package judge

import (
	"net/http"
	"net/url"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/spec"
)

// NeedsLimit reports whether Replay first drives the key to its limit.
func NeedsLimit(requirement string, ex client.Exchange) bool {
	return requirement == "RATE-RESUMES" || requirement == "RATE-429" || ex.Status == http.StatusTooManyRequests
}

// Replay returns a shell line that reproduces the violation. For a rate-limit
// violation the line first drives the key to its limit.
func Replay(requirement string, ex client.Exchange) string {
	switch {
	case requirement == "RATE-RESUMES": // the server is given the client's longest wait
		return ex.CurlAtLimit(*Smallest(), client.DefaultMaxThrottle)
	case NeedsLimit(requirement, ex):
		return ReplayExcess(ex)
	default:
		return ex.Curl()
	}
}

// ReplayExcess is Replay for a response to a request beyond the limit. Neither
// requirement nor status may show that: a 5xx in place of a 429 breaks STATUS-200.
func ReplayExcess(ex client.Exchange) string { return ex.CurlAtLimit(*Smallest(), 0) }

// Smallest returns the cheapest request that counts against a key's limit.
func Smallest() *client.Request {
	return &client.Request{Path: spec.MustOperation(spec.Probe()).Path, Query: url.Values{"limit": {"1"}}}
}
