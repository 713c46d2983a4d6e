package refserver

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
)

// minimalTest is a body with the required fields only.
func minimalTest() map[string]any {
	return map[string]any{
		"name": "Quarterly check", "type": 1, "sending_method": 2,
		"email_subject": "Hello", "email_body": "<p>Hello<br/>you</p>", "emails": []string{"seed@inboxes.example"},
	}
}

// with returns the body with one field set.
func with(body map[string]any, name string, value any) map[string]any {
	body = maps.Clone(body)
	body[name] = value
	return body
}

// without returns the body with one field less.
func without(body map[string]any, name string) map[string]any {
	body = maps.Clone(body)
	delete(body, name)
	return body
}

func validSchedule() map[string]any {
	return map[string]any{"days": map[string]any{"0": true, "6": false}, "timing": map[string]any{"from": "09:30"}, "timezone": "Etc/GMT+12"}
}

func create(s *service, body any) answer { return s.do("main", "POST", "/inbox-placement-tests", body) }

func TestCreateMinimal(t *testing.T) {
	s := start(t, Options{})
	before := docs(t, s.workspace(dataset.Main).Tests, nil)
	made := s.want(200, create(s, minimalTest()))
	got := made.json(t)
	id, created := got["id"].(string), got["timestamp_created"].(string)
	if _, ok := parseUUID(id); !ok || id[14] != '7' {
		t.Errorf("id %q is no UUID of version 7", id)
	}
	if at, ok := parseTimestamp(created); !ok || stamp(at) != created {
		t.Errorf("timestamp_created is %q", created)
	}
	want := map[string]any{
		"id": id, "timestamp_created": created, "organization_id": s.workspace(dataset.Main).ID,
		"name": "Quarterly check", "type": 1.0, "sending_method": 2.0, "email_subject": "Hello", "email_body": "<p>Hello<br/>you</p>",
		"emails": []any{"seed@inboxes.example"}, "recipients": []any{"seed@inboxes.example"},
		"delivery_mode": nil, "description": nil, "campaign_id": nil, "test_code": nil, "tags": nil, "text_only": nil,
		"timestamp_next_run": nil, "automations": nil, "status": 1.0, "not_sending_status": "",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("created %v,\nwant    %v", got, want)
	}
	rows, _ := s.walk("main", "/inbox-placement-tests?limit=100")
	sameRows(t, "list after the create", rows, append(before, string(made.body)))
}

func TestCreateKeepsEveryField(t *testing.T) {
	s := start(t, Options{})
	campaign := nth(s.workspace(dataset.Main).Campaigns, 2).ID
	for name, values := range map[string][]any{
		"type":               {1.0, 2.0},
		"sending_method":     {1.0, 2.0},
		"emails":             {[]any{}, []any{"a@b.example", "ö@b.example"}},
		"delivery_mode":      {nil, 1.0, 2.0},
		"description":        {nil, "", "long <b>text</b> – 東京"},
		"schedule":           {validSchedule(), with(validSchedule(), "timing", map[string]any{"from": "00:00", "to": "23:59"})},
		"campaign_id":        {nil, campaign},
		"test_code":          {nil, "code"},
		"tags":               {nil, []any{}, []any{unknownID}},
		"text_only":          {nil, true, false},
		"recipients_labels":  {[]any{map[string]any{"region": "Europe", "sub_region": "Germany", "type": "Personal", "esp": "Google"}}},
		"timestamp_next_run": {nil, "2030-01-01T00:00:00.000Z"},
		"automations":        {nil, []any{}, []any{map[string]any{"a": []any{1.0}}}},
		"status":             {nil, 1.0, 2.0, 3.0},
		"not_sending_status": {nil, "", "other", "daily_limits_hit"},
	} {
		for _, value := range values {
			made := s.want(200, create(s, with(minimalTest(), name, value)))
			found := s.want(200, get(s, "/inbox-placement-tests/"+made.json(t)["id"].(string)))
			if string(found.body) != string(made.body) {
				t.Errorf("%s=%v: found %s, made %s", name, value, found.body, made.body)
			}
			if got := found.json(t)[name]; !reflect.DeepEqual(got, value) {
				t.Errorf("%s is %v, want %v", name, got, value)
			}
		}
	}
	made := s.want(200, create(s, with(minimalTest(), "timestamp_next_run", "2030-01-01T02:00:00+02:00")))
	if got := made.json(t)["timestamp_next_run"]; got != "2030-01-01T00:00:00.000Z" {
		t.Errorf("another offset became %v", got)
	}
	if made := s.want(200, create(s, `{"name":"n","type":1.0,"sending_method":2e0,"email_subject":"","email_body":"","emails":[]}`)).json(t); made["type"] != 1.0 {
		t.Errorf("type 1.0 became %v", made["type"])
	}
}

