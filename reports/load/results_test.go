package load_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
	for name, r := range map[string]load.Results{"full": sample.FullLoad(), "hostile": sample.HostileLoad(), "passed": sample.PassedLoad(), "empty": sample.EmptyLoad()} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(r.Validate()).To(Succeed())
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

// The schema accepts every file that Parse accepts, so that other programs can rely on
// the schema.
func TestParseIsNoLaxerThanTheSchema(t *testing.T) {
	base, err := load.Encode(small())
	if err != nil {
		t.Fatal(err)
	}
	parse := func(body []byte) error { _, err := load.Parse(body); return err }
	schematest.ParseIsNoLaxer(t, load.Schema(), base, parse, "pass", "fail", "inconclusive", "cannot-tell")
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

// Validate also rejects counts and bounds that contradict each other.
func TestContradictionsAreFound(t *testing.T) {
	for at, contradict := range map[string]func(r *load.Results){
		"/traffic/planned":                            func(r *load.Results) { r.Traffic.Dropped++ },
		"/traffic/statuses":                           func(r *load.Results) { r.Traffic.Statuses["200"]++ },
		"/run/shard":                                  func(r *load.Results) { r.Run.Shard.Index = 9 },
		"/scenarios/0/phases/1/planned":               func(r *load.Results) { r.Scenarios[0].Phases[1].Sent-- },
		"/scenarios/0/phases/1/late":                  func(r *load.Results) { r.Scenarios[0].Phases[1].Late = 1e9 },
		"/scenarios/0/phases/1/response":              func(r *load.Results) { r.Scenarios[0].Phases[1].Response.Accepted.Count += 1e6 },
		"/scenarios/0/phases/1/series/0/done":         func(r *load.Results) { r.Scenarios[0].Phases[1].Series[0].Done++ },
		"/scenarios/0/phases/1/series":                func(r *load.Results) { slices.Reverse(r.Scenarios[0].Phases[1].Series) },
		"/scenarios/0/phases/1/series/0/response":     func(r *load.Results) { r.Scenarios[0].Phases[1].Series[0].Response.P50MS = 1e6 },
		"/scenarios/0/phases/0/lag/quantiles/1":       func(r *load.Results) { r.Scenarios[0].Phases[0].Lag.Quantiles[1].LowMS = 1e6 },
		"/scenarios/0/phases/0/lag/min_ms":            func(r *load.Results) { r.Scenarios[0].Phases[0].Lag.MinMS = 1e6 },
		"/scenarios/0/thresholds/0/measured":          func(r *load.Results) { r.Scenarios[0].Thresholds[0].Measured.High = 0 },
		"/scenarios/0/requests/total":                 func(r *load.Results) { r.Scenarios[0].Requests.Total++ },
		"/scenarios/0/coverage/answers":               func(r *load.Results) { r.Scenarios[0].Coverage.Answers = 1 },
		"/scenarios/1/sustained/rate_per_second":      func(r *load.Results) { r.Scenarios[1].Sustained.LowPerSecond = 1e6 },
		"/scenarios/1/sustained/knee":                 func(r *load.Results) { slices.Reverse(r.Scenarios[1].Sustained.Knee) },
		"/scenarios/2/depth/0/points":                 func(r *load.Results) { slices.Reverse(r.Scenarios[2].Depth[0].Points) },
		"/scenarios/3/violations/0/count":             func(r *load.Results) { r.Scenarios[3].Violations[0].Count = 0 },
		"/scenarios/5/limiter/retry_after/unreadable": func(r *load.Results) { r.Scenarios[5].Limiter.RetryAfter.Unreadable = 413 },
		"/scenarios/5/limiter/retry_after/with":       func(r *load.Results) { r.Scenarios[5].Limiter.RetryAfter.With = 413 },
		"/scenarios/5/limiter/layers/0/limit":         func(r *load.Results) { r.Scenarios[5].Limiter.Layers[0].Limit.Low = 101 },
		"/comparison/level":                           func(r *load.Results) { r.Comparison.Level = 1 },
		"/comparison/order":                           func(r *load.Results) { r.Comparison.Order = "AABB" },
		"/comparison/figures/1/difference":            func(r *load.Results) { r.Comparison.Figures[1].Difference.Low = 40 },
		"/comparison/figures/0/ratio":                 func(r *load.Results) { r.Comparison.Figures[0].RatioLow = 3 },
		"/scenarios/1/sustained/knee/0/p50_ms":        func(r *load.Results) { r.Scenarios[1].Sustained.Knee[0].P50MS = math.NaN() },
		"/scenarios/4/drift/0/per_minute/high":        func(r *load.Results) { r.Scenarios[4].Drift[0].PerMinute.High = math.Inf(1) },
		"/scenarios/0/phases/0/statuses/200":          func(r *load.Results) { r.Scenarios[0].Phases[0].Statuses["200"] = -1 },
		"/scenarios/1/sustained/knee/9/error_share":   func(r *load.Results) { r.Scenarios[1].Sustained.Knee[9].ErrorShare = 1.5 },
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

// A pass needs requests and a scenario.
func TestNoPassAboutNothing(t *testing.T) {
	for name, empty := range map[string]func(r *load.Results){
		"/scenarios: ": func(r *load.Results) { r.Scenarios = nil },
		"/traffic/sent": func(r *load.Results) {
			r.Traffic = load.Traffic{}
			r.Scenarios[0].Phases = nil
		},
		"/verdict: pass, but /scenarios/0 is inconclusive": func(r *load.Results) {
			r.Scenarios[0].Verdict, r.Scenarios[0].Reasons = reports.Inconclusive, []string{"x"}
		},
		"an interrupted run": func(r *load.Results) { r.Run.Interrupted = true },
	} {
		r := sample.PassedLoad()
		empty(&r)
		NewWithT(t).Expect(r.Validate()).To(MatchError(ContainSubstring(name)))
	}
}

// A pass may have only probes and no phase, and scenarios that lacked an input.
func TestAPassNeedsNoPhase(t *testing.T) {
	g := NewWithT(t)
	r := sample.PassedLoad()
	r.Traffic = load.Traffic{}
	r.Scenarios[0].Phases, r.Scenarios[0].Thresholds = nil, nil
	r.Scenarios[0].Requests = &load.Requests{Total: 800, Beside: 800}
	left := load.Scenario{Name: "rate-limit", About: "It lacks a key.", Verdict: reports.Inconclusive, Started: r.Run.Started,
		Missing: []string{"rate_limit in the profile"}, Reasons: []string{"it lacks an input: rate_limit in the profile"}}
	r.Scenarios = append(r.Scenarios, left)
	g.Expect(r.Validate()).To(Succeed())
	r.Scenarios = r.Scenarios[1:]
	g.Expect(r.Validate()).To(MatchError(ContainSubstring("without a request")))
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
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("/scenarios/0/phases/0/achieved_per_second")))
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

func TestWriteKeepsAContradictoryReportAndSaysSo(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "load.json")
	r := sample.PassedLoad()
	r.Scenarios[0].Thresholds[0].Outcome = "nearly"
	g.Expect(load.Write(path, r)).To(MatchError(And(ContainSubstring(path), ContainSubstring("/scenarios/0/thresholds/0/outcome"))))
	g.Expect(os.ReadFile(path)).To(ContainSubstring(`"nearly"`))
	_, err := load.Read(path)
	g.Expect(err).To(MatchError(ContainSubstring("/outcome")))
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
