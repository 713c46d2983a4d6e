package faults

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"testing"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

func TestEveryKeptFieldIsDamaged(t *testing.T) {
	fields := slices.Concat(spec.CreateRequired, spec.CreateOptional)
	fields = slices.DeleteFunc(fields, func(f string) bool { return f == "run_immediately" }) // is not kept
	for _, f := range testFields {
		if len(f.damages) == 0 {
			t.Errorf("%s has no damage", f.name)
		}
		fields = slices.DeleteFunc(fields, func(name string) bool { return name == f.name })
	}
	if len(fields) > 0 {
		t.Errorf("no damages for %v", fields)
	}
}

// conforming returns a conforming server as a handler and as a fault's target.
func conforming(t *testing.T) (Handler, *Target) {
	t.Helper()
	data, err := dataset.New(dataset.Options{Seed: 1, Rows: 40}) // small, for every list is read often
	if err != nil {
		t.Fatal(err)
	}
	server, err := refserver.New(data, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Serving(server.Handler()), &Target{Profile: profile.FromDataset(data)}
}

// ask sends a request with the full key of a role.
func ask(t *testing.T, h Handler, a *Target, role, operation, id string, body any) Response {
	t.Helper()
	r := Request{Header: http.Header{}}.redirected(operation, id).withToken(a.key(role))
	if body != nil {
		r.Body = encode(body)
	}
	answer, err := h(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// object decodes a resource in an answer.
func object(t *testing.T, answer Response) map[string]any {
	t.Helper()
	body, _ := decode(answer.Body)
	row, ok := body.(map[string]any)
	if !ok || answer.Status != http.StatusOK {
		t.Fatalf("%d %s is no resource", answer.Status, answer.Body)
	}
	return row
}

// fullTest returns a body with every field.
func fullTest(a *Target) map[string]any {
	body := a.validBody(spec.CreatePlacementTest)
	inputs := fixtures.Inputs{
		CampaignID: first(a.Profile.Workspaces[dataset.Main].Campaigns), TagIDs: []string{"0198c0de-0000-7000-8000-000000000001"},
		RecipientsLabels: []any{map[string]any{"region": "Europe", "sub_region": "Germany", "type": "Personal", "esp": "Outlook"}},
	}
	for _, f := range fixtures.PlacementTestOptional() {
		if value, ok := f.Value(inputs); ok {
			body[f.Name] = value
		}
	}
	body["automations"] = []any{map[string]any{"trigger": "spam_rate", "action": "pause"}}
	body["name"], body["email_subject"] = "Prüfung", "Grüße"
	return body
}

// TestFieldDamagesKeepTheShape checks that a damaged field has a different and
// valid value.
func TestFieldDamagesKeepTheShape(t *testing.T) {
	target, a := conforming(t)
	validator, err := schemas.New()
	if err != nil {
		t.Fatal(err)
	}
	made := ask(t, target, a, dataset.Main, spec.CreatePlacementTest, "", fullTest(a))
	subsequences := a.readList(target, spec.ListSubsequences, a.key(dataset.Main))
	rare := []string{"blanks-joined", "lines-joined", "zeros-lost", "first-ten", "first-alone"} // of values that this test lacks
	judge := func(operation, field string, d damage, row map[string]any) {
		before := encode(row)
		d.apply(row, field)
		after := encode(row)
		if slices.Equal(before, after) && !slices.Contains(rare, d.name) {
			t.Errorf("%s of %s: %q changes nothing in %s", field, operation, d.name, before)
		}
		for _, found := range validator.Answer(spec.MustOperation(operation), after).Findings {
			t.Errorf("%s of %s: %q breaks %s: %s", field, operation, d.name, found.Requirement, found.Actual)
		}
	}
	for _, f := range testFields {
		for _, d := range f.damages {
			judge(spec.GetPlacementTest, f.name, d, object(t, made))
		}
	}
	for _, f := range deletedFields[spec.DeletePlacementTest] {
		judge(spec.DeletePlacementTest, f.name, f.damage, object(t, made))
	}
	for _, f := range deletedFields[spec.DeleteSubsequence] {
		judge(spec.DeleteSubsequence, f.name, f.damage, maps.Clone(subsequences[len(subsequences)-1]))
	}
}

// TestDefectsAreHarmless checks that a defect on a vendor's server deletes only
// what was requested or what it created, and nothing with the key of another
// workspace than the requesting one.
func TestDefectsAreHarmless(t *testing.T) {
	target, a := conforming(t)
	second := a.Profile.Workspaces[dataset.Second]
	body := fullTest(a)
	for _, d := range slices.Concat(acceptDefects(), twinDefects(), deleteDefects(), foreignIDDefects(), foreignDeletionDefects()) {
		mayGo := map[string]bool{first(second.PlacementTests): true, first(second.ExpendableSubsequences): true} // asked for below
		h := d.Apply(a)(func(r Request) (Response, error) {
			if r.Method == http.MethodDelete && (!mayGo[r.ID] || r.token() != a.key(dataset.Main)) {
				t.Errorf("%s forwards the deletion of %s", d.ID, r.ID)
			}
			answer, err := target(r)
			if r.Operation == spec.CreatePlacementTest {
				mayGo[textIn(answer, "id")] = true
			}
			return answer, err
		})
		id := textIn(ask(t, h, a, dataset.Main, spec.CreatePlacementTest, "", body), "id")
		if id == "" {
			continue // the defect is to refuse the body
		}
		ask(t, h, a, dataset.Main, spec.CreatePlacementTest, "", body)
		for _, operation := range []string{spec.GetPlacementTest, spec.DeletePlacementTest, spec.GetPlacementTest, spec.DeletePlacementTest} {
			ask(t, h, a, dataset.Main, operation, id, nil)
			ask(t, h, a, dataset.Main, operation, first(second.PlacementTests), nil)
		}
		ask(t, h, a, dataset.Main, spec.DeleteSubsequence, first(second.ExpendableSubsequences), nil)
	}
}

func TestLeaksClaimWhatTheyShow(t *testing.T) {
	target, a := conforming(t)
	for _, operation := range boundTo("ISOLATION-LIST") {
		own, foreign := shown(t, target, a, dataset.Main, operation), shown(t, target, a, dataset.Second, operation)
		leaked := shown(t, leaks[0].apply(a, operation)(target), a, dataset.Main, operation)
		if len(leaked) != len(own)+1 || !slices.ContainsFunc(foreign, func(row map[string]any) bool {
			row = maps.Clone(row)
			claim(operation, row, a.Profile.Workspaces[dataset.Main].ID)
			return reflect.DeepEqual(row, leaked[len(own)])
		}) {
			t.Errorf("%s: the page of %d rows grows to %d and ends in %v", operation, len(own), len(leaked), leaked[len(leaked)-1])
		}
		if again := shown(t, leaks[0].apply(a, operation)(target), a, dataset.Second, operation); !reflect.DeepEqual(again, foreign) {
			t.Errorf("%s: the other workspace's list changed too", operation)
		}
	}
}

// shown returns the rows of a list's first page.
func shown(t *testing.T, h Handler, a *Target, role, operation string) []map[string]any {
	t.Helper()
	body, _ := decode(ask(t, h, a, role, operation, "", nil).Body)
	return rowsIn(operation, body)
}

func TestOwnerOfAForeignResourceIsImpersonated(t *testing.T) {
	target, a := conforming(t)
	second := a.Profile.Workspaces[dataset.Second]
	ids := map[string]string{
		spec.AddCampaignVariables: first(second.Campaigns), spec.MoveLead: first(second.Leads), spec.GetPlacementTest: first(second.PlacementTests),
		spec.DeletePlacementTest: first(second.PlacementTests), spec.DeleteSubsequence: first(second.Subsequences),
	}
	for _, operation := range boundTo("ISOLATION-ID") {
		h := a.onForeign(operation, func(_ Request, _, owners Response) Response { return owners })(target)
		body := a.validBody(operation)
		path := ids[operation]
		if operation == spec.MoveLead {
			body["id"], path = path, ""
		}
		row := object(t, ask(t, h, a, dataset.Main, operation, path, bodyOrNone(body)))
		if textOf(row, "id") != ids[operation] {
			t.Errorf("%s answers with %v for %s", operation, row["id"], ids[operation])
		}
		for _, field := range spec.MustOperation(operation).OwnerFields() {
			if row[field] != a.Profile.Workspaces[dataset.Main].ID {
				t.Errorf("%s names %v as the %s", operation, row[field], field)
			}
		}
	}
}

func bodyOrNone(body map[string]any) any {
	if body == nil {
		return nil
	}
	return body
}

// TestAccountDefectsAnswerSuccess checks that each defect reports success for
// the first move and refuses one of those that follow.
func TestAccountDefectsAnswerSuccess(t *testing.T) {
	for _, d := range accountDefects() {
		target, a := conforming(t)
		h := d.Apply(a)(target)
		from, to := a.Profile.Workspaces[dataset.SubA], a.Profile.Workspaces[dataset.SubB]
		move := func(source, destination profile.Workspace, emails ...string) int {
			return ask(t, h, a, dataset.Admin, spec.MoveAccounts, "", map[string]any{
				"emails": emails, "source_workspace_id": source.ID, "destination_workspace_id": destination.ID}).Status
		}
		if status := move(from, to, from.Accounts...); status != http.StatusOK {
			t.Errorf("%s answers %d to the first move", d.ID, status)
		}
		refused := 0
		for _, email := range from.Accounts {
			if move(to, from, email) != http.StatusOK {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%s: every account could be moved back", d.ID)
		}
	}
}

func TestAsBeforeIsOneMoveBehind(t *testing.T) {
	h := asBefore()(func(r Request) (Response, error) { return Response{http.StatusOK, http.Header{}, r.Body}, nil })
	var seen []any
	for _, subsequence := range []string{"a", "b", "c"} {
		answer, _ := h(Request{Operation: spec.MoveLead, Body: encode(map[string]any{"id": "lead", "subsequence_id": subsequence})})
		seen = append(seen, object(t, answer)["subsequence_id"])
	}
	if want := []any{nil, "a", "b"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("three moves show %v, want %v", seen, want)
	}
}

func TestEventDamagesFindTheirRows(t *testing.T) {
	target, a := conforming(t)
	rows := a.readList(target, spec.ListWebhookEvents, a.key(dataset.Main))
	for _, e := range attemptDamages {
		fit := keepRows(rows, e.fits)
		if len(fit) == 0 || len(fit) == len(rows) && e.damage != "retries-count-down" {
			t.Errorf("%s fits %d of %d attempts", e.damage, len(fit), len(rows))
			continue
		}
		row := maps.Clone(fit[0])
		if e.change(row); reflect.DeepEqual(row, fit[0]) {
			t.Errorf("%s changes nothing in %v", e.damage, row)
		}
	}
}

// TestKeptDefectsServeManyAtOnce is for the race detector.
func TestKeptDefectsServeManyAtOnce(t *testing.T) {
	target, a := conforming(t)
	body := fullTest(a)
	for _, d := range slices.Concat(twinDefects(), deletesMoreDefects(spec.DeletePlacementTest), leadDefects(), accountDefects(), foreignDeletionDefects()) {
		h := d.Apply(a)(target)
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() {
				made := ask(t, h, a, dataset.Main, spec.CreatePlacementTest, "", body)
				ask(t, h, a, dataset.Main, d.Breaks.Operation, textIn(made, "id"), bodyOrNone(a.validBody(d.Breaks.Operation)))
				ask(t, h, a, dataset.Main, spec.DeletePlacementTest, textIn(made, "id"), nil)
			})
		}
		wait.Wait()
	}
}
