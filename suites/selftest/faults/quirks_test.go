package faults

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// TestQuirksAreDocumented: an id of its own, and something that allows it.
func TestQuirksAreDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, q := range Quirks() {
		if seen[q.ID] {
			t.Errorf("%s stands twice", q.ID)
		}
		seen[q.ID] = true
		family, name, _ := strings.Cut(q.ID, "/")
		if family == "" || name == "" || strings.Contains(name, "+") {
			t.Errorf("%q is not of the form family/name", q.ID)
		}
		if q.Doc == "" || q.Allowed == "" || q.Apply == nil || len(q.Touches) == 0 {
			t.Errorf("%s lacks a sentence, what allows it, what it touches, or the deed", q.ID)
		}
		if strings.HasPrefix(q.Allowed, "SILENT-") {
			if _, ok := spec.FindOpenPoint(q.Allowed); !ok {
				t.Errorf("%s is allowed by %s, which the catalogue does not have", q.ID, q.Allowed)
			}
		} else if section, words, ok := strings.Cut(q.Allowed, ": "); !ok && !strings.HasPrefix(q.Allowed, "the sentences ") || ok && (section == "" || words == "") {
			t.Errorf("%s: %q names no section and what it says", q.ID, q.Allowed)
		}
		for _, pattern := range q.Unassessed {
			if _, err := path.Match(pattern, ""); err != nil {
				t.Errorf("%s: %q is no pattern", q.ID, pattern)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d quirks", len(seen))
	}
}

// TestGroups: each quirk is in one group, no two of a group touch the same thing, and the seed
// decides.
func TestGroups(t *testing.T) {
	const most = 4
	divisions := map[string]bool{}
	for seed := range uint64(20) {
		grouped, ids := map[string]bool{}, ""
		for _, group := range Groups(seed, Quirks(), most) {
			touched := map[string]bool{}
			for _, q := range group {
				if grouped[q.ID] || len(group) > most || slices.ContainsFunc(q.Touches, func(what string) bool { return touched[what] }) {
					t.Errorf("seed %d: %s cannot be in a group of %d with %v", seed, q.ID, len(group), touched)
				}
				grouped[q.ID] = true
				for _, what := range q.Touches {
					touched[what] = true
				}
			}
			ids += " " + Combine(group...).ID
		}
		if len(grouped) != len(Quirks()) {
			t.Errorf("seed %d: %d quirks are in groups", seed, len(grouped))
		}
		divisions[ids] = true
	}
	if len(divisions) != 20 {
		t.Errorf("20 seeds divide the quirks in %d ways", len(divisions))
	}
}

var smallData = sync.OnceValue(func() *dataset.Data {
	data, err := dataset.New(dataset.Options{Seed: 1, Rows: 28, RowsOf: map[string]int{"phone-numbers": 3}})
	if err != nil {
		panic(err)
	}
	return data
})

// references are servers that no test uses at the moment.
var references sync.Pool

// reference returns an honest handler as if it were fresh, and its profile.
func reference(t *testing.T) (Handler, *profile.Profile) {
	t.Helper()
	server, ok := references.Get().(*refserver.Server)
	if !ok {
		stopped := func() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) }
		var err error
		if server, err = refserver.New(smallData(), refserver.Options{Clock: stopped}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		server.Reset()
		references.Put(server)
	})
	known := profile.FromDataset(smallData())
	known.VisibleWithin = time.Hour // what is late stays so while a test asks
	return reencoded(Serving(server.Handler())), known
}

// reencoded encodes the bodies of the reference server as faults do. What a fault merely
// encodes again is then no difference.
func reencoded(h Handler) Handler {
	return func(r Request) (Response, error) {
		answer, err := h(r)
		if value := decodedOrNil(answer.Body); value != nil {
			answer.Body = encode(value)
		}
		return answer, err
	}
}

