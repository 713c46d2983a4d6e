package reports_test

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/load"
)

func encoded(t testing.TB, r reports.Results) string {
	t.Helper()
	body, err := jsonfile.Run.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// comesBack fails unless the reader accepts the results and they are written alike again.
func comesBack[T any](t testing.TB, encode func(T) ([]byte, error), parse func([]byte) (T, error), results T) {
	t.Helper()
	g := NewWithT(t)
	body, err := encode(results)
	g.Expect(err).NotTo(HaveOccurred())
	back, err := parse(body)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := encode(back)
	g.Expect(err).NotTo(HaveOccurred())
	// Invalid UTF-8 has become the replacement character.
	g.Expect(string(again)).To(Equal(strings.ReplaceAll(string(body), `\ufffd`, "\ufffd")))
}

func TestResultsComeBack(t *testing.T) {
	for _, r := range []reports.Results{sample.Full(), sample.Passed(), sample.Empty()} {
		comesBack(t, jsonfile.Run.Encode, jsonfile.Run.Parse, r)
	}
	// A pass may have only probes, scenarios that lacked an input, and an improvement.
	probes := sample.PassedLoad()
	s := &probes.Scenarios[0]
	probes.Traffic, s.Phases, s.Requests = load.Traffic{}, nil, &load.Requests{Total: 800, Beside: 800}
	s.Thresholds = []load.Threshold{{Text: "worse<10%", Outcome: load.Met, Unit: "%", Measured: &load.Estimate{Value: -32.6, Low: -66.7, High: 3}}}
	probes.Scenarios = append(probes.Scenarios, load.Scenario{Name: "rate-limit", About: "It lacks a key.", Verdict: reports.Inconclusive, Started: probes.Run.Started,
		Missing: []string{"rate_limit in the profile"}, Reasons: []string{"it lacks an input: rate_limit in the profile"}})
	for _, r := range []load.Results{sample.FullLoad(), sample.PassedLoad(), sample.EmptyLoad(), probes} {
		comesBack(t, load.Encode, load.Parse, r)
	}
	nan := sample.PassedLoad()
	nan.Run.Seconds = math.NaN()
	_, err := load.Encode(nan)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("unsupported value: NaN")))
}

func TestParseRefuses(t *testing.T) {
	swap := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	for says, damage := range map[string]func(string) string{
		"not valid JSON: unexpected end":                                                       func(s string) string { return s[:len(s)/2] },
		"not valid JSON: invalid character '{' after top-level value":                          func(s string) string { return s + "{}" },
		"not valid JSON: json: cannot unmarshal array":                                         func(string) string { return "[]" },
		"/version: missing":                                                                    swap(`"version": "3"`, `"versio": "2"`),
		"this is the load.json of load (want the results.json of run)":                         func(string) string { return `{"version":"1","scenarios":[]}` },
		"this is the part.json of load --shard (want":                                          func(string) string { return `{"version":"1","scenarios":[],"outcomes":[]}` },
		"this is the difference.json of report diff (want":                                     func(string) string { return `{"version":"1","parts":[]}` },
		"version 1 of the model, this build reads 3 (the last that reads it is commit cc5c0cf": swap(`"version": "3"`, `"version": "1"`),
		`has version "4" of the model, this build reads 3 (use the release`:                    swap(`"version": "3"`, `"version": "4"`),
		"\n/tool: Additional property colour is not allowed":                                   swap(`"tool": {`, `"tool": {"colour": "red",`),
		"\n/run: seed is required":                                                             swap(`"seed": 42,`, ``),
		"/run: Additional property Seed is not allowed":                                        swap(`"seed"`, `"Seed"`),
		"/run/seed: Invalid type. Expected: integer, given: null":                              swap(`"seed": 42`, `"seed": null`),
		"/run/seed: Invalid type. Expected: integer, given: string":                            swap(`"seed": 42`, `"seed": "42"`),
		"cannot unmarshal number 1e5000000":                                                    swap(`"seed": 42`, `"seed": 1e5000000`),
		"/troubles: Invalid type":                                                              swap(`"troubles": []`, `"troubles": null`),
		"/verdict":                                                                             swap(`"verdict": "pass"`, `"verdict": "fine"`),
		"/checks/0/outcome":                                                                    swap(`"outcome": "pass"`, `"outcome": "maybe"`),
		"/checks/0/assessments":                                                                swap(`"assessments": 3`, `"assessments": 0`),
		"/checks/0: violations is required":                                                    swap(`"outcome": "pass"`, `"outcome": "fail"`),
		"/checks/0: missing is required":                                                       swap(`"outcome": "pass"`, `"outcome": "not-assessed"`),
		"/reasons":                                                                             swap(`"reasons": []`, `"reasons": ["x"]`),
		"/regressions":                                                                         swap(`"expected_failures": 0`, `"expected_failures": 0, "regressions": ["x"]`),
		"/interrupted":                                                                         swap(`"interrupted": false`, `"interrupted": true`),
		"exceeded max depth":                                                                   func(string) string { return strings.Repeat(`{"a":`, 50000) },
		"UTF-8":                                                                                swap(`"Acme Outreach"`, "\"Acme\xff\""),
		"more than 10485760 bytes":                                                             func(s string) string { return s + strings.Repeat(" ", reports.MaxSize) },
		"more than 524288 elements and members: 600002 ": func(string) string {
			return `{"version":"3","reasons":["` + strings.Repeat(`,\",`, 600000) + `"],"checks":[` + strings.Repeat("{},", 600000) + `{}]}`
		},
		"and 52 more": func(s string) string { return strings.ReplaceAll(s, `"level": "stated"`, `"level": "r\u001b[31m"`) },
	} {
		before := encoded(t, sample.Passed())
		after := damage(before)
		NewWithT(t).Expect(after).NotTo(Equal(before))
		_, err := jsonfile.Run.Parse([]byte(after))
		NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(says), Not(ContainSubstring("\x1b")))))
	}
	long := sample.Full()
	i := slices.IndexFunc(long.Checks, func(c reports.Check) bool { return len(c.Violations) > 0 })
	long.Checks[i].Violations[0].Body = strings.Repeat("ä", reports.MaxBody+1)
	_, err := jsonfile.Run.Parse([]byte(encoded(t, long)))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("/violations/0/body: String length must be less than or equal to 2048")))
}

