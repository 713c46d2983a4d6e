package faults

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

// accessDefects returns the defects on permissions, requests and rate limits.
func accessDefects() []Defect {
	return slices.Concat(keyDefects(), billingDefects(), optionalPartDefects(), requestDefects(), rateDefects())
}

// marked is a target that gives every request the same answer.
func marked(Request) (Response, error) {
	return jsonAnswer(http.StatusOK, map[string]any{"marked": true}), nil
}

// validRequest returns a request as a suite sends it.
func validRequest(a *Target, op spec.Operation) Request {
	main, sub, other := a.Profile.Workspaces[dataset.Main], a.Profile.Workspaces[dataset.SubA], a.Profile.Workspaces[dataset.SubB]
	r := Request{Operation: op.ID, Method: op.Method, Path: op.Path, Header: http.Header{}}
	if op.HasPathID() {
		r = r.naming(main.Campaigns[0])
	}
	body := a.validBody(op.ID)
	if op.ID == spec.MoveAccounts {
		body = map[string]any{"emails": []any{sub.Accounts[0]}, "source_workspace_id": sub.ID, "destination_workspace_id": other.ID}
	}
	if body != nil {
		r.Body = encode(body)
	}
	return r.withToken(a.fullKey(op.ID))
}

func TestAccessDefectsLetValidRequestsPass(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	for _, d := range accessDefects() {
		if d.Breaks.Requirement == "SCOPE-ALL-ALL" {
			continue // the key of the valid request is the one that they refuse
		}
		handler := d.Apply(a)(marked)
		for _, op := range spec.Operations() {
			if answer, err := handler(validRequest(a, op)); err != nil || string(answer.Body) != `{"marked":true}` {
				t.Errorf("%s: a valid request for %s is answered %d %s", d.ID, op.ID, answer.Status, answer.Body)
			}
		}
	}
}

// TestMistakesMatchOnlyInvalidBodies checks that a defect that accepts an
// invalid value ignores every valid body, and that each invalid value has such
// a defect.
func TestMistakesMatchOnlyInvalidBodies(t *testing.T) {
	request := func(body map[string]any) Request {
		return Request{Operation: spec.CreatePlacementTest, Body: encode(body)}
	}
	found := func(r Request) []string {
		var requirements []string
		for _, f := range createFields() {
			if slices.ContainsFunc(f.mistakes, func(m mistake) bool { return f.hasMistake(r, m) }) {
				requirements = append(requirements, f.requirement)
			}
		}
		return requirements
	}
	campaign := profile.Embedded().Workspaces[dataset.Main].Campaigns[0]
	rapid.Check(t, func(t *rapid.T) {
		body := fixtures.PlacementTest(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), "valid")
		for _, f := range fixtures.PlacementTestOptional() {
			if value, ok := f.Value(fixtures.Inputs{CampaignID: campaign, TagIDs: []string{campaign}}); ok && rapid.Bool().Draw(t, f.Name) {
				body[f.Name] = value
			}
		}
		if r := found(request(body)); r != nil {
			t.Fatalf("%v are found broken by the valid body %s", r, encode(body))
		}
	})
	for _, part := range variants.Body(spec.CreatePlacementTest) {
		for _, invalid := range part.Invalid {
			body := fixtures.PlacementTest(rand.New(rand.NewPCG(1, 0)), "valid")
			body[part.Name] = invalid.Value
			if r, want := found(request(body)), "REQUEST-INVALID-"+strings.ToUpper(part.Name); !slices.Equal(r, []string{want}) {
				t.Errorf("%s with %s: %v found broken, want %s", part.Name, invalid.What, r, want)
			}
		}
		for _, valid := range part.Valid {
			body := fixtures.PlacementTest(rand.New(rand.NewPCG(1, 0)), "valid")
			body[part.Name] = valid.Value
			if r := found(request(body)); r != nil {
				t.Errorf("%s with %s: %v found broken", part.Name, valid.What, r)
			}
		}
	}
}

func TestARepairedBodyIsValid(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	for _, f := range bodyFields {
		if f.operation == spec.MoveAccounts {
			continue // taken without asking the target
		}
		want := a.validBody(f.operation)
		sent := a.validBody(f.operation)
		sent[f.field] = "wrong"
		if slices.Contains(spec.CreateOptional, f.field) {
			delete(want, f.field)
		}
		var forwarded Request
		next := func(r Request) (Response, error) { forwarded = r; return marked(r) }
		if _, err := f.repaired(a)(next, Request{Operation: f.operation, Body: encode(sent)}); err != nil {
			t.Fatal(err)
		}
		if string(forwarded.Body) != string(encode(want)) {
			t.Errorf("%s: %s is forwarded, want %s", f.requirement, forwarded.Body, encode(want))
		}
	}
}

func TestStandInAnswersInTheAskersName(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	main, unpaidSpace := a.Profile.Workspaces[dataset.Main], a.Profile.Workspaces[dataset.Unpaid]
	r := Request{Operation: spec.DeletePlacementTest, Method: http.MethodDelete, Header: http.Header{}}
	r = r.naming(unpaidSpace.PlacementTests[0]).withToken(a.key(dataset.Unpaid))
	var asked []Request
	next := func(r Request) (Response, error) {
		asked = append(asked, r)
		return jsonAnswer(http.StatusOK, map[string]any{"id": r.ID, "organization_id": main.ID}), nil
	}
	answer, err := a.standIn()(next, r)
	if err != nil || textIn(answer, "id") != r.ID || textIn(answer, "organization_id") != unpaidSpace.ID {
		t.Errorf("%s, %v: want the test %s of %s", answer.Body, err, r.ID, unpaidSpace.ID)
	}
	if len(asked) != 1 || asked[0].Method != http.MethodGet || asked[0].token() != a.key(dataset.Main) {
		t.Errorf("%+v was asked: want one reading by the main key, and no deletion", asked)
	}
}

