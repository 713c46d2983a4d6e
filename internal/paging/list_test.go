package paging

import (
	"context"
	"errors"
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
		"array":       {200, map[string]string{"": `[{"id": "a"}]`}, "a", ""},
		"empty page":  {200, map[string]string{"": `{"items": [], "next_starting_after": "b"}`}, "", ""},
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

func TestAllWithoutAResponse(t *testing.T) {
	lost := errors.New("lost")
	_, err := All(t.Context(), List(func(context.Context, client.Request) client.Exchange {
		return client.Exchange{Err: lost}
	}, client.Request{}, "after"), 2, 3)
	if !errors.Is(err, lost) {
		t.Errorf("error %v", err)
	}
}