// The schema of a load run rejects values that would mislead a reader.
func TestParseRefusesOfALoadRun(t *testing.T) {
	for name, damage := range map[string]func(*load.Results){
		"another version":                        func(r *load.Results) { r.Version = "1" },
		"a verdict of its own":                   func(r *load.Results) { r.Verdict = "GREEN" },
		"a pass with reasons":                    func(r *load.Results) { r.Verdict = reports.Passed },
		"no reasons":                             func(r *load.Results) { r.Reasons = nil },
		"a negative count":                       func(r *load.Results) { r.Traffic.Sent = -1 },
		"a negative duration":                    func(r *load.Results) { r.Scenarios[0].Phases[0].Lag.MaxMS = -1 },
		"a share above the whole":                func(r *load.Results) { r.Scenarios[0].Coverage.Share = 1.2 },
		"a passed scenario with misses":          func(r *load.Results) { r.Scenarios[0].Verdict, r.Scenarios[0].Reasons = reports.Passed, nil },
		"a passed scenario with violations":      func(r *load.Results) { r.Scenarios[3].Verdict, r.Scenarios[3].Reasons = reports.Passed, nil },
		"a failed scenario without a reason":     func(r *load.Results) { r.Scenarios[3].Reasons = nil },
		"a met threshold of nothing":             func(r *load.Results) { r.Scenarios[0].Thresholds[1].Measured = nil },
		"an inconclusive one without a reason":   func(r *load.Results) { r.Scenarios[4].Thresholds[0].Why = "" },
		"a flag without a reason":                func(r *load.Results) { r.Scenarios[1].Phases[0].Lag.Quantiles[0].Flagged = true },
		"a status that is none":                  func(r *load.Results) { r.Traffic.Statuses["OK"] = 1 },
		"an unknown verdict of a probe":          func(r *load.Results) { r.Scenarios[5].Limiter.Probes[0].Verdict = "moon" },
		"a limiter without a summary":            func(r *load.Results) { r.Scenarios[5].Limiter.Summary = "" },
		"an order of other letters":              func(r *load.Results) { r.Comparison.Order = "ABC" },
		"a histogram that is none":               func(r *load.Results) { r.Scenarios[0].Phases[0].Histograms["x"] = "%" },
		"an operation that is none":              func(r *load.Results) { r.Scenarios[3].Violations[0].Operation = "A B" },
		"a violation without an example of that": func(r *load.Results) { r.Scenarios[3].Violations[0].Examples = []reports.Violation{} },
	} {
		r := sample.FullLoad()
		damage(&r)
		body, err := load.Encode(r)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		_, err = load.Parse(body)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("/")), name)
	}
}

