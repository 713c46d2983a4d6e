package load_test

import (
	"encoding/json"
	"math"
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
	"outreach.example/conformance/reports/internal/loadsample"
	"outreach.example/conformance/reports/load"
)

func compiled(t testing.TB) *gojsonschema.Schema {
	t.Helper()
	s, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(load.Schema()))
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

func TestSamplesMeetTheSchemaAndComeBack(t *testing.T) {
	s := compiled(t)
	for name, r := range map[string]load.Results{"full": loadsample.Full(), "hostile": loadsample.Hostile(), "passed": loadsample.Passed(), "empty": loadsample.Empty()} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(r.Validate()).To(Succeed())
			body, err := load.Encode(r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(findings(t, s, body)).To(BeEmpty())
			back, err := load.Parse(body)
			g.Expect(err).NotTo(HaveOccurred())
			again, err := load.Encode(back)
			g.Expect(err).NotTo(HaveOccurred())
			// Bytes that are no UTF-8 have become the replacement character.
			g.Expect(string(again)).To(Equal(strings.ReplaceAll(string(body), `\ufffd`, "\ufffd")))
		})
	}
}

// A small document in which most parts of the model occur.
func small() load.Results {
	r := loadsample.Full()
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		for j := range s.Phases {
			p := &s.Phases[j]
			p.Series = p.Series[:min(2, len(p.Series))]
			p.Lag.Curve, p.Service.Accepted.Curve = nil, nil
		}
		if s.Limiter != nil {
			s.Limiter.Probes = s.Limiter.Probes[:2]
		}
		for j := range s.Memory {
			s.Memory[j].Points = s.Memory[j].Points[:2]
		}
	}
	return r
}

