package variants_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/schemas/contract"
	"outreach.example/conformance/schemas/variants"
	"outreach.example/conformance/spec"
)

const someID = "01890a5d-ac96-774b-bcce-b302099a0500"

// check reports what openapi3filter finds wrong with a request.
func check(t *testing.T, op spec.Operation, query url.Values, body any) error {
	t.Helper()
	doc, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	var encoded []byte
	if body != nil {
		if encoded, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), op.Method, "http://localhost"+op.URLPath(someID)+"?"+query.Encode(), bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer key")
	if encoded != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if found := doc.Judge(request, encoded).Violations; found != nil {
		return fmt.Errorf("%v", found)
	}
	return nil
}

func TestVariantsOfBodies(t *testing.T) {
	bodies := 0
	for _, op := range spec.Operations() {
		example := variants.Example(op.ID)
		if example == nil {
			continue
		}
		bodies++
		if err := check(t, op, nil, example); err != nil {
			t.Errorf("%s: the example: %v", op.ID, err)
		}
		for _, part := range variants.Body(op.ID) {
			with := func(value any) map[string]any {
				body := maps.Clone(example)
				body[part.Name] = value
				return body
			}
			for _, v := range part.Valid {
				if err := check(t, op, nil, with(v.Value)); err != nil {
					t.Errorf("%s: %s with %s: %v", op.ID, part.Name, v.What, err)
				}
			}
			for _, v := range part.Invalid {
				if check(t, op, nil, with(v.Value)) == nil {
					t.Errorf("%s: %s with %s is valid: %v", op.ID, part.Name, v.What, v.Value)
				}
			}
			for _, v := range part.Loose {
				if check(t, op, nil, with(v.Value)) == nil {
					t.Errorf("%s: %s with %s is valid: %v", op.ID, part.Name, v.What, v.Value)
				}
			}
			if len(part.Invalid) < 2 {
				t.Errorf("%s: %d invalid values of %s", op.ID, len(part.Invalid), part.Name)
			}
			absent := with(nil)
			delete(absent, part.Name)
			if err := check(t, op, nil, absent); (err != nil) != part.Required {
				t.Errorf("%s without %s: %v", op.ID, part.Name, err)
			}
		}
	}
	if bodies != 4 {
		t.Errorf("%d operations with a body, want 4", bodies)
	}
}

func TestVariantsOfQueries(t *testing.T) {
	parameters := 0
	for _, op := range spec.Operations() {
		for _, part := range variants.Query(op.ID) {
			parameters++
			for _, v := range part.Valid {
				if err := check(t, op, url.Values{part.Name: {fmt.Sprint(v.Value)}}, nil); err != nil {
					t.Errorf("%s: %s=%v: %v", op.ID, part.Name, v.Value, err)
				}
			}
			for _, v := range part.Invalid {
				if check(t, op, url.Values{part.Name: {fmt.Sprint(v.Value)}}, nil) == nil {
					t.Errorf("%s: %s=%v is valid", op.ID, part.Name, v.Value)
				}
			}
		}
	}
	if parameters != 43 {
		t.Errorf("%d parameters, want 43", parameters)
	}
}

func TestLooseValues(t *testing.T) {
	parts := variants.Body(spec.CreatePlacementTest)
	for name, want := range map[string]string{
		"type":      `"1" true`,
		"text_only": `"true" "false" 1`,
		"name":      `7 true`,
	} {
		if got := values(find(t, parts, name).Loose); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := values(find(t, parts, "schedule").Loose); !strings.Contains(got, `"from":"23:59\n"`) || !strings.Contains(got, `"days":{"1":"true"}`) {
		t.Errorf("schedule: %s", got)
	}
}

// find returns the variants of one part.
func find(t *testing.T, parts []variants.Part, name string) variants.Part {
	t.Helper()
	i := slices.IndexFunc(parts, func(p variants.Part) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no part %s", name)
	}
	return parts[i]
}

func values(all []variants.Variant) string {
	var texts []string
	for _, v := range all {
		encoded, _ := json.Marshal(v.Value)
		texts = append(texts, string(encoded))
	}
	return strings.Join(texts, " ")
}

// The generator is systematic: each value of a set, both ends of a range, null.
func TestVariantsAreSystematic(t *testing.T) {
	body := variants.Body(spec.CreatePlacementTest)
	for name, want := range map[string]string{
		"type":               "1 2",
		"status":             "1 2 3 null",
		"not_sending_status": `"daily_limits_hit" "other" "" null`,
		"text_only":          "true false null",
		"run_immediately":    "true false",
	} {
		if got := values(find(t, body, name).Valid); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"type":   `"conformance" {"conformance":7} [[7]] null 0 3 1.5 -3`,
		"status": `"conformance" {"conformance":7} [[7]] 0 4 1.5 -4`,
	} {
		if got := values(find(t, body, name).Invalid); got != want {
			t.Errorf("invalid values of %s: %s, want %s", name, got, want)
		}
	}
	zones, times := map[any]bool{}, map[any]bool{}
	for _, v := range find(t, body, "schedule").Valid {
		schedule := v.Value.(map[string]any)
		zones[schedule["timezone"]] = true
		if timing, ok := schedule["timing"].(map[string]any); ok {
			times[timing["from"]] = true
		}
	}
	delete(zones, nil)
	if len(zones) != 102 || !times["00:00"] || !times["23:59"] || len(times) != 2 {
		t.Errorf("%d timezones, times %v", len(zones), times)
	}
	limit := find(t, variants.Query(spec.ListMembers), "limit")
	if values(limit.Valid) != "1 100" || values(limit.Invalid) != "0 101" {
		t.Errorf("limits %s and not %s", values(limit.Valid), values(limit.Invalid))
	}
}

func TestReadOnlyMembersAreNoParts(t *testing.T) {
	for _, part := range variants.Body(spec.CreatePlacementTest) {
		if slices.Contains(spec.CreateReadOnly, part.Name) {
			t.Errorf("%s is read-only", part.Name)
		}
		if part.Required != slices.Contains(spec.CreateRequired, part.Name) {
			t.Errorf("%s: required %t", part.Name, part.Required)
		}
	}
}