// Files are replaced as a whole, and errors name them. Editors of Windows write a byte order mark.
func TestFiles(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "made", "for", "results.json")
	_, err := jsonfile.Run.Read(path)
	g.Expect(err).To(MatchError(os.ErrNotExist))
	g.Expect(jsonfile.Run.Write(path, sample.Full())).To(Succeed())
	g.Expect(jsonfile.Run.Write(path, sample.Passed())).To(Succeed())
	plain, err := jsonfile.Run.Read(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plain.Verdict).To(Equal(reports.Passed))
	entries, err := os.ReadDir(filepath.Dir(path))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1), "no temporary file stays behind")

	text, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(path, append([]byte("\ufeff"), text...), 0o600)).To(Succeed())
	g.Expect(jsonfile.Run.Read(path)).To(Equal(plain))

	g.Expect(os.WriteFile(path, []byte("{}"), 0o600)).To(Succeed())
	_, err = jsonfile.Run.Read(path)
	g.Expect(err).To(MatchError(And(HavePrefix(path), ContainSubstring("/version"))))
	g.Expect(os.Truncate(path, reports.MaxSize+2)).To(Succeed())
	_, err = jsonfile.Run.Read(path)
	g.Expect(err).To(MatchError(ContainSubstring("more than 10485760 bytes: 10485762 ")))
}

// Files that this version of the models has written. A later version must read them, or change the
// version and say how files are converted.
func TestFrozenFilesAreRead(t *testing.T) {
	g := NewWithT(t)
	r, err := jsonfile.Run.Read("testdata/frozen/results.json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(reports.Failed))
	g.Expect(reports.Count(r.Checks)).To(Equal(reports.Counts{Pass: 222, Fail: 2, Expected: 1, NotAssessed: 13}))
	g.Expect(r.Observations).To(HaveLen(65))
	g.Expect(r.Traffic.Statuses).To(HaveKeyWithValue("429", 39))

	l, err := load.Read("load/testdata/frozen/load.json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(l.Verdict).To(Equal(reports.Passed))
	g.Expect(l.Scenarios[0].Phases[0].Labels).To(HaveLen(17))
	g.Expect(l.Traffic.Sent).To(BeEquivalentTo(450))

	// The first files of the version lack the count of responses without a verdict.
	body := encoded(t, sample.Full())
	first := strings.Replace(body, ",\n    \"unjudged\": 0", "", 1)
	g.Expect(first).NotTo(Equal(body))
	_, err = jsonfile.Run.Parse([]byte(first))
	g.Expect(err).NotTo(HaveOccurred())
}

func TestEncodeIsStable(t *testing.T) {
	turned := sample.Full()
	slices.Reverse(turned.Checks)
	slices.Reverse(turned.Observations)
	turned.Run.Started = turned.Run.Started.In(time.FixedZone("elsewhere", 3600))
	before := slices.Clone(turned.Checks)
	NewWithT(t).Expect(encoded(t, turned)).To(Equal(encoded(t, sample.Full())))
	NewWithT(t).Expect(turned.Checks).To(Equal(before), "the caller's order stays")
}

// A model and its schema name the same fields.
func TestSchemasAndModelsNameTheSameFields(t *testing.T) {
	for model, schema := range map[reflect.Type][]byte{
		reflect.TypeFor[reports.Results](): reports.Schema(), reflect.TypeFor[load.Results](): load.Schema(), reflect.TypeFor[diff.Difference](): diff.Schema(),
	} {
		var document struct {
			Properties  map[string]any
			Definitions map[string]struct{ Properties map[string]any }
		}
		NewWithT(t).Expect(json.Unmarshal(schema, &document)).To(Succeed())
		listed := slices.Collect(maps.Keys(document.Properties))
		for _, d := range document.Definitions {
			listed = slices.AppendSeq(listed, maps.Keys(d.Properties))
		}
		var tags []string
		reached := map[reflect.Type]bool{reflect.TypeFor[time.Time](): true}
		var walk func(reflect.Type)
		walk = func(typ reflect.Type) {
			switch typ.Kind() {
			case reflect.Slice, reflect.Map, reflect.Pointer:
				walk(typ.Elem())
			case reflect.Struct:
				if reached[typ] {
					return
				}
				reached[typ] = true
				for i := range typ.NumField() {
					tag, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
					tags = append(tags, tag)
					walk(typ.Field(i).Type)
				}
			}
		}
		walk(model)
		slices.Sort(listed)
		slices.Sort(tags)
		NewWithT(t).Expect(listed).To(Equal(tags), model.String())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(encoded(f, sample.Passed())))
	f.Add([]byte(encoded(f, sample.Empty())))
	for _, r := range []load.Results{sample.PassedLoad(), sample.EmptyLoad()} {
		body, err := load.Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"version":"3","VERSION":"1","tool":[[[[[[[[[[[[[[[[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := jsonfile.Run.Parse(body); err == nil {
			comesBack(t, jsonfile.Run.Encode, jsonfile.Run.Parse, r)
		}
		if r, err := load.Parse(body); err == nil {
			comesBack(t, load.Encode, load.Parse, r)
		}
	})
}
