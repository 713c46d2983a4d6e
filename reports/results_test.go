package reports_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
)

func compiled(t testing.TB) *gojsonschema.Schema {
	t.Helper()
	s, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(reports.Schema()))
	if err != nil {
		t.Fatalf("the committed schema does not compile: %v", err)
	}
	return s
}

// findings are the schema's objections to a document.
func findings(t interface{ Fatalf(string, ...any) }, s *gojsonschema.Schema, body []byte) []string {
	result, err := s.Validate(gojsonschema.NewBytesLoader(body))
	if err != nil {
		t.Fatalf("validate: %v", err)
	}
	var all []string
	for _, e := range result.Errors() {
		all = append(all, e.String())
	}
	return all
}

func TestSamplesMeetTheSchema(t *testing.T) {
	s := compiled(t)
	for name, r := range map[string]reports.Results{"full": sample.Full(), "passed": sample.Passed(), "empty": sample.Empty()} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(r.Validate()).To(Succeed())
			body, err := reports.Encode(r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(findings(t, s, body)).To(BeEmpty())
		})
	}
}

func TestRandomResultsMeetTheSchemaAndComeBack(t *testing.T) {
	s := compiled(t)
	rapid.Check(t, func(t *rapid.T) {
		r := sample.Random(t)
		body, err := reports.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if all := findings(t, s, body); len(all) > 0 {
			t.Fatalf("the schema refuses: %v", all)
		}
		back, err := reports.Parse(body)
		if err != nil {
			t.Fatalf("Parse refuses what Encode wrote: %v", err)
		}
		again, err := reports.Encode(back)
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(body) {
			t.Fatalf("came back as\n%s\nbut was\n%s", again, body)
		}
	})
}

// Whatever Parse accepts, the schema accepts: a file that our reader takes may
// be handed to anyone who only has the schema.
func TestParseIsNoLaxerThanTheSchema(t *testing.T) {
	s := compiled(t)
	small := sample.Passed()
	small.Checks = small.Checks[:4]
	base, err := reports.Encode(small)
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		var tree any
		if err := json.Unmarshal(base, &tree); err != nil {
			t.Fatal(err)
		}
		damage(t, tree)
		body, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reports.Parse(body); err != nil {
			return
		}
		accepted++
		if all := findings(t, s, body); len(all) > 0 {
			t.Fatalf("Parse accepts what the schema refuses: %v", all)
		}
	})
	if accepted == 0 {
		t.Fatal("no damaged document was accepted: the property was never put to the test")
	}
}

// damage replaces, removes or adds one value somewhere in a JSON tree.
func damage(t *rapid.T, tree any) {
	replacement := func() any {
		return rapid.SampledFrom([]any{nil, true, "", "x", "pass", "could-not-tell", "fail", 0.0, -1.0, 1.5, 7.0, []any{}, []any{"x"}, map[string]any{}}).Draw(t, "replacement")
	}
	switch node := tree.(type) {
	case map[string]any:
		keys := make([]string, 0, len(node))
		for k := range node {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if len(keys) == 0 {
			node["extra"] = replacement()
			return
		}
		key := rapid.SampledFrom(keys).Draw(t, "key")
		switch rapid.SampledFrom([]string{"down", "down", "down", "replace", "remove", "add", "case"}).Draw(t, "what") {
		case "down":
			switch node[key].(type) {
			case map[string]any, []any:
				damage(t, node[key])
			default:
				node[key] = replacement()
			}
		case "replace":
			node[key] = replacement()
		case "remove":
			delete(node, key)
		case "add":
			node["extra"] = replacement()
		case "case":
			node[strings.ToUpper(key)] = node[key]
			delete(node, key)
		}
	case []any:
		if len(node) > 0 {
			damage(t, node[rapid.IntRange(0, len(node)-1).Draw(t, "index")])
		}
	}
}

// Every field of the model stands in the schema and the other way round, and
// is required there unless it may be left out.
func TestSchemaAndModelNameTheSameFields(t *testing.T) {
	var document struct {
		Properties  map[string]json.RawMessage `json:"properties"`
		Required    []string                   `json:"required"`
		Definitions map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		} `json:"definitions"`
	}
	if err := json.Unmarshal(reports.Schema(), &document); err != nil {
		t.Fatal(err)
	}
	reached := map[string]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || reached[typ.Name()] {
			return
		}
		reached[typ.Name()] = true
		properties, required := document.Properties, document.Required
		if typ != reflect.TypeFor[reports.Results]() {
			definition := document.Definitions[strings.ToLower(typ.Name())]
			properties, required = definition.Properties, definition.Required
		}
		var fields, always []string
		for i := range typ.NumField() {
			name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
			if options != "omitempty" {
				always = append(always, name)
			}
			walk(typ.Field(i).Type)
		}
		names := make([]string, 0, len(properties))
		for name := range properties {
			names = append(names, name)
		}
		g := NewWithT(t)
		g.Expect(names).To(ConsistOf(fields), "properties of %s", typ.Name())
		g.Expect(required).To(ConsistOf(always), "required of %s", typ.Name())
	}
	walk(reflect.TypeFor[reports.Results]())
	NewWithT(t).Expect(reached).To(HaveLen(9), "types of the model that were compared")
}

func TestEncodeIsStable(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	first, err := reports.Encode(r)
	g.Expect(err).NotTo(HaveOccurred())

	turned := sample.Full()
	slices.Reverse(turned.Checks)
	slices.Reverse(turned.Observations)
	turned.Run.Started = turned.Run.Started.In(time.FixedZone("elsewhere", 3600))
	before := slices.Clone(turned.Checks)
	second, err := reports.Encode(turned)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(second)).To(Equal(string(first)))
	g.Expect(turned.Checks).To(Equal(before), "Encode must leave the caller's order alone")
}

func TestWriteReplacesWholeFiles(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "made", "for", "results.json")
	g.Expect(reports.Write(path, sample.Full())).To(Succeed())
	g.Expect(reports.Write(path, sample.Passed())).To(Succeed())

	back, err := reports.Read(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back.Verdict).To(Equal(reports.Conforms))
	entries, err := os.ReadDir(filepath.Dir(path))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1), "no temporary file stays behind")
}

func TestWriteKeepsAContradictoryReportAndSaysSo(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "results.json")
	r := sample.Passed()
	r.Checks[0].Outcome = "mostly"
	g.Expect(reports.Write(path, r)).To(MatchError(And(ContainSubstring(path), ContainSubstring("/checks/0/outcome"))))
	g.Expect(os.ReadFile(path)).To(ContainSubstring(`"mostly"`))
	_, err := reports.Read(path)
	g.Expect(err).To(MatchError(ContainSubstring("/outcome")))
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		verdict     reports.Verdict
		interrupted bool
		want        int
	}{
		{reports.Conforms, false, 0},
		{reports.DoesNotConform, false, 1},
		{reports.CouldNotTell, false, 3},
		{"something newer", false, 3},
		{reports.CouldNotTell, true, 130},
		{reports.DoesNotConform, true, 130},
	} {
		r := reports.Results{Verdict: c.verdict, Run: reports.Run{Interrupted: c.interrupted}}
		if got := r.ExitCode(); got != c.want {
			t.Errorf("%s, interrupted %v: exit code %d, want %d", c.verdict, c.interrupted, got, c.want)
		}
	}
}

func TestCountLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checks := sample.Random(t).Checks
		if n := reports.Count(checks); n.Total() != len(checks) {
			t.Fatalf("%+v adds up to %d of %d checks", n, n.Total(), len(checks))
		}
	})
}