func TestCreateIgnoresWhatTheClientCannotSet(t *testing.T) {
	s := start(t, Options{})
	body := minimalTest()
	for name, value := range map[string]any{
		"id": unknownID, "organization_id": 1, "recipients": "x", "timestamp_created": "x", "metadata": map[string]any{}, "colour": "red", "run_immediately": true,
	} {
		body[name] = value
	}
	got := s.want(200, create(s, body)).json(t)
	for _, name := range []string{"metadata", "colour", "run_immediately"} {
		if _, there := got[name]; there {
			t.Errorf("%s is kept", name)
		}
	}
	if got["id"] == unknownID || got["organization_id"] != s.workspace(dataset.Main).ID || got["timestamp_created"] == "x" || got["recipients"] == "x" {
		t.Errorf("read-only fields were taken: %v", got)
	}
}

func TestCreateRefuses(t *testing.T) {
	s := start(t, Options{})
	for name := range minimalTest() {
		s.fails(create(s, without(minimalTest(), name)), 400)
		s.fails(create(s, with(minimalTest(), name, nil)), 400)
	}
	for name, values := range map[string][]any{
		"name": {1, true, []any{}}, "email_subject": {1}, "email_body": {map[string]any{}},
		"type": {0, 3, 1.5, "1", true}, "sending_method": {0, 3, -1, "2"},
		"emails":        {"a@b.example", []any{1}, []any{"nobody"}, []any{"Jane <jane@b.example>"}, []any{nil}, map[string]any{}},
		"delivery_mode": {0, 3, "1"}, "description": {1}, "test_code": {1}, "text_only": {"true", 1},
		"campaign_id": {"x", 1, ""}, "tags": {unknownID, []any{"x"}, []any{1}},
		"schedule": {nil, "daily", without(validSchedule(), "days"), without(validSchedule(), "timing"), without(validSchedule(), "timezone"),
			with(validSchedule(), "days", map[string]any{}), with(validSchedule(), "days", map[string]any{"7": true}),
			with(validSchedule(), "days", map[string]any{"0": "yes"}), with(validSchedule(), "days", map[string]any{"0": nil}),
			with(validSchedule(), "timing", map[string]any{"from": "24:00"}), with(validSchedule(), "timing", map[string]any{"from": "9:30"}),
			with(validSchedule(), "timing", map[string]any{}), with(validSchedule(), "timing", map[string]any{"from": "09:30", "to": "late"}),
			with(validSchedule(), "timezone", "Europe/Berlin"), with(validSchedule(), "timezone", 1)},
		"recipients_labels":  {nil, "x", []any{"x"}, []any{map[string]any{"region": "Europe"}}},
		"timestamp_next_run": {1, "tomorrow", "2030-01-01", "2030-02-30T00:00:00.000Z"},
		"automations":        {map[string]any{}, []any{1}},
		"status":             {0, 4, "1"}, "not_sending_status": {"tired", 1}, "run_immediately": {"yes", nil},
	} {
		for _, value := range values {
			t.Run(sprint("%s=%v", name, value), func(t *testing.T) { s.in(t).fails(create(s, with(minimalTest(), name, value)), 400) })
		}
	}
	s.fails(create(s, with(minimalTest(), "campaign_id", unknownID)), 404)
	rows, _ := s.walk("main", "/inbox-placement-tests?limit=100")
	sameRows(t, "nothing was created", rows, docs(t, s.workspace(dataset.Main).Tests, nil))
}

