package schemas

import (
	"encoding/json"
	"slices"
	"testing"

	"outreach.example/conformance/spec"
)

// requestExample returns the document's example of an operation's request.
func requestExample(t *testing.T, op spec.Operation) map[string]any {
	t.Helper()
	media := operationAt(t, document(t), op).RequestBody.Value.Content.Get("application/json")
	decoded, err := Decode(mustJSON(t, media.Example))
	if err != nil {
		t.Fatal(err)
	}
	return decoded.(map[string]any)
}

// withBody returns the operations whose requests have a body.
func withBody() []spec.Operation {
	return slices.DeleteFunc(spec.Operations(), func(op spec.Operation) bool { return op.Body == "" })
}

func TestRequestExamplesAreValid(t *testing.T) {
	for _, op := range withBody() {
		if findings := validator(t).Request(op, mustJSON(t, requestExample(t, op))); len(findings) > 0 {
			t.Errorf("%s: %+v", op.ID, findings)
		}
	}
}

func TestRequestDamage(t *testing.T) {
	cases := []struct {
		name, op string
		damage   func(map[string]any)
		want     []string
	}{
		{"a required field is missing", spec.CreatePlacementTest, func(r map[string]any) { delete(r, "emails") }, []string{"REQUEST-PRESENT /emails"}},
		{"a wrong type", spec.CreatePlacementTest, func(r map[string]any) { r["type"] = "2" }, []string{"REQUEST-TYPE /type"}},
		{"outside a set", spec.CreatePlacementTest, func(r map[string]any) { r["delivery_mode"] = json.Number("3") }, []string{"REQUEST-VALUE /delivery_mode"}},
		{"null in a nullable set", spec.CreatePlacementTest, func(r map[string]any) { r["delivery_mode"] = nil }, nil},
		{"a read-only field", spec.CreatePlacementTest, func(r map[string]any) { r["id"] = "x" }, []string{"REQUEST-UNKNOWN /id"}},
		{"an undocumented field", spec.CreatePlacementTest, func(r map[string]any) { r["schedule"].(map[string]any)["x/y"] = 1 }, []string{"REQUEST-UNKNOWN /schedule/x~1y"}},
		{"no accounts", spec.MoveAccounts, func(r map[string]any) { r["emails"] = []any{} }, []string{"REQUEST-VALUE /emails"}},
		{"an account with a name", spec.MoveAccounts, func(r map[string]any) { r["emails"] = []any{"Jane <jane@mail.example>"} }, []string{"REQUEST-VALUE /emails/0"}},
		{"no variables", spec.AddCampaignVariables, func(r map[string]any) { delete(r, "variables") }, []string{"REQUEST-PRESENT /variables"}},
		{"one id of a move", spec.MoveLead, func(r map[string]any) { delete(r, "id") }, nil},
		{"two faults", spec.MoveLead, func(r map[string]any) { r["id"], r["x"] = 7, 8 }, []string{"REQUEST-TYPE /id", "REQUEST-UNKNOWN /x"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			op := spec.MustOperation(c.op)
			request := requestExample(t, op)
			c.damage(request)
			if got := brief(validator(t).Request(op, mustJSON(t, request))); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestRequestsWithoutBody(t *testing.T) {
	get, del, move := spec.MustOperation(spec.GetPlacementTest), spec.MustOperation(spec.DeleteSubsequence), spec.MustOperation(spec.MoveLead)
	cases := []struct {
		op   spec.Operation
		body string
		want []string
	}{
		{get, "", nil}, {get, "null", []string{"REQUEST-TYPE "}}, {get, "{}", []string{"REQUEST-TYPE "}},
		{del, "", nil}, {del, "null", nil}, {del, "{}", []string{"REQUEST-TYPE "}},
		{move, "", []string{"REQUEST-JSON "}}, {move, "[]", []string{"REQUEST-TYPE "}},
	}
	for _, c := range cases {
		if got := brief(validator(t).Request(c.op, []byte(c.body))); !slices.Equal(got, c.want) {
			t.Errorf("%s %q: got %q, want %q", c.op.ID, c.body, got, c.want)
		}
	}
}
