package schemas

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	. "github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"
	"pgregory.net/rapid"

	"outreach.example/conformance/schemas/internal/derive"
	"outreach.example/conformance/schemas/internal/format"
	"outreach.example/conformance/spec"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	g := NewWithT(t)
	files, again := must(derive.Files(OpenAPI())), must(derive.Files(OpenAPI()))
	g.Expect(again).To(Equal(files), "they are generated alike each time")
	for path, want := range files {
		g.Expect(string(must(os.ReadFile(filepath.Join("..", path))))).To(Equal(string(want)), "run go generate ./schemas")
	}
	for _, path := range must(filepath.Glob("json/*")) {
		g.Expect(files).To(HaveKey("schemas/" + path))
	}
	for file := range validator().engine.schemas {
		loader := gojsonschema.NewSchemaLoader()
		loader.Validate, loader.Draft, loader.AutoDetect = true, gojsonschema.Draft7, false
		g.Expect(loader.AddSchemas(gojsonschema.NewBytesLoader(must(fs.ReadFile(JSONSchemas(), file))))).To(Succeed(), file)
	}
	g.Expect(must(ToJSON(OpenAPI()))).To(MatchJSON(encoded(document())))
}

func TestTheDocumentAndTheCatalogueAgree(t *testing.T) {
	g, doc, count, bounds := NewWithT(t), document(), 0, 0
	for _, item := range doc.Paths.Map() {
		count += len(item.Operations())
	}
	g.Expect(count).To(Equal(len(spec.Operations())+1), "and the path of unknown shape")
	g.Expect(doc.Paths.Value(spec.OptionsPath).Get.Extensions["x-shape-not-shown"]).To(BeTrue())
	for _, op := range spec.Operations() {
		in := operationIn(doc, op)
		var scopes []string
		if list, ok := in.Extensions["x-scopes"].([]any); ok {
			for _, scope := range list {
				scopes = append(scopes, scope.(string))
			}
		}
		g.Expect(scopes).To(Equal(op.Scope.Alternatives()), op.ID)
		for status := range spec.ErrorText {
			judged := validator().Error(status, encoded(in.Responses.Status(status).Value.Content.Get("application/json").Example))
			g.Expect(judged.Err).NotTo(HaveOccurred())
			g.Expect(judged.Findings).To(BeEmpty(), "the example of %d", status)
		}
		paged := op.Answer == spec.Page
		g.Expect(in.Extensions["x-cursor"] != nil).To(Equal(paged), op.ID)
		g.Expect(in.Parameters.GetByInAndName("query", "limit") != nil).To(Equal(paged), op.ID)
		g.Expect(doc.Paths.Value(op.Path).Parameters.GetByInAndName("path", "id") != nil).To(Equal(op.HasPathID()), op.ID)
		// Generated clients turn dates and times into their own types, and write them in another
		// form: with whole seconds, a cursor leads to rows that the page before had.
		for _, p := range in.Parameters {
			s := p.Value.Schema.Value
			if slices.Contains([]any{"timestamp-ms", "day"}, s.Extensions["x-format"]) {
				bounds++
			}
			g.Expect(p.Value.In == "query" && strings.HasPrefix(s.Format, "date")).To(BeFalse(), "%s: %s", op.ID, p.Value.Name)
		}
	}
	g.Expect(bounds).To(Equal(6), "cursors and bounds of windows")
	zones := doc.Components.Schemas["Timezone"].Value.Enum
	slices.SortFunc(zones, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	g.Expect(slices.Compact(zones)).To(HaveLen(102))

	seen, tabled := map[string]bool{}, map[string]bool{}
	v7, _ := format.Lookup("uuid-v7")
	plain, _ := format.Lookup("uuid")
	for _, f := range spec.Fields() {
		tabled[f.Resource] = true
		for _, a := range []spec.Aspect{spec.Type, spec.Value, spec.Present} {
			g.Expect(seen).NotTo(HaveKey(f.Requirement(a)))
			seen[f.Requirement(a)] = true
		}
		g.Expect(f.Required).To(Equal(f.Conditional == ""), f.Path)
		name := f.Path[strings.LastIndex(f.Path, ".")+1:]
		bound := name == "id" || strings.HasSuffix(name, "_id") // version 7 binds these, and nothing else
		g.Expect(f.Value == v7.Words && !bound || f.Value == plain.Words && bound).To(BeFalse(), "%s.%s", f.Resource, f.Path)
	}
	g.Expect(slices.Collect(maps.Keys(resources()))).To(ConsistOf(slices.Collect(maps.Keys(tabled))))
}

// The body of a create has a schema of its own. Its fields are those of the resource that are not
// read-only, and run_immediately.
func TestCreateTakesWhatAClientMaySet(t *testing.T) {
	g, all := NewWithT(t), document().Components.Schemas
	body, resource := all["CreateInboxPlacementTest"].Value.Properties, all["InboxPlacementTest"].Value.Properties
	for name, property := range resource {
		if same := body[name]; property.Value.ReadOnly {
			g.Expect(same).To(BeNil(), name)
		} else {
			g.Expect(same.Value).To(Equal(property.Value), name)
		}
	}
	for name, property := range body {
		g.Expect(property.Value.ReadOnly || property.Value.WriteOnly).To(BeFalse(), name)
		g.Expect(resource[name] != nil || name == "run_immediately").To(BeTrue(), name)
	}
}

// The sets of nullable fields are written twice: for OpenAPI 3.0 as bounds or a pattern, for the
// derived documents as x-enum. The two versions of the document write nullable schemas differently.
func TestNullableSetsAgreeInAllSpellings(t *testing.T) {
	g, now, checked := NewWithT(t), document31(t), 0
	candidates := []any{nil, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, "", "x", "other", "others", "another", "daily_limits_hit", "OTHER", "daily_limits_hit\n", true,
		map[string]any{}, []any{}, "2026-03-01", "2026-03-01T09:30:00.000Z", "01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-474b-bcce-b302099a8057"}
	for name, component := range document().Components.Schemas {
		for field, property := range component.Value.Properties {
			set, ok := property.Value.Extensions["x-enum"].([]any)
			if ok {
				checked++
			}
			for _, candidate := range candidates {
				valid := property.Value.VisitJSON(candidate, openapi3.EnableFormatValidation()) == nil
				after := now.Components.Schemas[name].Value.Properties[field].Value.VisitJSON(candidate, openapi3.EnableFormatValidation(), openapi3.EnableJSONSchema2020())
				g.Expect(after == nil).To(Equal(valid), "%s.%s: %v", name, field, candidate)
				if ok {
					listed := slices.ContainsFunc(set, func(value any) bool { return reflect.DeepEqual(value, candidate) })
					g.Expect(valid).To(Equal(candidate == nil || listed), "%s.%s: %v", name, field, candidate)
				}
			}
		}
	}
	g.Expect(checked).To(Equal(6), "the three nullable sets of the specification, in the resource and in a request")
}

// document31 returns the document in OpenAPI 3.1, as kin-openapi loads and validates it.
func document31(t *testing.T) *openapi3.T {
	registerFormats()
	doc := must(openapi3.NewLoader().LoadFromData(must(OpenAPI31())))
	NewWithT(t).Expect(doc.Validate(t.Context())).To(Succeed())
	return doc
}

// Two libraries that share no code read two forms of the same shapes, and the two versions of the
// document accept the same. Where they differ on a body, one form or one library is wrong.
func TestLibrariesAndVersionsAgree(t *testing.T) {
	old, now, ops := document(), document31(t), resources()
	names := slices.Sorted(maps.Keys(ops))
	outcomes := map[bool]int{}
	agree := func(rt *rapid.T, body map[string]any, before, after *openapi3.Schema, options ...openapi3.SchemaValidationOption) bool {
		for range rapid.IntRange(0, 3).Draw(rt, "mutations") {
			mutate(rt, body)
		}
		options = append(options, openapi3.EnableFormatValidation())
		valid := before.VisitJSON(body, options...) == nil
		if err := after.VisitJSON(body, append(options, openapi3.EnableJSONSchema2020())...); (err == nil) != valid {
			rt.Fatalf("%s: 3.0 says %t, 3.1 says %v", encoded(body), valid, err)
		}
		outcomes[valid]++
		return valid
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "resource")
		row := example(name)
		valid := agree(rt, row, old.Components.Schemas[name].Value, now.Components.Schemas[name].Value)
		body, _ := wrap(ops[name], row)
		if ours := validator().Answer(ops[name], body); ours.Err != nil || valid != (len(ours.Findings) == 0) {
			rt.Fatalf("%s: kin-openapi says %t, ours %+v", body, valid, ours)
		}
		op := rapid.SampledFrom(withBody()).Draw(rt, "operation")
		in := func(doc *openapi3.T) *openapi3.Schema {
			return operationIn(doc, op).RequestBody.Value.Content.Get("application/json").Schema.Value
		}
		agree(rt, request(op), in(old), in(now), openapi3.VisitAsRequest())
	})
	NewWithT(t).Expect(outcomes).To(And(HaveKey(true), HaveKey(false)))
	for path, item := range old.Paths.Map() {
		for method, op := range item.Operations() {
			same := now.Paths.Value(path).GetOperation(method)
			NewWithT(t).Expect(encoded(same.Parameters)).To(MatchJSON(encoded(op.Parameters)), op.OperationID)
			NewWithT(t).Expect(same.Responses.Map()).To(HaveLen(op.Responses.Len()))
		}
	}
}