// TestQuirksShowAndStayLegal sends the same requests to the honest target and to
// the target with each quirk: something is different, and every 200 answer is of
// the documented shape.
func TestQuirksShowAndStayLegal(t *testing.T) {
	validator, err := schemas.New()
	if err != nil {
		t.Fatal(err)
	}
	honest, profile := reference(t)
	want := transcript(t, honest, profile, false)
	honest, profile = reference(t)
	for i, again := range transcript(t, honest, profile, false) {
		if !again.like(want[i]) {
			t.Fatalf("the honest target answers %s in two ways: %s and %s", again.request.Operation, again.answer.Body, want[i].answer.Body)
		}
	}
	for _, q := range Quirks() {
		if q.ID == "wire/slow" {
			continue // shows in nothing but time
		}
		t.Run(q.ID, func(t *testing.T) {
			t.Parallel()
			handler, profile := reference(t)
			handler = q.Apply(&Target{Profile: profile, Seed: 1})(handler)
			differs := false
			for i, got := range transcript(t, handler, profile, throttles(q)) {
				got.checkShape(t, validator)
				differs = differs || i < len(want) && !got.like(want[i]) || got.answer.Status == http.StatusTooManyRequests
			}
			if !differs {
				t.Error("nothing tells the target from an honest one")
			}
		})
	}
}

func throttles(q Quirk) bool { return strings.HasPrefix(q.ID, "throttle/") }

type said struct {
	request Request
	answer  Response
}

// checkShape holds a 200 answer to the schemas.
func (e said) checkShape(t *testing.T, validator *schemas.Validator) {
	t.Helper()
	op, known := spec.FindOperation(e.request.Operation)
	if e.answer.Status != http.StatusOK || !known || e.answer.Header.Get("Content-Encoding") != "" {
		return
	}
	for _, f := range validator.Answer(op, e.answer.Body).Findings {
		t.Errorf("%s %s breaks %s at %s: %s, not %s", op.ID, e.request.Query.Encode(), f.Requirement, f.Pointer, f.Actual, f.Expected)
	}
}

// newID is what chance puts into the ids that the reference server gives at the
// time at which these tests have stopped it.
var newID = regexp.MustCompile(`019f1d8c-e200-[-0-9a-f]*`)

func (e said) like(other said) bool {
	return e.answer.Status == other.answer.Status && bytes.Equal(newID.ReplaceAll(e.answer.Body, nil), newID.ReplaceAll(other.answer.Body, nil)) &&
		fmt.Sprint(e.answer.Header) == fmt.Sprint(other.answer.Header)
}

