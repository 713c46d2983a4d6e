package paging

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"outreach.example/conformance/internal/client"
)

// answering returns a Sender that answers each request by its cursor.
func answering(status int, bodies map[string]string) Sender {
	return func(_ context.Context, r client.Request) client.Exchange {
		if r.Query.Get("search") != "x" || r.Query.Get("limit") != "2" {
			return client.Exchange{Request: r, Status: http.StatusBadRequest}
		}
		return client.Exchange{Request: r, Status: status, Body: []byte(bodies[r.Query.Get("after")])}
	}
}

func TestAllReadsAListToItsEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		status  int
		bodies  map[string]string
		want    string // keys of the rows
		failure string // part of the error; empty for none
	}{
		"two pages": {200, map[string]string{"": `{"items": [{"id": "a"}, 7, {"id": "b"}], "next_starting_after": "b"}`,
			"b": `{"items": [{"id": "c"}]}`}, "a b c", ""},
		"array":      {200, map[string]string{"": `[{"id": "a"}]`}, "a", ""},
		"empty page": {200, map[string]string{"": `{"items": []}`}, "", ""},
		"empty page that leads on": {200, map[string]string{"": `{"items": [], "next_starting_after": "b"}`,
			"b": `{"items": [{"id": "c"}]}`}, "c", ""},
		"empty page that leads to itself": {200, map[string]string{"": `{"items": [], "next_starting_after": "b"}`,
			"b": `{"items": [], "next_starting_after": "b"}`}, "", ""},
		"null cursor": {200, map[string]string{"": `{"items": [{"id": "a"}], "next_starting_after": null}`}, "a", ""},
		"the second page is missing": {200, map[string]string{"": `{"items": [{"id": "a"}], "next_starting_after": "b"}`,
			"b": `{}`}, "a", "neither a page nor an array"},
		"refused":  {402, map[string]string{"": `{"items": []}`}, "", "status 402"},
		"not JSON": {200, map[string]string{"": `<html>`}, "", "neither a page nor an array"},
		"circle": {200, map[string]string{"": `{"items": [{"id": "a"}], "next_starting_after": "b"}`,
			"b": `{"items": [{"id": "c"}], "next_starting_after": "b"}`}, "a c", ""},
		"too long": {200, map[string]string{"": `{"items": [{"id": "a"}], "next_starting_after": "b"}`,
			"b": `{"items": [{"id": "b"}], "next_starting_after": "c"}`, "c": `{"items": [{"id": "c"}], "next_starting_after": "d"}`}, "a b c", "within 3 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			request := client.Request{Operation: "things.list", Query: url.Values{"search": {"x"}}}
			rows, err := All(t.Context(), List(answering(tc.status, tc.bodies), request, "after"), 2, 3)
			var keys []string
			for _, row := range rows {
				keys = append(keys, row.Key)
			}
			if got := strings.Join(keys, " "); got != tc.want {
				t.Errorf("rows %q, want %q", got, tc.want)
			}
			if (err == nil) != (tc.failure == "") || err != nil && !strings.Contains(err.Error(), tc.failure) {
				t.Errorf("error %v, want %q", err, tc.failure)
			}
			if len(request.Query) != 1 {
				t.Errorf("the caller's query has become %v", request.Query)
			}
		})
	}
}

// A walk over whatever a target answers ends, and reads no row twice as a new one.
func FuzzWalk(f *testing.F) {
	f.Add(`{"items":[{"id":"a"}],"next_starting_after":"1"}`, `{"items":[{"id":"b"}],"next_starting_after":"0"}`, `[]`)
	f.Add(`{"items":[],"next_starting_after":"1"}`, `{}`, `null`)
	f.Add(`[{"id":1},{"id":{}},null,7]`, `{"items":{}}`, `{"items":[{}],"next_starting_after":7}`)
	f.Fuzz(func(t *testing.T, first, second, other string) {
		const maxPages = 5
		asked := 0
		send := func(_ context.Context, r client.Request) client.Exchange {
			asked++
			body := map[string]string{"": first, "1": second}[r.Query.Get("starting_after")]
			if r.Query.Has("starting_after") && body == "" {
				body = other
			}
			return client.Exchange{Request: r, Status: http.StatusOK, Body: []byte(body)}
		}
		w := Run(t.Context(), List(send, client.Request{Operation: "lead-lists.list"}, "starting_after"), Fixed(2), maxPages)
		if asked > maxPages || w.End == Broken && w.Err == nil {
			t.Errorf("%d requests, end %v, error %v", asked, w.End, w.Err)
		}
		_ = w.Rows()
	})
}
