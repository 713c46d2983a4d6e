package generate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
)

// Request is one request of a phase.
type Request struct {
	Label  string // names its kind, e.g. "campaigns.list limit=100": figures are broken down by it
	Method string // empty means GET
	Path   string // percent-encoded, with the query, from the server's root: /api/v2/campaigns?limit=100
	Body   []byte // JSON; empty for none. It is not changed.
	Key    client.Key
	Asked  judge.Asked // for the inspector
}

// Source returns the request at a place of the schedule, the whole one when the
// phase is a shard. It is deterministic, safe for concurrent use, and quick: it
// is called when the request is due.
type Source func(seq uint64) Request

// build makes the net/http form of the request. The address is the target's and
// what follows it begins with a slash, so that no path leads to another host.
func (q Request) build(ctx context.Context, base string) (*http.Request, error) {
	if !strings.HasPrefix(q.Path, "/") {
		return nil, fmt.Errorf("generate: request %q: its path %q does not begin with a slash", q.Label, q.Path)
	}
	var body io.Reader
	if len(q.Body) > 0 {
		body = bytes.NewReader(q.Body)
	}
	r, err := http.NewRequestWithContext(ctx, q.Method, base+q.Path, body)
	if err != nil {
		return nil, fmt.Errorf("generate: request %q: %w", q.Label, err)
	}
	r.Header["User-Agent"] = []string{client.UserAgent}
	r.Header["Accept-Encoding"] = []string{"identity"} // or else a server may choose to compress
	if body != nil {
		r.Header["Content-Type"] = []string{"application/json"}
	}
	if q.Key.Token != "" {
		r.Header["Authorization"] = []string{"Bearer " + q.Key.Token}
	}
	return r, nil
}