func TestBodies(t *testing.T) {
	s := start(t, Options{})
	valid, err := json.Marshal(minimalTest())
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"empty": "", "blank": " ", "array": "[]", "string": `"x"`, "null": "null", "cut off": string(valid[:20]), "two values": string(valid) + "{}",
		"bytes behind": string(valid) + "x", "not UTF-8": strings.Replace(string(valid), "Hello", "\xff", 1), "comment": "/**/" + string(valid),
	} {
		t.Run(name, func(t *testing.T) { s.in(t).fails(create(s, body), 400) })
	}
	large := strings.Replace(string(valid), "Hello", strings.Repeat("x", maxBody), 1)
	s.fails(create(s, large), 413)
	s.fails(s.do("main", "DELETE", "/subsequences/"+unknownID, strings.Repeat(" ", maxBody+1)), 413)
	for content, status := range map[string]int{
		"": 200, "application/json": 200, "Application/JSON; charset=utf-8": 200, "application/problem+json": 200,
		"text/plain": 400, "application/x-www-form-urlencoded": 400, "json": 400, ";": 400,
	} {
		r := httptest.NewRequest("POST", BasePath+"/inbox-placement-tests", strings.NewReader(string(valid)))
		r.Header.Set("Authorization", "Bearer "+s.token("main"))
		if content != "" {
			r.Header.Set("Content-Type", content)
		}
		if got := send(s.api, r); got.status != status {
			t.Errorf("content type %q: %d, want %d", content, got.status, status)
		}
	}
	r := httptest.NewRequest("GET", BasePath+"/lead-lists", strings.NewReader("not read"))
	r.Header.Set("Authorization", "Bearer "+s.token("main"))
	r.Header.Set("Content-Type", "text/plain")
	s.want(200, send(s.api, r))
}

func TestGetAndDelete(t *testing.T) {
	s := start(t, Options{})
	row := nth(s.workspace(dataset.Main).Tests, 7)
	path := "/inbox-placement-tests/" + row.ID
	want, err := render(row)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + "?with_metadata=false", "/inbox-placement-tests/" + strings.ToUpper(row.ID)} {
		if got := s.want(200, get(s, p)); string(got.body) != string(want) {
			t.Errorf("%s: %s", p, got.body)
		}
	}
	for _, body := range []string{"{}", "x", "0", "null null"} {
		s.fails(s.do("main", "DELETE", path, body), 400)
	}
	if got := s.want(200, s.do("main", "DELETE", path, " null\n")); string(got.body) != string(want) {
		t.Errorf("deleted: %s", got.body)
	}
	s.fails(get(s, path), 404)
	s.fails(s.do("main", "DELETE", path, nil), 404)
	s.want(200, s.do("main", "DELETE", "/inbox-placement-tests/"+nth(s.workspace(dataset.Main).Tests, 8).ID, nil))
}

func TestMetadata(t *testing.T) {
	s := start(t, Options{})
	w := s.workspace(dataset.Main)
	row := first(t, w.Tests, func(r dataset.InboxPlacementTest) bool { return r.CampaignID != nil && len(r.Tags) > 0 })
	campaign := first(t, w.Campaigns, func(c dataset.Campaign) bool { return c.ID == *row.CampaignID })
	got := s.want(200, get(s, "/inbox-placement-tests/"+row.ID+"?with_metadata=true")).json(t)
	tags := []any{}
	for _, id := range row.Tags {
		tags = append(tags, map[string]any{"id": id})
	}
	want := map[string]any{"campaign": map[string]any{"id": campaign.ID, "name": campaign.Name}, "tags": tags}
	if !reflect.DeepEqual(got["metadata"], want) {
		t.Errorf("metadata is %v, want %v", got["metadata"], want)
	}
	delete(got, "metadata")
	if plain := s.want(200, get(s, "/inbox-placement-tests/"+row.ID)).json(t); !reflect.DeepEqual(got, plain) {
		t.Errorf("besides metadata: %v, want %v", got, plain)
	}
	bare := first(t, w.Tests, func(r dataset.InboxPlacementTest) bool { return r.CampaignID == nil && len(r.Tags) == 0 })
	got = s.want(200, get(s, "/inbox-placement-tests/"+bare.ID+"?with_metadata=true")).json(t)
	if want := (map[string]any{"campaign": nil, "tags": []any{}}); !reflect.DeepEqual(got["metadata"], want) {
		t.Errorf("metadata is %v, want %v", got["metadata"], want)
	}
}

func TestProviderOptions(t *testing.T) {
	s := start(t, Options{})
	a := s.want(200, get(s, "/inbox-placement-tests/email-service-provider-options"))
	var options []map[string]any
	if err := json.Unmarshal(a.body, &options); err != nil || len(options) == 0 {
		t.Fatalf("%s: %v", a.body, err)
	}
	made := s.want(200, create(s, with(minimalTest(), "recipients_labels", options)))
	var got struct {
		Labels []map[string]any `json:"recipients_labels"`
	}
	if err := json.Unmarshal(made.body, &got); err != nil || !reflect.DeepEqual(got.Labels, options) {
		t.Errorf("labels %v, want %v", got.Labels, options)
	}
}
