package traffic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/evidence"
	"outreach.example/conformance/internal/redact"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// sent is an exchange of a test: seconds after the start, the key, the request and the response.
type sent struct {
	at       float64
	key      string // of the profile; "" for no header
	request  string // method and path with query, and the body after a blank
	status   int
	response string
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// entries returns the exchanges as entries of an archive. Each takes 100 ms.
func entries(all ...sent) (list []evidence.Entry) {
	for _, s := range all {
		method, rest, _ := strings.Cut(s.request, " ")
		path, body, _ := strings.Cut(rest, " ")
		e := evidence.Entry{Started: start.Add(time.Duration(s.at * float64(time.Second))), Time: evidence.Millis(100 * time.Millisecond)}
		e.Request = evidence.Request{Method: method, URL: "https://api.example" + path, Headers: []evidence.Pair{{Name: "user-agent", Value: "test"}}, BodySize: len(body)}
		if body != "" {
			e.Request.PostData = &evidence.PostData{Text: body}
			e.Request.Headers = append(e.Request.Headers, evidence.Pair{Name: "content-type", Value: "application/json"})
		}
		if s.key != "" {
			e.Request.Headers = append(e.Request.Headers, evidence.Pair{Name: "authorization", Value: "Bearer " + token(s.key)})
		}
		e.Response = evidence.Response{Status: s.status, Headers: []evidence.Pair{{Name: "content-type", Value: "application/json"}}, Content: evidence.ContentOf([]byte(s.response), "application/json")}
		list = append(list, e)
	}
	return list
}

func token(key string) string { return "token-of-" + key + "-0123456789" }

// id returns a UUID of version 7 of the year 2024: older than the recording.
func id(n int) string { return fmt.Sprintf("018f0000-0000-7000-8000-%012d", n) }

// page returns a page of lead lists.
func page(next string, ids ...int) string {
	var rows []string
	for _, n := range ids {
		rows = append(rows, fmt.Sprintf(`{"id":"%s","name":"list %d","has_enrichment_task":%t}`, id(n), n, n%2 == 0))
	}
	if next != "" {
		next = `,"next_starting_after":"` + next + `"`
	}
	return `{"items":[` + strings.Join(rows, ",") + `]` + next + `}`
}

// described is a profile with keys of two workspaces.
func described() *profile.Profile {
	return &profile.Profile{
		Keys: []profile.Key{
			{Name: "main", Token: token("main"), Workspace: "main", Scopes: []string{"all:all"}, State: profile.KeyActive},
			{Name: "narrow", Token: token("narrow"), Workspace: "main", Scopes: []string{"lead_lists:read"}, State: profile.KeyActive},
			{Name: "none", Token: token("none"), Workspace: "main", State: profile.KeyActive},
			{Name: "gone", Token: token("gone"), Workspace: "main", Scopes: []string{"all:all"}, State: profile.KeyRevoked},
			{Name: "other", Token: token("other"), Workspace: "second", Scopes: []string{"all:all"}, State: profile.KeyActive},
		},
		Workspaces:    map[string]profile.Workspace{"main": {ID: id(901)}, "second": {ID: id(902)}},
		Parameters:    map[string]map[string]string{spec.ListLeadLists: {"starting_after": "starting_after", "has_enrichment_task": "has_enrichment_task"}},
		VisibleWithin: time.Second,
	}
}

const (
	cursor  = "2024-05-01T00:00:00.000Z"
	lists   = "GET /api/v2/lead-lists"
	tests   = "/api/v2/inbox-placement-tests"
	created = `{"name":"a test","type":1,"sending_method":1,"email_subject":"s","email_body":"b","emails":["a@inboxes.example"]}`
)

// test returns a placement test.
func test(n int, name string) string {
	return fmt.Sprintf(`{"id":"%s","organization_id":"%s","name":"%s","type":1,"sending_method":1,"email_subject":"s","email_body":"b","emails":["a@inboxes.example"],
		"recipients":["a@inboxes.example"],"timestamp_created":"2024-05-01T00:00:00.000Z"}`, id(n), id(901), name)
}

// found judges the exchanges, in reverse order if they are many, and returns the outcomes.
func found(t *testing.T, p *profile.Profile, all []evidence.Entry) map[string]reports.Outcome {
	t.Helper()
	j, err := New(p)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, e := range all {
		text, err := json.Marshal(e) // as a file has it
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		var read evidence.Entry
		NewWithT(t).Expect(json.Unmarshal(text, &read)).To(Succeed())
		NewWithT(t).Expect(j.Add(read)).To(Succeed())
	}
	outcomes := map[string]reports.Outcome{}
	for _, c := range j.Results().Checks {
		outcomes[c.Requirement+" "+c.Operation] = c.Outcome
	}
	return outcomes
}

// Each rule on several exchanges finds a small defect, and is silent about what is legal beside it.
func TestRules(t *testing.T) {
	const walk = spec.ListLeadLists
	whole := func(at float64, ids ...int) sent { return sent{at, "main", lists, 200, page("", ids...)} }
	gone := sent{0, "main", "DELETE " + tests + "/" + id(1), 200, test(1, "a test")}
	made := sent{0, "main", "POST " + tests + " " + created, 200, test(1, "a test")}
	const patch = "PATCH " + tests + "/018f0000-0000-7000-8000-000000000001 {}"
	for name, c := range map[string]struct {
		pair          string
		breaks, legal []sent
	}{
		"a limit twice": {"PAGE-LIMIT-HONOURED " + walk,
			[]sent{{0, "main", lists + "?limit=1", 200, page("", 1, 2)}},
			[]sent{{0, "main", lists + "?limit=1&limit=20", 200, page("", 1, 2)}}},
		"a row twice in a walk": {"PAGE-WALK-ONCE " + walk,
			[]sent{{0, "main", lists, 200, page(cursor, 1, 2)}, {1, "main", lists + "?starting_after=" + cursor, 200, page("", 2, 3)}},
			[]sent{{0, "main", lists, 200, page(cursor, 1, 2)}, {1, "main", lists, 200, page(cursor, 1, 2)}, {2, "main", lists + "?starting_after=" + cursor, 200, page("", 3)}}},
		"a cursor again": {"PAGE-WALK-ENDS " + walk,
			[]sent{{0, "main", lists, 200, page(cursor, 1)}, {1, "main", lists + "?starting_after=" + cursor, 200, page(cursor, 2)}},
			[]sent{{0, "main", lists, 200, page(cursor, 1)}, {1, "main", lists + "?starting_after=" + cursor, 200, page(cursor)}}},
		"the order": {"PAGE-ORDER " + walk,
			[]sent{whole(0, 1, 3, 2)},
			[]sent{whole(0, 3, 2, 1)}},
		"a row is left out": {"PAGE-WALK-COMPLETE " + walk,
			[]sent{whole(0, 1, 2, 3), {1, "main", lists + "?limit=50", 200, page("", 1, 3)}, whole(2, 1, 2, 3)},
			[]sent{whole(0, 1, 2, 3), {1, "main", lists + "?limit=50", 200, page("", 1, 3)}, whole(2, 1, 3)}},
		"another key sees fewer rows": {"SCOPE-SAME-ROWS " + walk,
			[]sent{whole(0, 1, 2, 3), {1, "narrow", lists, 200, page("", 1, 3)}, whole(2, 1, 2, 3)},
			[]sent{whole(0, 1, 3), {1, "narrow", lists, 200, page("", 1, 3)}, whole(2, 1, 2, 3)}},
		"a filter shows too much": {"FILTER-ENRICHMENT-EXTRA " + walk,
			[]sent{{0, "main", lists + "?has_enrichment_task=true", 200, page("", 1, 2)}},
			[]sent{{0, "main", lists + "?has_enrichment_task=true", 200, page("", 2)}}},
		"a filter shows too little": {"FILTER-ENRICHMENT-MISSING " + walk,
			[]sent{whole(0, 1, 2, 4), {1, "main", lists + "?has_enrichment_task=true", 200, page("", 2)}, whole(2, 1, 2, 4)},
			[]sent{whole(0, 1, 2, 4), {1, "main", lists + "?has_enrichment_task=true", 200, page("", 2)}, whole(2, 1, 2)}},
		"walks of one query": {"FILTER-WALK " + walk,
			[]sent{{0, "main", lists + "?has_enrichment_task=true", 200, page("", 2, 4)}, {1, "main", lists + "?has_enrichment_task=true&limit=50", 200, page("", 2)}, {2, "main", lists + "?has_enrichment_task=true", 200, page("", 2, 4)}},
			[]sent{{0, "main", lists + "?has_enrichment_task=true", 200, page("", 2, 4)}, {1, "main", lists + "?has_enrichment_task=true&limit=50", 200, page("", 2)}, {2, "main", lists + "?has_enrichment_task=true", 200, page("", 2)}}},
		"a created test": {"STATE-CREATE-NAME " + spec.GetPlacementTest,
			[]sent{made, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "another")}, {2, "main", "GET " + tests, 200, `{"items":[` + test(1, "a test") + `]}`}},
			[]sent{made, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, " a test")}}},
		"a created test until its deletion": {"STATE-CREATE-NAME " + spec.GetPlacementTest,
			[]sent{made, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "another")}, {2, "main", "DELETE " + tests + "/" + id(1), 200, test(1, "a test")}},
			[]sent{made, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "another")}}},
		"a created test and an edit": {"STATE-CREATE-NAME " + spec.GetPlacementTest,
			[]sent{made, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "another")}, {3, "main", "GET " + tests, 200, `{"items":[` + test(1, "a test") + `]}`}, {4, "main", patch, 200, test(1, "b")}},
			[]sent{made, {0.5, "main", patch, 200, test(1, "b")}, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "b")}, {1.5, "main", "GET " + tests, 200, `{"items":[` + test(1, "a test") + `]}`}}},
		"a get after an edit": {"STATE-GET-LIST " + spec.GetPlacementTest,
			[]sent{{0, "main", "GET " + tests, 200, `{"items":[` + test(1, "a") + `]}`}, {0.5, "main", patch, 200, test(1, "b")}, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "b")}, {3, "main", "GET " + tests, 200, `{"items":[` + test(1, "a") + `]}`}},
			[]sent{{0, "main", "GET " + tests, 200, `{"items":[` + test(1, "a") + `]}`}, {0.5, "main", patch, 200, test(1, "b")}, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "b")}}},
		"two edits around a get": {"STATE-GET-LIST " + spec.GetPlacementTest,
			[]sent{{0, "main", "GET " + tests, 200, `{"items":[` + test(1, "a") + `]}`}, {1, "main", "GET " + tests + "/" + id(1), 200, strings.Replace(test(1, "a"), "2024", "2025", 1)}},
			[]sent{{0, "main", "GET " + tests, 200, `{"items":[` + test(1, "a") + `]}`}, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "b")}, {2, "main", "GET " + tests, 200, `{"items":[` + test(1, "c") + `]}`}}},
		"an id twice": {"STATE-CREATE-DISTINCT " + spec.CreatePlacementTest,
			[]sent{made, {1, "main", "POST " + tests + " " + created, 200, test(1, "a test")}},
			[]sent{made, {1, "main", "POST " + tests + " " + created, 200, test(2, "a test")}}},
		"a creation recorded twice": {"STATE-CREATE-DISTINCT " + spec.CreatePlacementTest,
			[]sent{made, {0.05, "main", "POST " + tests + " " + strings.Replace(created, "a test", "b", 1), 200, test(1, "b")}},
			[]sent{made, {0.05, "main", "POST " + tests + " " + created, 200, test(1, "a test")}}},
		"a deleted row in the list": {"STATE-DELETE-LIST " + spec.DeletePlacementTest,
			[]sent{gone, {3, "main", "GET " + tests, 200, `{"items":[` + test(1, "a test") + `]}`}},
			[]sent{gone, {0.5, "main", "GET " + tests, 200, `{"items":[` + test(1, "a test") + `]}`}, {3, "main", "GET " + tests, 200, `{"items":[]}`}}},
		"a deleted row in a get": {"STATE-DELETE-GET " + spec.DeletePlacementTest,
			[]sent{gone, {3, "main", "GET " + tests + "/" + id(1), 200, test(1, "a test")}},
			[]sent{gone, {0.5, "main", "GET " + tests + "/" + id(1), 200, test(1, "a test")}, {3, "main", "GET " + tests + "/" + id(1), 404, `{"statusCode":404,"error":"Not Found","message":"x"}`}}},
		"a get unlike the list": {"STATE-GET-LIST " + spec.GetPlacementTest,
			[]sent{{0, "main", "GET " + tests, 200, `{"items":[` + test(1, "one") + `]}`}, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "two")}, {2, "main", "GET " + tests, 200, `{"items":[` + test(1, "one") + `]}`}},
			[]sent{{0, "main", "GET " + tests, 200, `{"items":[` + test(1, "one") + `]}`}, {1, "main", "GET " + tests + "/" + id(1), 200, test(1, "two")}, {2, "main", "GET " + tests, 200, `{"items":[` + test(1, "two") + `]}`}}},
		"a row of another workspace": {"ISOLATION-LIST " + walk,
			[]sent{whole(0, 1, 2), {1, "other", lists, 200, page("", 2, 3)}},
			[]sent{whole(0, 1, 2), {1, "other", lists, 200, page("", 3)}}},
		"an id of another workspace": {"ISOLATION-ID " + spec.GetPlacementTest,
			[]sent{{0, "main", "GET " + tests, 200, `{"items":[` + test(1, "one") + `]}`}, {1, "other", "GET " + tests + "/" + id(1), 200, test(1, "one")}},
			[]sent{{0, "main", "GET " + tests, 200, `{"items":[` + test(1, "one") + `]}`}, {1, "other", "GET " + tests + "/" + id(1), 403, `<html>`}, {2, "main", "GET " + tests + "/" + id(1), 200, test(1, "one")}}},
		"a key without a scope": {"SCOPE-NONE " + walk,
			[]sent{{0, "none", lists, 200, page("", 1)}},
			[]sent{{0, "none", lists, 403, `<html>`}, whole(1, 1)}},
		"a key with the scope": {"SCOPE-EXACT " + walk,
			[]sent{{0, "narrow", lists, 403, `<html>`}},
			[]sent{{0, "narrow", lists, 429, `{"statusCode":429,"error":"Too Many Requests","message":"x"}`}, {1, "narrow", lists, 200, page("", 1)}}},
		"a revoked key": {"AUTH-KEY-REVOKED " + walk,
			[]sent{{0, "gone", lists, 200, page("", 1)}},
			[]sent{{0, "gone", lists, 401, `{"statusCode":401,"error":"Unauthorized","message":"x"}`}, whole(1, 1)}},
		"no key": {"AUTH-HEADER-MISSING " + walk,
			[]sent{whole(0, 1), {1, "", lists, 200, page("", 1)}},
			[]sent{{0, "", lists, 200, page("", 1)}, {1, "", lists, 200, page("", 1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			broken := entries(c.breaks...)
			g.Expect(found(t, described(), broken)[c.pair]).To(Equal(reports.Fail), "the defect")
			legal := entries(c.legal...)
			g.Expect(found(t, described(), legal)[c.pair]).NotTo(Equal(reports.Fail), "what is legal")
			if len(legal) > 1 && c.legal[0].key != "" && !strings.HasPrefix(name, "no key") {
				slices.Reverse(broken)
				if !strings.HasPrefix(c.pair, "ISOLATION-ID") && !strings.HasPrefix(c.pair, "AUTH-HEADER") {
					g.Expect(found(t, described(), broken)[c.pair]).To(Equal(reports.Fail), "the entries in another order")
				}
			}
		})
	}
}