// Whatever Parse accepts, the schema accepts: a file that our reader takes may
// be handed to anyone who only has the schema.
func TestParseIsNoLaxerThanTheSchema(t *testing.T) {
	s := compiled(t)
	base, err := load.Encode(small())
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
		if _, err := load.Parse(body); err != nil {
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
		return rapid.SampledFrom([]any{nil, true, "", "x", "PASS", "VOID", "could-not-tell", "cannot-tell", 0.0, -1.0, 0.5, 1.5, 7.0, []any{}, []any{"x"}, map[string]any{}}).Draw(t, "replacement")
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
		switch rapid.SampledFrom([]string{"down", "down", "down", "down", "remove", "add", "case"}).Draw(t, "what") {
		case "down":
			switch node[key].(type) {
			case map[string]any, []any:
				damage(t, node[key])
			default:
				node[key] = replacement()
			}
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

// The schema, on its own, refuses what its reader must be kept from believing.
func TestSchemaRefusesDamage(t *testing.T) {
	s := compiled(t)
	for name, damage := range map[string]func(r *load.Results){
		"another version":               func(r *load.Results) { r.Version = "2" },
		"a verdict of its own":          func(r *load.Results) { r.Verdict = "GREEN" },
		"a pass with reasons":           func(r *load.Results) { r.Verdict = load.Pass },
		"no reasons":                    func(r *load.Results) { r.Reasons = nil },
		"a negative count":              func(r *load.Results) { r.Traffic.Sent = -1 },
		"a negative duration":           func(r *load.Results) { r.Scenarios[0].Phases[0].Lag.MaxMS = -1 },
		"a share above the whole":       func(r *load.Results) { r.Scenarios[0].Coverage.Share = 1.2 },
		"a passed scenario with misses": func(r *load.Results) { r.Scenarios[0].Verdict, r.Scenarios[0].Reasons = load.Pass, nil },
		"a passed scenario that broke something": func(r *load.Results) {
			r.Scenarios[3].Verdict, r.Scenarios[3].Reasons = load.Pass, nil
		},
		"a failed scenario without a word": func(r *load.Results) { r.Scenarios[3].Reasons = nil },
		"a met threshold of nothing":       func(r *load.Results) { r.Scenarios[0].Thresholds[1].Measured = nil },
		"could not tell, and not why":      func(r *load.Results) { r.Scenarios[4].Thresholds[0].Why = "" },
		"a flag without a reason": func(r *load.Results) {
			r.Scenarios[1].Phases[0].Lag.Quantiles[0].Flagged, r.Scenarios[1].Phases[0].Lag.Quantiles[0].Why = true, ""
		},
		"a status that is none":         func(r *load.Results) { r.Traffic.Statuses["OK"] = 1 },
		"an unknown verdict of a probe": func(r *load.Results) { r.Scenarios[5].Limiter.Probes[0].Verdict = "moon" },
		"a limiter without a summary":   func(r *load.Results) { r.Scenarios[5].Limiter.Summary = "" },
		"an order of other letters":     func(r *load.Results) { r.Comparison.Order = "ABC" },
		"a histogram that is none":      func(r *load.Results) { r.Scenarios[0].Phases[0].Histograms["x"] = "%" },
		"an operation that is none":     func(r *load.Results) { r.Scenarios[3].Violations[0].Operation = "A B" },
		"a violation without a sight":   func(r *load.Results) { r.Scenarios[3].Violations[0].Examples = []reports.Violation{} },
	} {
		t.Run(name, func(t *testing.T) {
			r := small()
			damage(&r)
			body, err := load.Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			if len(findings(t, s, body)) == 0 {
				t.Error("the schema accepts it")
			}
			if _, err := load.Parse(body); err == nil {
				t.Error("Parse accepts it")
			}
		})
	}
}

// What single values cannot show: counts and bounds that contradict each other.
func TestContradictionsAreFound(t *testing.T) {
	for at, contradict := range map[string]func(r *load.Results){
		"/traffic/planned":                          func(r *load.Results) { r.Traffic.Dropped++ },
		"/traffic/statuses":                         func(r *load.Results) { r.Traffic.Statuses["200"]++ },
		"/run/shard":                                func(r *load.Results) { r.Run.Shard.Index = 9 },
		"/scenarios/0/phases/1/planned":             func(r *load.Results) { r.Scenarios[0].Phases[1].Sent-- },
		"/scenarios/0/phases/1/late":                func(r *load.Results) { r.Scenarios[0].Phases[1].Late = 1e9 },
		"/scenarios/0/phases/1/response":            func(r *load.Results) { r.Scenarios[0].Phases[1].Response.Accepted.Count += 1e6 },
		"/scenarios/0/phases/1/series/0/done":       func(r *load.Results) { r.Scenarios[0].Phases[1].Series[0].Done++ },
		"/scenarios/0/phases/1/series":              func(r *load.Results) { slices.Reverse(r.Scenarios[0].Phases[1].Series) },
		"/scenarios/0/phases/1/series/0/response":   func(r *load.Results) { r.Scenarios[0].Phases[1].Series[0].Response.P50MS = 1e6 },
		"/scenarios/0/phases/0/lag/quantiles/1":     func(r *load.Results) { r.Scenarios[0].Phases[0].Lag.Quantiles[1].LowMS = 1e6 },
		"/scenarios/0/phases/0/lag/min_ms":          func(r *load.Results) { r.Scenarios[0].Phases[0].Lag.MinMS = 1e6 },
		"/scenarios/0/thresholds/0/measured":        func(r *load.Results) { r.Scenarios[0].Thresholds[0].Measured.High = 0 },
		"/scenarios/0/coverage/answers":             func(r *load.Results) { r.Scenarios[0].Coverage.Answers = 1 },
		"/scenarios/1/sustained/rate_per_second":    func(r *load.Results) { r.Scenarios[1].Sustained.LowPerSecond = 1e6 },
		"/scenarios/1/sustained/knee":               func(r *load.Results) { slices.Reverse(r.Scenarios[1].Sustained.Knee) },
		"/scenarios/2/depth/0/points":               func(r *load.Results) { slices.Reverse(r.Scenarios[2].Depth[0].Points) },
		"/scenarios/3/violations/0/count":           func(r *load.Results) { r.Scenarios[3].Violations[0].Count = 0 },
		"/scenarios/5/limiter/retry_after/with":     func(r *load.Results) { r.Scenarios[5].Limiter.RetryAfter.With = 413 },
		"/scenarios/5/limiter/layers/0/limit":       func(r *load.Results) { r.Scenarios[5].Limiter.Layers[0].Limit.Low = 101 },
		"/comparison/order":                         func(r *load.Results) { r.Comparison.Order = "AABB" },
		"/comparison/figures/1/difference":          func(r *load.Results) { r.Comparison.Figures[1].Difference.Low = 40 },
		"/comparison/figures/0/ratio":               func(r *load.Results) { r.Comparison.Figures[0].RatioLow = 3 },
		"/scenarios/1/sustained/knee/0/p50_ms":      func(r *load.Results) { r.Scenarios[1].Sustained.Knee[0].P50MS = math.NaN() },
		"/scenarios/4/drift/0/per_minute/high":      func(r *load.Results) { r.Scenarios[4].Drift[0].PerMinute.High = math.Inf(1) },
		"/scenarios/0/phases/0/statuses/200":        func(r *load.Results) { r.Scenarios[0].Phases[0].Statuses["200"] = -1 },
		"/scenarios/1/sustained/knee/9/error_share": func(r *load.Results) { r.Scenarios[1].Sustained.Knee[9].ErrorShare = 1.5 },
		"/scenarios/0/phases/0/lag/curve": func(r *load.Results) {
			slices.Reverse(r.Scenarios[0].Phases[0].Response.Accepted.Curve)
			r.Scenarios[0].Phases[0].Lag.Curve = r.Scenarios[0].Phases[0].Response.Accepted.Curve
		},
	} {
		t.Run(at, func(t *testing.T) {
			r := small()
			contradict(&r)
			NewWithT(t).Expect(r.Validate()).To(MatchError(ContainSubstring(at)))
		})
	}
}

// A pass is about something.
func TestNoPassAboutNothing(t *testing.T) {
	for name, empty := range map[string]func(r *load.Results){
		"/scenarios: ": func(r *load.Results) { r.Scenarios = nil },
		"/traffic/sent": func(r *load.Results) {
			r.Traffic = load.Traffic{}
			r.Scenarios[0].Phases = nil
		},
		"/verdict: PASS, but /scenarios/0 is VOID": func(r *load.Results) {
			r.Scenarios[0].Verdict, r.Scenarios[0].Reasons = load.Void, []string{"x"}
		},
		"an interrupted run": func(r *load.Results) { r.Run.Interrupted = true },
	} {
		r := loadsample.Passed()
		empty(&r)
		NewWithT(t).Expect(r.Validate()).To(MatchError(ContainSubstring(name)))
	}
}

// A regression is below 0 where the figure has become better.
func TestARegressionMayBeNone(t *testing.T) {
	r := loadsample.Passed()
	r.Scenarios[0].Thresholds = []load.Threshold{{Text: "regression<10%", Outcome: load.Met, Unit: "%", Measured: &load.Estimate{Value: -32.6, Low: -66.7, High: 3}}}
	body, err := load.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Parse(body); err != nil {
		t.Error(err)
	}
	if all := findings(t, compiled(t), body); len(all) > 0 {
		t.Errorf("the schema refuses it: %q", all)
	}
}

func TestNaNHasNoJSONForm(t *testing.T) {
	r := small()
	r.Scenarios[0].Phases[0].AchievedPerSecond = math.NaN()
	_, err := load.Encode(r)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("/scenarios/0/phases/0/achieved_per_second")))
}

// Every field of the model stands in the schema and the other way round, and
// is required there unless it may be left out.
func TestSchemaAndModelNameTheSameFields(t *testing.T) {
	type object struct {
		Properties  map[string]json.RawMessage `json:"properties"`
		Required    []string                   `json:"required"`
		Definitions map[string]object          `json:"definitions"`
	}
	var document object
	if err := json.Unmarshal(load.Schema(), &document); err != nil {
		t.Fatal(err)
	}
	reached := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer}, typ.Kind()) {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || reached[typ] {
			return
		}
		reached[typ] = true
		definition := document.Definitions[strings.ToLower(typ.Name())]
		switch typ {
		case reflect.TypeFor[load.Results]():
			definition = document
		case reflect.TypeFor[reports.Violation]():
			definition = document.Definitions["example"]
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
		names := make([]string, 0, len(definition.Properties))
		for name := range definition.Properties {
			names = append(names, name)
		}
		g := NewWithT(t)
		g.Expect(names).To(ConsistOf(fields), "properties of %s", typ)
		g.Expect(definition.Required).To(ConsistOf(always), "required of %s", typ)
	}
	walk(reflect.TypeFor[load.Results]())
	// Definitions that stand for no type: words, count, id, operation, name, time, amount, share.
	NewWithT(t).Expect(reached).To(HaveLen(len(document.Definitions)-8+1), "types of the model that were compared")
}

