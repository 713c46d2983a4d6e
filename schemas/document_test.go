package schemas

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/onsi/gomega"

	"outreach.example/conformance/schemas/internal/format"
	"outreach.example/conformance/spec"
)

func document(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := sharedDocument()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func operationAt(t *testing.T, doc *openapi3.T, op spec.Operation) *openapi3.Operation {
	t.Helper()
	item := doc.Paths.Value(op.Path)
	if item == nil || item.GetOperation(op.Method) == nil {
		t.Fatalf("the document has no %s %s", op.Method, op.Path)
	}
	return item.GetOperation(op.Method)
}

func TestJSONHoldsTheSameDocument(t *testing.T) {
	text, err := ToJSON(OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := load(text)
	if err != nil {
		t.Fatal(err)
	}
	gomega.NewWithT(t).Expect(text).To(gomega.MatchJSON(mustJSON(t, doc)))
}

func TestDocumentHasTheOperations(t *testing.T) {
	doc := document(t)
	count := 0
	for _, item := range doc.Paths.Map() {
		count += len(item.Operations())
	}
	if want := len(spec.Operations()) + 1; count != want { // and the path of unknown shape
		t.Errorf("%d operations, want %d", count, want)
	}
	if options := doc.Paths.Value(spec.OptionsPath); options == nil || options.Get.Extensions["x-shape-not-shown"] != true {
		t.Errorf("%s is not marked as of unknown shape", spec.OptionsPath)
	}
	for _, op := range spec.Operations() {
		t.Run(op.ID, func(t *testing.T) {
			in := operationAt(t, doc, op)
			var scopes []string
			if list, ok := in.Extensions["x-scopes"].([]any); ok {
				for _, scope := range list {
					scopes = append(scopes, fmt.Sprint(scope))
				}
			}
			if !slices.Equal(scopes, op.Scope.Alternatives()) {
				t.Errorf("scopes %q, want %q", scopes, op.Scope.Alternatives())
			}
			for status := range spec.ErrorText {
				if in.Responses.Status(status) == nil {
					t.Errorf("no answer %d", status)
				}
			}
			if paged := op.Answer == spec.Page; paged != (in.Extensions["x-cursor"] != nil) || paged != (in.Parameters.GetByInAndName("query", "limit") != nil) {
				t.Error("x-cursor and limit belong to lists with pages, and to them alone")
			}
			if op.HasPathID() == (doc.Paths.Value(op.Path).Parameters.GetByInAndName("path", "id") == nil) {
				t.Error("the path and its parameters disagree on id")
			}
		})
	}
}

func TestResourcesAreThoseOfTheOperations(t *testing.T) {
	answered, tabled := map[string]bool{}, map[string]bool{}
	for _, op := range spec.Operations() {
		answered[op.Resource] = true
	}
	for _, f := range spec.Fields() {
		tabled[f.Resource] = true
	}
	if !reflect.DeepEqual(answered, tabled) {
		t.Errorf("operations answer with %v, field tables exist for %v", answered, tabled)
	}
}

// Generated clients turn dates and times into their own types, and write them in another
// form: with whole seconds, a cursor leads to rows that the page before had.
func TestNoClientRewritesACursorOrAWindow(t *testing.T) {
	bounds := 0
	for _, op := range spec.Operations() {
		for _, p := range operationAt(t, document(t), op).Parameters {
			s := p.Value.Schema.Value
			if slices.Contains([]any{"timestamp-ms", "day"}, s.Extensions["x-format"]) {
				bounds++
			}
			if p.Value.In == openapi3.ParameterInQuery && strings.HasPrefix(s.Format, "date") {
				t.Errorf("%s: the parameter %s has the format %s", op.ID, p.Value.Name, s.Format)
			}
		}
	}
	if bounds != 6 {
		t.Errorf("%d cursors and bounds of windows say in x-format what they take, want 6", bounds)
	}
}

func TestErrorExamples(t *testing.T) {
	doc, v := document(t), validator(t)
	for status, text := range spec.ErrorText {
		media := operationAt(t, doc, spec.Operations()[0]).Responses.Status(status).Value.Content.Get("application/json")
		body := mustJSON(t, media.Example)
		if j := v.Error(status, body); len(j.Findings) > 0 || j.Err != nil {
			t.Errorf("the example of %d (%s): %+v", status, text, j)
		}
	}
}

// The sets of nullable fields are written twice: for OpenAPI 3.0 as bounds or
// a pattern, for the derived documents as x-enum.
func TestNullableSetsAgreeInBothSpellings(t *testing.T) {
	doc := document(t)
	checked := 0
	for name, component := range doc.Components.Schemas {
		if name == "CreateInboxPlacementTest" {
			continue // TestCreateTakesWhatAClientMaySet compares it with the resource
		}
		for field, property := range component.Value.Properties {
			set, ok := property.Value.Extensions["x-enum"].([]any)
			if !ok {
				continue
			}
			checked++
			inSet := map[string]bool{}
			for _, value := range set {
				inSet[string(mustJSON(t, value))] = true
			}
			for _, candidate := range []any{-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, "", "x", "other", "others", "another", "daily_limits_hit", "OTHER", "daily_limits_hit\n"} {
				if want, got := inSet[string(mustJSON(t, candidate))], property.Value.VisitJSON(candidate) == nil; got != want {
					t.Errorf("%s.%s: %v is in the set: %v; is valid: %v", name, field, candidate, want, got)
				}
			}
			if err := property.Value.VisitJSON(nil); err != nil {
				t.Errorf("%s.%s refuses null: %v", name, field, err)
			}
		}
	}
	if checked != 3 {
		t.Errorf("%d sets checked; the specification has three nullable ones", checked)
	}
}

// The body of a create has a schema of its own. Its fields are those of the resource
// that are not read-only, and run_immediately.
func TestCreateTakesWhatAClientMaySet(t *testing.T) {
	doc := document(t)
	body, resource := doc.Components.Schemas["CreateInboxPlacementTest"].Value, doc.Components.Schemas["InboxPlacementTest"].Value
	for name, property := range resource.Properties {
		if same := body.Properties[name]; property.Value.ReadOnly != (same == nil) {
			t.Errorf("%s: read-only is %t, and the body has it: %t", name, property.Value.ReadOnly, same != nil)
		} else if same != nil && !reflect.DeepEqual(same.Value, property.Value) {
			t.Errorf("%s differs between the body and the resource", name)
		}
	}
	for name, property := range body.Properties {
		if property.Value.ReadOnly || property.Value.WriteOnly {
			t.Errorf("%s is marked, though the schema is for requests alone", name)
		}
		if resource.Properties[name] == nil && name != "run_immediately" {
			t.Errorf("the resource has no %s", name)
		}
	}
}

func TestIdentifierRuling(t *testing.T) {
	v7, _ := format.Lookup("uuid-v7")
	plain, _ := format.Lookup("uuid")
	for _, f := range spec.Fields() {
		name := f.Path[strings.LastIndex(f.Path, ".")+1:]
		bound := name == "id" || strings.HasSuffix(name, "_id")
		if f.Value == v7.Words && !bound || f.Value == plain.Words && bound {
			t.Errorf("%s.%s: %q; version 7 binds id and *_id, and nothing else", f.Resource, f.Path, f.Value)
		}
	}
}

func TestTimezones(t *testing.T) {
	zones := document(t).Components.Schemas["Timezone"].Value.Enum
	seen := map[any]bool{}
	for _, zone := range zones {
		seen[zone] = true
	}
	if len(zones) != 102 || len(seen) != 102 {
		t.Errorf("%d timezones, %d different; the specification lists 102", len(zones), len(seen))
	}
}

func TestDerivedSchemasAreDraft07(t *testing.T) {
	for file := range validator(t).engine.schemas {
		if err := metaschemaErrors(t, file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func mustJSON(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