// Without a profile, nothing is said of names and keys that the specification does not show.
func TestUnknownTarget(t *testing.T) {
	g := NewWithT(t)
	outcomes := found(t, nil, entries(
		sent{0, "main", lists + "?has_enrichment_task=true", 200, page("", 1)},
		sent{1, "none", lists, 403, `<html>`},
		sent{2, "none", "GET " + tests, 401, `<html>`},
		sent{3, "other", lists, 200, page("", 1)}))
	for pair, outcome := range outcomes {
		if !strings.HasPrefix(pair, "SHAPE-") {
			g.Expect(outcome).NotTo(Equal(reports.Fail), pair)
		}
	}
	g.Expect(outcomes["ISOLATION-LIST "+spec.ListLeadLists]).To(Equal(reports.NotAssessed))
}

// What clients sent wrongly is not charged to the server, and its refusal has no shape.
func TestClients(t *testing.T) {
	g := NewWithT(t)
	j, err := New(described())
	g.Expect(err).NotTo(HaveOccurred())
	for _, e := range entries(
		sent{0, "main", lists + "?limit=abc", 400, `<html>`},
		sent{1, "main", "POST " + tests + " {}", 422, `nonsense`},
		sent{1, "main", "POST /api/v2/accounts/move {}", 422, `nonsense`},
		sent{2, "main", lists + "?unknown=1", 200, page("")},
		sent{3, "main", "GET /other", 500, ``}) {
		g.Expect(j.Add(e)).To(Succeed())
	}
	for _, c := range j.Results().Checks {
		g.Expect(c.Outcome).NotTo(Equal(reports.Fail), c.Requirement)
	}
	var rules []string
	for _, k := range j.Clients().Kinds {
		rules = append(rules, k.Rule)
	}
	g.Expect(rules).To(ContainElements("query-value", "missing-member", "unknown-query"))
	g.Expect(j.Others).To(Equal(1))
}

