package load_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/schemas/schematest"
)

// A file that this version of the model has written. A later version must read it, or
// change ModelVersion and say how files are converted.
func TestReadAcceptsAFrozenFile(t *testing.T) {
	g := NewWithT(t)
	r, err := load.Read("testdata/frozen/load.json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(reports.Passed))
	g.Expect(r.Scenarios).To(HaveLen(1))
	s := r.Scenarios[0]
	g.Expect(s.Name).To(Equal("mixed"))
	g.Expect(s.Phases).To(HaveLen(1))
	g.Expect(s.Phases[0].Sent).To(BeEquivalentTo(400))
	g.Expect(s.Phases[0].Labels).To(HaveLen(17))
	g.Expect(s.Thresholds).To(HaveLen(1))
	g.Expect(r.Traffic.Sent).To(BeEquivalentTo(450))
}

func TestSamplesMeetTheSchemaAndComeBack(t *testing.T) {
	s := schematest.Compiled(t, load.Schema())
	for name, r := range map[string]load.Results{"full": sample.FullLoad(), "passed": sample.PassedLoad(), "empty": sample.EmptyLoad()} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			body, err := load.Encode(r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(schematest.Findings(t, s, body)).To(BeEmpty())
			back, err := load.Parse(body)
			g.Expect(err).NotTo(HaveOccurred())
			again, err := load.Encode(back)
			g.Expect(err).NotTo(HaveOccurred())
			// Invalid UTF-8 has become the replacement character.
			g.Expect(string(again)).To(Equal(strings.ReplaceAll(string(body), `\ufffd`, "\ufffd")))
		})
	}
}

// A small document with most parts of the model.
func small() load.Results {
	r := sample.FullLoad()
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

// The schema alone rejects values that would mislead a reader.
func TestSchemaRefusesDamage(t *testing.T) {
	s := schematest.Compiled(t, load.Schema())
	for name, damage := range map[string]func(r *load.Results){
		"another version":               func(r *load.Results) { r.Version = "1" },
		"a verdict of its own":          func(r *load.Results) { r.Verdict = "GREEN" },
		"a pass with reasons":           func(r *load.Results) { r.Verdict = reports.Passed },
		"no reasons":                    func(r *load.Results) { r.Reasons = nil },
		"a negative count":              func(r *load.Results) { r.Traffic.Sent = -1 },
		"a negative duration":           func(r *load.Results) { r.Scenarios[0].Phases[0].Lag.MaxMS = -1 },
		"a share above the whole":       func(r *load.Results) { r.Scenarios[0].Coverage.Share = 1.2 },
		"a passed scenario with misses": func(r *load.Results) { r.Scenarios[0].Verdict, r.Scenarios[0].Reasons = reports.Passed, nil },
		"a passed scenario that broke something": func(r *load.Results) {
			r.Scenarios[3].Verdict, r.Scenarios[3].Reasons = reports.Passed, nil
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
			if len(schematest.Findings(t, s, body)) == 0 {
				t.Error("the schema accepts it")
			}
			if _, err := load.Parse(body); err == nil {
				t.Error("Parse accepts it")
			}
		})
	}
}

// A pass may have only probes and no phase, and scenarios that lacked an input.
func TestAPassNeedsNoPhase(t *testing.T) {
	r := sample.PassedLoad()
	r.Traffic = load.Traffic{}
	r.Scenarios[0].Phases, r.Scenarios[0].Thresholds = nil, nil
	r.Scenarios[0].Requests = &load.Requests{Total: 800, Beside: 800}
	r.Scenarios = append(r.Scenarios, load.Scenario{Name: "rate-limit", About: "It lacks a key.", Verdict: reports.Inconclusive, Started: r.Run.Started,
		Missing: []string{"rate_limit in the profile"}, Reasons: []string{"it lacks an input: rate_limit in the profile"}})
	body, err := load.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Parse(body); err != nil {
		t.Error(err)
	}
}

// An improvement is a change below 0.
func TestAChangeMayBeAnImprovement(t *testing.T) {
	r := sample.PassedLoad()
	r.Scenarios[0].Thresholds = []load.Threshold{{Text: "worse<10%", Outcome: load.Met, Unit: "%", Measured: &load.Estimate{Value: -32.6, Low: -66.7, High: 3}}}
	body, err := load.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Parse(body); err != nil {
		t.Error(err)
	}
	if all := schematest.Findings(t, schematest.Compiled(t, load.Schema()), body); len(all) > 0 {
		t.Errorf("the schema refuses it: %q", all)
	}
}

func TestNaNHasNoJSONForm(t *testing.T) {
	r := small()
	r.Scenarios[0].Phases[0].AchievedPerSecond = math.NaN()
	_, err := load.Encode(r)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("unsupported value: NaN")))
}

func TestSchemaAndModelNameTheSameFields(t *testing.T) {
	types, definitions := schematest.SameFields(t, load.Schema(), reflect.TypeFor[load.Results](),
		map[reflect.Type]string{reflect.TypeFor[reports.Violation](): "example"})
	// Definitions without a Go type: words, count, id, operation, name, time, amount, share.
	NewWithT(t).Expect(types).To(Equal(definitions-8+1), "types of the model that were compared")
}

func TestWriteReplacesWholeFilesAndReadComesBack(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "made", "for", "load.json")
	g.Expect(load.Write(path, small())).To(Succeed())
	g.Expect(load.Write(path, sample.PassedLoad())).To(Succeed())
	back, err := load.Read(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back.Verdict).To(Equal(reports.Passed))
	entries, err := os.ReadDir(filepath.Dir(path))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1), "no temporary file stays behind")
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		verdict reports.Verdict
		run     load.Run
		want    int
	}{
		{reports.Passed, load.Run{}, 0}, {reports.Failed, load.Run{}, 1}, {reports.Inconclusive, load.Run{}, 3}, {"something newer", load.Run{}, 3},
		{reports.Inconclusive, load.Run{Interrupted: true}, 130}, {reports.Failed, load.Run{Interrupted: true}, 130},
		{reports.Inconclusive, load.Run{Shard: &load.Shard{Index: 1, Of: 2}}, 0},
		{reports.Inconclusive, load.Run{Shard: &load.Shard{Index: 1, Of: 2}, Interrupted: true}, 130},
	} {
		r := load.Results{Verdict: c.verdict, Run: c.run}
		if got := r.ExitCode(); got != c.want {
			t.Errorf("%s, %+v: exit code %d, want %d", c.verdict, c.run, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, r := range []load.Results{sample.EmptyLoad(), sample.PassedLoad()} {
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
