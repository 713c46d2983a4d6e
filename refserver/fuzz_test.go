package refserver

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
)

func FuzzCreate(f *testing.F) {
	s := start(f, Options{})
	full, err := json.Marshal(with(with(minimalTest(), "schedule", validSchedule()), "tags", []string{unknownID}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(full))
	f.Add(`{"name":1e999}`)
	f.Add(`{"type":1e5000000}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := s.in(t)
		a := create(s, body)
		if a.status != 200 && a.status != 400 && a.status != 404 && a.status != 413 {
			t.Fatalf("status %d for %q", a.status, body)
		}
		if a.status == 200 {
			var test dataset.InboxPlacementTest
			if err := json.Unmarshal(a.body, &test); err != nil {
				t.Fatal(err)
			}
			if found := get(s, "/inbox-placement-tests/"+test.ID); string(found.body) != string(a.body) {
				t.Fatalf("found %s, made %s", found.body, a.body)
			}
		}
	})
}

func FuzzQuery(f *testing.F) {
	s := start(f, Options{})
	f.Add("limit=3&starting_after=" + unknownID + "&search=x&status=1&sort_order=desc")
	f.Add("date_from=2025-01-01&date_to=9999-12-31T23:59:59.9999Z&skip_blacklist_report=true&test_id=" + unknownID)
	f.Add("resource_ids=%zz")
	f.Fuzz(func(t *testing.T, query string) {
		for _, op := range operations() {
			if op.method != "GET" || strings.Contains(op.path, "{id}") {
				continue
			}
			r := httptest.NewRequest("GET", BasePath+op.path, nil)
			r.URL.RawQuery = query
			r.Header.Set("Authorization", "Bearer "+s.token("main"))
			a := send(s.api, r)
			if (a.status != 200 && a.status != 400) || !json.Valid(a.body) {
				t.Fatalf("GET %s?%s: %d %.200s", op.path, query, a.status, a.body)
			}
		}
	})
}