func TestWriteReplacesWholeFilesAndReadComesBack(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "made", "for", "load.json")
	g.Expect(load.Write(path, small())).To(Succeed())
	g.Expect(load.Write(path, loadsample.Passed())).To(Succeed())
	back, err := load.Read(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back.Verdict).To(Equal(load.Pass))
	entries, err := os.ReadDir(filepath.Dir(path))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1), "no temporary file stays behind")
}

func TestWriteKeepsAContradictoryReportAndSaysSo(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "load.json")
	r := loadsample.Passed()
	r.Scenarios[0].Thresholds[0].Outcome = "nearly"
	g.Expect(load.Write(path, r)).To(MatchError(And(ContainSubstring(path), ContainSubstring("/scenarios/0/thresholds/0/outcome"))))
	g.Expect(os.ReadFile(path)).To(ContainSubstring(`"nearly"`))
	_, err := load.Read(path)
	g.Expect(err).To(MatchError(ContainSubstring("/outcome")))
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		verdict     load.Verdict
		interrupted bool
		want        int
	}{
		{load.Pass, false, 0}, {load.Fail, false, 1}, {load.Void, false, 3}, {"something newer", false, 3},
		{load.Void, true, 130}, {load.Fail, true, 130},
	} {
		r := load.Results{Verdict: c.verdict, Run: load.Run{Interrupted: c.interrupted}}
		if got := r.ExitCode(); got != c.want {
			t.Errorf("%s, interrupted %v: exit code %d, want %d", c.verdict, c.interrupted, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, r := range []load.Results{loadsample.Empty(), loadsample.Passed()} {
		body, err := load.Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := load.Parse(body)
		if err != nil {
			return
		}
		if _, err := load.Encode(r); err != nil {
			t.Errorf("what Parse took has no JSON form: %v", err)
		}
	})
}