// A response that sends the client to another host, or to https, is no response of the API.
func TestRedirects(t *testing.T) {
	g := NewWithT(t)
	for location, want := range map[string]reports.Outcome{"https://api.example/api/v2/lead-lists": reports.NotAssessed, "/api/v2/lead-lists": reports.Fail, "https://api.example/login": reports.Fail} {
		all := entries(sent{0, "main", lists, 301, ""})
		all[0].Request.URL = "http://api.example/api/v2/lead-lists"
		all[0].Response.Headers = append(all[0].Response.Headers, evidence.Pair{Name: "location", Value: location})
		g.Expect(found(t, described(), all)["STATUS-200 "+spec.ListLeadLists]).To(Equal(want), location)
	}
}

// A program may use a host with keys and another one with a session.
func TestHosts(t *testing.T) {
	all := entries(sent{0, "main", lists, 200, page("", 1)}, sent{1, "", lists, 200, page("", 1)})
	all[1].Request.URL = "https://app.example/api/v2/lead-lists"
	NewWithT(t).Expect(found(t, described(), all)["AUTH-HEADER-MISSING "+spec.ListLeadLists]).NotTo(Equal(reports.Fail))
}

// What browsers leave out is no failure: bodies, keys, responses that a cache answered.
func TestBrowsers(t *testing.T) {
	g := NewWithT(t)
	all := entries(sent{0, "", lists, 200, ""}, sent{1, "", lists, 304, ""}, sent{2, "", "POST " + tests, 200, test(1, "x")}, sent{3, "", lists, 0, ""})
	all[0].Response.Content = evidence.Content{Size: 900}
	all[2].Request.BodySize = -1
	for pair, outcome := range found(t, nil, all) {
		if !strings.HasPrefix(pair, "SHAPE-") {
			g.Expect(outcome).NotTo(Equal(reports.Fail), pair)
		}
	}
	around := entries(sent{0, "main", lists, 200, page("", 1, 2)}, sent{1, "main", lists, 200, ""}, sent{2, "main", lists, 200, page("", 1, 2)})
	around[1].Response.Content = evidence.Content{Size: 900}
	g.Expect(found(t, described(), around)["PAGE-WALK-COMPLETE "+spec.ListLeadLists]).NotTo(Equal(reports.Fail), "a page without its body")
	unread := entries(sent{0, "gone", lists, 200, ""}, sent{1, "main", lists, 429, ""}, sent{2, "gone", "GET " + tests, 401, ""}, sent{3, "main", "GET " + tests + "/" + id(1), 404, ""}, sent{4, "main", "GET " + tests, 200, ""})
	for i := range unread {
		unread[i].Response.Headers, unread[i].Response.Content = nil, evidence.Content{Size: 900}
	}
	for pair, outcome := range found(t, described(), unread) {
		g.Expect(outcome == reports.Fail).To(Equal(pair == "AUTH-KEY-REVOKED "+spec.ListLeadLists), pair)
	}
	j, err := New(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(j.Results().Verdict).To(Equal(reports.Inconclusive), "nothing is confirmed")
}

// What an exchange keeps counts as memory: the bodies, the decoded request and the query.
func TestMemory(t *testing.T) {
	g := NewWithT(t)
	j, err := New(described())
	g.Expect(err).NotTo(HaveOccurred())
	text := strings.Repeat("long ", 1000)
	for _, e := range entries(sent{0, "main", "POST " + tests + " " + strings.Replace(created, "a test", text, 1), 500, "{}"}, sent{2, "main", lists + "?search=" + strings.ReplaceAll(text, " ", "+"), 500, "{}"}) {
		g.Expect(j.Add(e)).To(Succeed())
	}
	g.Expect(j.memory).To(BeNumerically(">", 2*perExchange+2*len(text)+schemas.Memory(j.segment[0].Call.Body)))
	g.Expect(j.waiting).To(Equal(j.memory))
}

// Refusals that cannot wait for the end of the recording are judged at once, or counted.
func TestManyRefusals(t *testing.T) {
	g := NewWithT(t)
	j, err := New(described())
	g.Expect(err).NotTo(HaveOccurred())
	j.waiting = mostWaiting
	for _, e := range entries(sent{0, "main", lists, 500, "{}"}, sent{1, "main", lists, 401, "{}"}) {
		g.Expect(j.Add(e)).To(Succeed())
	}
	g.Expect(j.Unjudged).To(Equal(1))
	g.Expect(j.Results().Verdict).To(BeEquivalentTo(reports.Fail))
}

// The examples of a requirement do not depend on the order of maps.
func TestExamples(t *testing.T) {
	g := NewWithT(t)
	var all []sent
	for n := range 20 {
		all = append(all, sent{float64(n), "main", "POST " + tests + " " + created, 200, test(n%10, "a test")})
	}
	results := func() reports.Results {
		j, err := New(described())
		g.Expect(err).NotTo(HaveOccurred())
		for _, e := range entries(all...) {
			g.Expect(j.Add(e)).To(Succeed())
		}
		return j.Results()
	}
	first := results()
	for range 3 {
		g.Expect(reflect.DeepEqual(results().Checks, first.Checks)).To(BeTrue())
	}
}

// Other credentials than keys of the API are redacted, and parameters that may hold some. An exchange
// with more of them than are remembered is not judged.
func TestSecrets(t *testing.T) {
	g := NewWithT(t)
	j, err := New(nil)
	g.Expect(err).NotTo(HaveOccurred())
	for header, secret := range map[string]string{
		"Token hidden-1-of-token": "hidden-1-of-token",
		"hidden-2-alone":          "hidden-2-alone",
		"Basic " + base64.StdEncoding.EncodeToString([]byte("user:hidden-3-of-basic")): "hidden-3-of-basic",
		"Basic " + base64.StdEncoding.EncodeToString([]byte("hidden-4-of-basic:")):     "hidden-4-of-basic",
	} {
		e := entries(sent{0, "", lists, 401, ""})[0]
		e.Request.Headers = append(e.Request.Headers, evidence.Pair{Name: "authorization", Value: header})
		g.Expect(j.Add(e)).To(Succeed())
		g.Expect(redact.Process.Text("invalid: " + secret)).To(Equal("invalid: [redacted]"))
	}
	e := entries(sent{0, "", lists, 401, ""})[0]
	e.Request.Headers = append(e.Request.Headers, evidence.Pair{Name: "authorization", Value: "Bearer bearer $OUTREACH_KEY_MAIN"})
	g.Expect(j.Add(e)).To(Succeed())
	g.Expect(redact.Process.Text("Bearer $OUTREACH_KEY_MAIN")).To(Equal("Bearer $OUTREACH_KEY_MAIN"))
	for n := range mostKeys + 1 {
		g.Expect(j.Add(entries(sent{0, "", fmt.Sprintf("%s?api_key=hidden-%d-in-query", lists, n), 401, ""})[0])).To(Succeed())
	}
	g.Expect(redact.Process.Text("hidden-0-in-query")).To(Equal("[redacted]"))
	g.Expect(j.hidden).To(HaveLen(mostKeys))
	g.Expect(j.Others).To(Equal(7)) // 6 secrets are of headers
}