func TestAStandInCreationIsDeleted(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	there := map[string]bool{}
	next := func(r Request) (Response, error) {
		switch r.Operation {
		case spec.CreatePlacementTest:
			there[someID] = true
		case spec.DeletePlacementTest:
			delete(there, r.ID)
		}
		return jsonAnswer(http.StatusOK, map[string]any{"id": someID}), nil
	}
	create := validRequest(a, spec.MustOperation(spec.CreatePlacementTest)).withToken(a.key(dataset.Unpaid))
	if answer, err := a.standIn()(next, create); err != nil || textIn(answer, "id") != someID || len(there) > 0 {
		t.Errorf("%s, %v, and %v is still there", answer.Body, err, there)
	}
}

func TestAccountsThatSeemToHaveMoved(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	handler := movedAnyway("ADMIN-KEY", withoutAdminKey[0], http.StatusForbidden).Apply(a)(marked)
	valid := validRequest(a, spec.MustOperation(spec.MoveAccounts))
	for _, step := range []struct {
		by   string
		want int
	}{{dataset.Admin, http.StatusOK}, {dataset.SubA, http.StatusForbidden}, {dataset.Admin, http.StatusNotFound}} {
		if answer, err := handler(valid.withToken(a.key(step.by))); err != nil || answer.Status != step.want {
			t.Fatalf("the move by %s is answered %d, %v; want %d", step.by, answer.Status, err, step.want)
		}
	}
}

func TestAskersOfMoves(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	askers := append(slices.Clone(withoutAdminKey), intoOutside, outOfOutside)
	for _, c := range []struct {
		by, from, to string
		want         []string
	}{
		{dataset.Admin, dataset.SubA, dataset.SubB, nil},
		{dataset.SubA, dataset.SubA, dataset.SubB, []string{"source-key"}},
		{dataset.SubB, dataset.SubA, dataset.SubB, []string{"destination-key"}},
		{dataset.Second, dataset.SubA, dataset.SubB, []string{"stranger-key"}},
		{dataset.OutsiderAdmin, dataset.SubA, dataset.SubB, nil}, // an admin workspace, but of others
		{dataset.Admin, dataset.SubA, dataset.Outsider, []string{"destination-outside"}},
		{dataset.Admin, dataset.Outsider, dataset.SubA, []string{"source-outside"}},
	} {
		r := validRequest(a, spec.MustOperation(spec.MoveAccounts)).withToken(a.key(c.by))
		r.Body = encode(map[string]any{"emails": []any{"a@example.com"},
			"source_workspace_id": a.Profile.Workspaces[c.from].ID, "destination_workspace_id": a.Profile.Workspaces[c.to].ID})
		var fit []string
		for _, by := range askers {
			if by.fits(a, r) {
				fit = append(fit, by.name)
			}
		}
		if !slices.Equal(fit, c.want) {
			t.Errorf("%s moves from %s to %s: %v, want %v", c.by, c.from, c.to, fit, c.want)
		}
	}
}

func TestTenfoldLimit(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	a.Profile.RateLimit = &profile.RateLimit{Requests: 2}
	next := func(r Request) (Response, error) {
		if r.token() == a.key(dataset.Main) {
			return marked(r)
		}
		return refusal(http.StatusTooManyRequests), nil
	}
	handler := beyondLimit(spec.ListLeadLists, "tenfold", "", servingTenfold).Apply(a)(next)
	list := Request{Operation: spec.ListLeadLists, Header: http.Header{}}.withToken(a.key(dataset.Limited))
	served := 0
	for range 30 {
		if answer, _ := handler(list); answer.Status == http.StatusOK {
			served++
		}
	}
	if served != 18 {
		t.Errorf("%d requests are served beyond a limit of 2, want 18", served)
	}
}

func TestKeyIsBlockedAfterItsFirst429(t *testing.T) {
	limited := false
	next := func(r Request) (Response, error) {
		if limited {
			return refusal(http.StatusTooManyRequests), nil
		}
		return marked(r)
	}
	handler := afterLimit(spec.ListLeadLists, refusing(http.StatusForbidden))(next)
	ask := func(operation, token string, want int) {
		t.Helper()
		if answer, _ := handler(Request{Operation: operation, Header: http.Header{}}.withToken(token)); answer.Status != want {
			t.Fatalf("%s by %s is answered %d, want %d", operation, token, answer.Status, want)
		}
	}
	ask(spec.ListLeadLists, "greedy", http.StatusOK)
	limited = true
	ask(spec.ListMembers, "greedy", http.StatusTooManyRequests)
	limited = false
	ask(spec.ListMembers, "greedy", http.StatusOK)
	ask(spec.ListLeadLists, "modest", http.StatusOK)
	ask(spec.ListLeadLists, "greedy", http.StatusForbidden)
}

func TestRefusalsHaveTheUsualBody(t *testing.T) {
	for _, status := range []int{400, 401, 402, 403, 404, 429, 500, 503} {
		var body struct {
			StatusCode     int
			Error, Message string
		}
		answer := refusal(status)
		if err := json.Unmarshal(answer.Body, &body); err != nil || answer.Status != status || body.StatusCode != status || body.Error == "" || body.Message == "" {
			t.Errorf("%d: %s, %v", answer.Status, answer.Body, err)
		}
		if text, documented := spec.ErrorText[status]; documented && body.Error != text {
			t.Errorf("%d: error is %q, want %q", status, body.Error, text)
		}
	}
}
