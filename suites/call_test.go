package suites

import (
	"net/http"
	"net/url"
	"testing"

	"outreach.example/conformance/internal/client"
)

// A response depends on the changes of the rows that its request names, and on all of
// them if it names none.
func TestChangesThatLeadToAResponse(t *testing.T) {
	change := func(method, path, made string) client.Step {
		return client.Step{Exchange: client.Exchange{Request: client.Request{Method: method, Path: path}}, Made: made}
	}
	changes := []client.Step{
		change(http.MethodPost, "/tests", "first"),
		change(http.MethodPost, "/tests", "second"),
		change(http.MethodDelete, "/tests/first", ""),
	}
	for name, test := range map[string]struct {
		id    string
		query url.Values
		want  int
	}{
		"a list":                      {want: 3},
		"a page after the first row":  {query: url.Values{"starting_after": {"first"}}, want: 2},
		"a page after the second row": {query: url.Values{"starting_after": {"second"}}, want: 1},
		"the first row":               {id: "first", want: 2},
		"another row":                 {id: "third", want: 0},
	} {
		r := Response{Call: Call{id: test.id}, changes: changes}
		r.Exchange.Request = client.Request{Method: http.MethodGet, Path: "/tests/" + test.id, Query: test.query}
		if got := len(r.leading()); got != test.want {
			t.Errorf("%s: %d changes instead of %d", name, got, test.want)
		}
	}
}