// transcript sends requests of every kind that quirks answer in their own way;
// many more of one kind if asked.
func transcript(t *testing.T, h Handler, p *profile.Profile, many bool) []said {
	t.Helper()
	main, second, admin := p.Workspaces[dataset.Main], p.Workspaces[dataset.Second], p.Workspaces[dataset.SubA]
	var all []said
	send := func(key, operation, id string, query url.Values, body string) Response {
		op := spec.MustOperation(operation)
		r := Request{Operation: operation, ID: id, Method: op.Method, Path: strings.Replace(op.Path, "{id}", id, 1), Query: query, Body: []byte(body),
			Header: http.Header{"Authorization": {"Bearer " + tokenOf(p, key)}, "Accept-Encoding": {"gzip"}}}
		if body != "" && body != "no media type" {
			r.Header.Set("Content-Type", "application/json")
		}
		if query == nil {
			r.Query = url.Values{}
		}
		answer, err := h(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, said{r, answer})
		return answer
	}
	q := func(pairs ...string) url.Values {
		values := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			values.Set(pairs[i], pairs[i+1])
		}
		return values
	}
	for _, op := range spec.Operations() {
		if op.Answer == spec.One {
			continue
		}
		send(dataset.Main, op.ID, "", nil, "")
		for _, limit := range []string{"100", "1000", "20", "ten"} {
			send(dataset.Main, op.ID, "", q("limit", limit), "")
		}
		send(dataset.Main, op.ID, "", q("starting_after", "no cursor"), "")
		send(dataset.Main, op.ID, "", q("unknown", "1"), "")
		send(dataset.Main+"-no-scopes", op.ID, "", nil, "")
		send("nobody", op.ID, "", nil, "")
	}
	send(dataset.SubA, spec.ListGroupMembers, "", q("limit", "100"), "")
	const tests, reports, subsequences = spec.ListPlacementTests, spec.ListPlacementReports, spec.ListSubsequences
	for range 12 {
		send(dataset.Main, tests, "", q("limit", "100"), "")
	}
	for test := range smallData().Workspaces[0].Tests {
		send(dataset.Main, tests, "", q("search", test.Name), "")
	}
	send(dataset.Main, tests, "", q("search", "placement of amber"), "")
	send(dataset.Main, tests, "", q("search", "nothing otter"), "")
	send(dataset.Main, tests, "", q("status", "9"), "")
	created := ""
	for report := range smallData().Workspaces[0].Reports {
		created = report.Created
	}
	send(dataset.Main, reports, "", q("date_from", created, "date_to", created), "")
	send(dataset.Main, reports, "", q("date_to", created), "")
	send(dataset.Main, reports, "", q("skip_blacklist_report", "true"), "")
	send(dataset.Main, reports, "", q("test_id", second.PlacementTests[0]), "")
	send(dataset.Main, reports, "", q("test_id", noSuchTest), "")
	send(dataset.Main, subsequences, "", q("limit", "100", "parent_campaign_not", main.Campaigns[0]), "")
	send(dataset.Main, subsequences, "", q("parent_campaign", main.Campaigns[0], "parent_campaign_not", main.Campaigns[0]), "")

	const valid = `{"name":"n","type":1,"sending_method":2,"email_subject":"s","email_body":"b","emails":["a@b.example"]`
	for _, body := range []string{valid + "}", valid + `,"id":"` + noSuchTest + `"}`, valid + `,"unknown":1}`, "{", valid + ",}", "no media type",
		valid + `,"description":""}`, valid + `,"description":"two\nlines"}`, valid + `,"test_code":"two\nlines"}`, valid + `,"description":"` + strings.Repeat("Ein langer Text - und er geht weiter. ", 1000) + `"}`,
		valid + `,"schedule":{"timezone":"Asia/Baku"}}`, valid + `,"schedule":{"days":{"1":false},"timing":{"from":"09:00"},"timezone":"Asia/Baku"}}`, valid + `,"status":1}`,
		strings.Replace(valid, "a@b", "A@b", 1) + "}", valid + `,"text_only":"true"}`} {
		send(dataset.Main, spec.CreatePlacementTest, "", nil, body)
	}
	send(dataset.Main, spec.CreatePlacementTest, "", nil, valid+`,"description":"`+strings.Repeat("long", 8<<10)+`"}`)
	send(dataset.Main, tests, "", q("search", strings.Repeat("long", 1<<10)), "")
	send(strings.Repeat("nobody", 1<<10), tests, "", nil, "")
	send(dataset.Unpaid, spec.CreatePlacementTest, "", nil, "{}")
	for _, id := range []string{main.PlacementTests[0], second.PlacementTests[0], "no-id", noSuchTest} {
		send(dataset.Main, spec.GetPlacementTest, id, q("with_metadata", "true"), "")
		send(dataset.Unpaid, spec.GetPlacementTest, id, nil, "")
	}
	send(dataset.Main, spec.DeletePlacementTest, main.PlacementTests[0], nil, `{}`)
	send(dataset.Main, spec.DeletePlacementTest, main.PlacementTests[1], nil, "")
	send(dataset.Main, spec.GetPlacementTest, main.PlacementTests[1], nil, "")
	created = string(send(dataset.Main, spec.CreatePlacementTest, "", nil, valid+"}").Body)
	send(dataset.Main, spec.GetPlacementTest, textOf(decodedOrNil([]byte(created)), "id"), nil, "")
	send(dataset.Main, spec.DeleteSubsequence, main.ExpendableSubsequences[0], nil, "")
	for _, campaign := range main.Campaigns[:2] {
		send(dataset.Main, spec.AddCampaignVariables, campaign, nil, `{"variables":["v"]}`)
	}
	for _, lead := range main.Leads[:5] {
		send(dataset.Main, spec.MoveLead, "", nil, fmt.Sprintf(`{"id":%q,"subsequence_id":%q}`, lead, main.Subsequences[0]))
	}
	send(dataset.Main, spec.MoveLead, "", nil, fmt.Sprintf(`{"id":%q}`, main.Leads[0]))
	send(dataset.Main, spec.MoveLead, "", nil, fmt.Sprintf(`{"id":%q,"subsequence_id":%q}`, noSuchTest, main.Subsequences[0]))
	subA, subB := admin.ID, p.Workspaces[dataset.SubB].ID
	for _, way := range [][2]string{{subA, subB}, {subB, subA}} {
		send(dataset.Admin, spec.MoveAccounts, "", nil, fmt.Sprintf(`{"emails":[%q],"source_workspace_id":%q,"destination_workspace_id":%q}`, admin.Accounts[0], way[0], way[1]))
	}
	for _, emails := range []string{fmt.Sprintf(`%q,"nobody@x.example"`, admin.Accounts[0]), fmt.Sprintf("%q", admin.Accounts[0])} { // the second shows what the first moved
		send(dataset.Admin, spec.MoveAccounts, "", nil, fmt.Sprintf(`{"emails":[%s],"source_workspace_id":%q,"destination_workspace_id":%q}`, emails, subA, subB))
	}
	for _, body := range []string{`{"emails":["nobody@x.example"],"source_workspace_id":"` + subA + `","destination_workspace_id":"` + subB + `"}`,
		`{"emails":["` + admin.Accounts[0] + `"],"source_workspace_id":"` + subA + `","destination_workspace_id":"` + noSuchTest + `"}`,
		`{"emails":["` + admin.Accounts[0] + `"],"source_workspace_id":"` + subA + `"}`} {
		send(dataset.Admin, spec.MoveAccounts, "", nil, body)
	}
	for _, role := range []string{dataset.Main, dataset.Limited} {
		options, err := h(Request{Method: http.MethodGet, Path: spec.OptionsPath, Query: url.Values{}, Header: http.Header{"Authorization": {"Bearer " + tokenOf(p, role)}}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, said{Request{}, options})
	}
	unknown, err := h(Request{Method: http.MethodGet, Path: "/api/v2/unknown", Query: url.Values{}, Header: http.Header{}})
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, said{Request{}, unknown})
	send(dataset.Main, tests, "", q("limit", "99"), "")
	created = textOf(decodedOrNil(send(dataset.Main, spec.CreatePlacementTest, "", nil, valid+`,"description":"new"}`).Body), "id")
	send(dataset.Main, tests, "", q("limit", "99", "sort_order", "desc"), "")
	send(dataset.Main, tests, "", q("limit", "99"), "")
	send(dataset.Main, tests, "", q("limit", "99", "search", "n"), "")
	for range 2 {
		send(dataset.Main, spec.GetPlacementTest, created, nil, "")
	}
	send(dataset.Main, spec.DeletePlacementTest, created, nil, "")
	rows, cursor, _ := pageIn(send(dataset.Main, subsequences, "", q("limit", "3"), ""))
	if len(rows) > 0 {
		send(dataset.Main, spec.DeleteSubsequence, rows[len(rows)-1].text("id"), nil, "")
		send(dataset.Main, subsequences, "", q("starting_after", cursor), "")
	}
	for i := 0; many && i < 1000; i++ {
		send(dataset.Main, spec.GetPlacementTest, main.PlacementTests[2], nil, "")
	}
	return all
}

func tokenOf(p *profile.Profile, name string) string {
	i := slices.IndexFunc(p.Keys, func(k profile.Key) bool { return k.Name == name })
	if i < 0 {
		return "never-issued-" + name
	}
	return p.Keys[i].Token
}
