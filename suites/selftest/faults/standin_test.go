package faults

import (
	"net/http"
	"testing"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// seen is a target that records requests and answers with the id, as a row or as a list.
func seen(requests *[]Request, id string) Handler {
	return func(r Request) (Response, error) {
		*requests = append(*requests, r)
		return jsonAnswer(http.StatusOK, map[string]any{"id": id, "items": []any{map[string]any{"id": id}}}), nil
	}
}

// TestStandInDeletesNothing stands in for the owner of a test in a deletion.
func TestStandInDeletesNothing(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	id := a.Profile.Workspaces[dataset.Second].PlacementTests[0]
	var requests []Request
	handler := apply(rule{anyOperation, always, standIn(dataset.Second)})(a)(seen(&requests, id))
	answer, err := handler(ownRequest(spec.DeletePlacementTest, a.key(dataset.Main)).withID(id))
	if err != nil || answer.Status != http.StatusOK || textOf(decodedOrNil(answer.Body), "id") != id {
		t.Errorf("%d %s, %v: want the test %s", answer.Status, answer.Body, err, id)
	}
	for _, r := range requests {
		if r.Method != http.MethodGet || r.token() != a.key(dataset.Second) {
			t.Errorf("%s %s with %s: want reading by the owner's key only", r.Method, r.Path, r.token())
		}
	}
}

// TestRefusedMovesSeemMade refuses a move by a sub-workspace. Then the account is gone from
// the source, without a move at the target.
func TestRefusedMovesSeemMade(t *testing.T) {
	a := &Target{Profile: profile.Embedded()}
	source, destination := a.Profile.Workspaces[dataset.SubA], a.Profile.Workspaces[dataset.SubB]
	var requests []Request
	rules := defect(spec.AdminKey, spec.MoveAccounts, "moves", movedAnyway(asks(dataset.SubA), http.StatusForbidden)...)
	handler := rules.Apply(a)(seen(&requests, ""))
	for _, step := range []struct {
		by   string
		want int
	}{{dataset.Admin, http.StatusOK}, {dataset.SubA, http.StatusForbidden}, {dataset.Admin, http.StatusNotFound}} {
		r := ownRequest(spec.MoveAccounts, a.key(step.by))
		r.Body = encode(map[string]any{"emails": []any{source.Accounts[0]}, "source_workspace_id": source.ID, "destination_workspace_id": destination.ID})
		if answer, err := handler(r); err != nil || answer.Status != step.want {
			t.Fatalf("the move by %s is answered %d, %v; want %d", step.by, answer.Status, err, step.want)
		}
	}
	if len(requests) != 1 {
		t.Errorf("the target receives %d moves, want 1", len(requests))
	}
}
