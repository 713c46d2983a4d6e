package generate

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
)

// Request is one request of a phase.
type Request struct {
	Label  string // its kind, e.g. "campaigns.list limit=100"; figures are broken down by it
	Method string // empty means GET
	Path   string // percent-encoded, with the query, from the server's root: /api/v2/campaigns?limit=100
	Body   []byte // JSON; empty for none; it is not changed
	Key    client.Key
	Asked  judge.Request // for the inspector
}

// Mix returns the request at a place of the whole schedule. It must be
// deterministic, so that shards together send what the whole would send. It must
// be safe for concurrent use and quick: Vegeta calls it, through attack.Target,
// when the request is due, and again when it is sent.
type Mix func(place uint64) Request

// fill writes the request into the target. The path must begin with a slash, so
// that no request and no key can reach another host than that of the base address.
func (q Request) fill(t *vegeta.Target, opts Options) error {
	if !strings.HasPrefix(q.Path, "/") {
		return fmt.Errorf("generate: request %q: the path %q does not begin with a slash", q.Label, q.Path)
	}
	t.Method, t.URL, t.Body = cmp.Or(q.Method, http.MethodGet), opts.BaseURL+q.Path, q.Body
	t.Header = make(http.Header, 5)
	t.Header["User-Agent"] = []string{opts.UserAgent}
	t.Header["Accept-Encoding"] = []string{"identity"} // without it, a server may compress
	if len(q.Body) > 0 {
		t.Header["Content-Type"] = []string{"application/json"}
	}
	if q.Key.Token != "" {
		t.Header["Authorization"] = []string{"Bearer " + q.Key.Token}
	}
	return nil
}
