package verdict

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// recorded is a phase of a second, made up, whose answers took so long.
func recorded(name, label string, rate int, took time.Duration) measure.Recording {
	r := measure.NewRecorder(name, time.Unix(1e9, 0), measure.Constant(float64(rate), time.Second))
	for i := range rate {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		r.Add(measure.Sample{Seq: uint64(i), Label: label, Due: due, Sent: due, Done: due + took, Status: 200})
	}
	return r.Recording()
}

// changes holds the phases against the results of an earlier run.
func changesOf(t *testing.T, earlier load.Results, phases ...measure.Recording) Outcome {
	t.Helper()
	bound, err := measure.ParseThreshold("worse<10%")
	if err != nil {
		t.Fatal(err)
	}
	s := scenario.Scenario{Name: "lists", About: "It is made up.", Kind: scenario.Steady, Mix: map[string]int{spec.ListLeadLists: 1}, Rate: 1000, Duration: time.Second}
	share := Outcome{Recordings: phases, Traffic: load.Traffic{Statuses: map[string]int64{}}}
	return Join(s, []Outcome{share}, Terms{LagLimit: time.Hour,
		Thresholds: []measure.Threshold{bound}, Baselines: map[string]*Baseline{"": {Name: "old.json", Results: earlier}}})
}

// A baseline must have the same plan and figures of the target. A reason names the
// phase and both figures.
func TestChangesSinceABaselineThatIsNoMeasure(t *testing.T) {
	const list = "lead-lists.list limit=10"
	before := recorded("limit=10", list, 1000, 10*time.Millisecond)
	earlier := func(change func(*load.Results)) load.Results {
		share := Outcome{Recordings: []measure.Recording{before}, Traffic: load.Traffic{Statuses: map[string]int64{}}}
		s := scenario.Scenario{Name: "lists", About: "It is made up.", Kind: scenario.Steady, Mix: map[string]int{spec.ListLeadLists: 1}, Rate: 1000, Duration: time.Second}
		r := load.Results{Scenarios: []load.Scenario{Join(s, []Outcome{share}, Terms{LagLimit: time.Hour}).Scenario}}
		r.Run.Selection = "--scenario lists"
		change(&r)
		return r
	}
	same := func(*load.Results) {}
	const again = "; run both with the same settings (the baseline's: --scenario lists)"
	for name, tc := range map[string]struct {
		earlier load.Results
		now     measure.Recording
		want    reports.Verdict
		says    string
	}{
		"as before": {earlier(same), before, reports.Passed, ""},
		"slower": {earlier(same), recorded("limit=10", list, 1000, 20*time.Millisecond), reports.Failed,
			"limit=10 p50: worse<10% missed: 20 ms, was 10 ms in old.json; the change is 100 % (99.84 to 100.2), not below 10 %; and 1 more: limit=10 p99 (20 ms, was 10 ms)"},
		"another rate": {earlier(same), recorded("limit=10", list, 500, 10*time.Millisecond), reports.Inconclusive,
			"old.json is not comparable: 1,000/s then, 500/s now" + again},
		"another page size": {earlier(same), recorded("limit=10", "lead-lists.list limit=11", 1000, 10*time.Millisecond), reports.Inconclusive,
			"old.json is not comparable: lead-lists.list limit=10 was requested then, not now" + again},
		"another phase": {earlier(same), recorded("limit=11", list, 1000, 10*time.Millisecond), reports.Inconclusive,
			"old.json is not comparable: it has no phase limit=11"},
		"another scenario": {earlier(func(r *load.Results) { r.Scenarios[0].Name = "others" }), before, reports.Inconclusive,
			"old.json has no comparable results for scenario lists"},
		"interrupted": {earlier(func(r *load.Results) { r.Run.Interrupted = true }), before, reports.Inconclusive,
			"old.json cannot be the baseline: its run was interrupted; use a complete"},
		"void": {earlier(func(r *load.Results) {
			r.Scenarios[0].Verdict, r.Scenarios[0].Reasons = reports.Inconclusive, []string{"rate not reached"}
		}), before, reports.Inconclusive,
			"old.json cannot be the baseline: lists is inconclusive (rate not reached); use a complete"},
	} {
		o := changesOf(t, tc.earlier, tc.now)
		if reasons := strings.Join(o.Reasons, "\n"); o.Verdict != tc.want || !strings.Contains(reasons, tc.says) || (tc.says == "") != (reasons == "") {
			t.Errorf("%s: %s: %s\nwant %s: %s", name, o.Verdict, reasons, tc.want, tc.says)
		}
	}
}

// A run must not replace the results that it is compared with, under any name.
func TestABaselineIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	results, other, link := filepath.Join(dir, "load.json"), filepath.Join(dir, "other.json"), filepath.Join(dir, "link.json")
	for _, file := range []string{results, other} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(results, link); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		results, own, named string
		refused             bool
	}{
		"the run's own": {results, results, "", true},
		"a threshold's": {results, other, results, true},
		"its directory": {results, dir, "", true},
		"not there yet": {filepath.Join(dir, "new.json"), filepath.Join(dir, "new.json"), "", false},
	} {
		err := CheckOverwrite(tc.results, tc.own, []measure.Threshold{{Baseline: tc.named}})
		if refused := err != nil; refused != tc.refused || refused && !strings.Contains(err.Error(), "this run would overwrite it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ran returns a run of one scenario whose p50 and p99 have these values and intervals
// of a tenth, in milliseconds.
func ran(rate, p50, p99 float64) load.Results {
	q := func(p, v float64) load.Quantile {
		return load.Quantile{P: p, ValueMS: v, LowMS: 0.95 * v, HighMS: 1.05 * v}
	}
	phase := load.Phase{Name: "steady", Seconds: 10, RatePerSecond: rate, Planned: int64(10 * rate), Sent: int64(10 * rate),
		Response: load.Latency{Accepted: &load.Distribution{Count: int64(10 * rate), Quantiles: []load.Quantile{q(0.5, p50), q(0.99, p99)}}}}
	return load.Results{Verdict: reports.Passed, Scenarios: []load.Scenario{{Name: "mixed", Verdict: reports.Passed, Phases: []load.Phase{phase}}}}
}

func searched(rate float64) load.Results {
	r := ran(rate, 10, 20)
	r.Scenarios[0].Sustained = &load.Sustained{RatePerSecond: rate, LowPerSecond: rate, HighPerSecond: 1.04 * rate, Confirmed: true}
	return r
}

func worse(t *testing.T, texts ...string) []measure.Threshold {
	t.Helper()
	all, err := measure.ParseThresholds(texts)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(CheckDifference(all)).To(Succeed())
	return all
}

func TestDifferenceOfLatencies(t *testing.T) {
	g := NewWithT(t)
	figures, held := Difference("old", ran(100, 10, 50), ran(100, 10, 80), worse(t, "worse<20%"))
	g.Expect(figures).To(HaveLen(2))
	g.Expect(figures[0].Verdict).To(Equal(load.NoDifference))
	g.Expect(figures[1]).To(And(HaveField("Name", "response p99"), HaveField("Unit", "ms"), HaveField("Verdict", load.Worse)))
	g.Expect(figures[1].Old.Value).To(BeNumerically("~", 50, 1e-6))
	g.Expect(figures[1].Worse.Value).To(BeNumerically("~", 60, 1e-6))
	g.Expect(figures[1].Worse.Low).To(BeNumerically("~", 100*(80*0.95/(50*1.05)-1), 1e-6))
	g.Expect(held).To(HaveLen(2))
	g.Expect(held[0].Outcome).To(Equal(load.Met))
	g.Expect(held[1]).To(And(HaveField("Outcome", load.Missed), HaveField("Why", ContainSubstring("60 %"))))

	figures, held = Difference("old", ran(100, 10, 80), ran(100, 10, 50), nil)
	g.Expect(figures[1].Verdict).To(Equal(load.Better))
	g.Expect(held).To(BeEmpty())
	_, held = Difference("old", ran(100, 10, 50), ran(100, 10, 50), worse(t, "worse<5%"))
	g.Expect(held[0].Outcome).To(Equal(load.Inconclusive), "the intervals are wider than 5 %")
}

func TestDifferenceOfRates(t *testing.T) {
	g := NewWithT(t)
	figures, held := Difference("old", searched(1000), searched(500), worse(t, "mixed: worse<10%"))
	g.Expect(figures).To(HaveLen(1))
	g.Expect(figures[0]).To(And(HaveField("Name", "sustained rate"), HaveField("Unit", "/s"), HaveField("Verdict", load.Worse)))
	g.Expect(held[0].Outcome).To(Equal(load.Missed))
	void := searched(500)
	void.Scenarios[0].Sustained.Confirmed = false
	figures, _ = Difference("old", searched(1000), void, nil)
	g.Expect(figures[0].Verdict).To(Equal(load.EffectNotKnown))
}

func TestAgainst(t *testing.T) {
	fig := func(value, low, high float64, open bool) measure.Figure {
		return measure.Figure{Value: value, Low: low, High: high, Open: open, Known: true}
	}
	for _, c := range []struct {
		name        string
		now, before measure.Figure
		higher      bool
		want        measure.Figure
	}{
		{"twice as slow", fig(20, 18, 22, false), fig(10, 9, 11, false), true, fig(1, 18.0/11-1, 22.0/9-1, false)},
		{"no upper bound now", fig(20, 18, 22, true), fig(10, 9, 11, false), true, fig(1, 18.0/11-1, 1, true)},
		{"no upper bound before", fig(20, 18, 22, false), fig(10, 9, 11, true), true, fig(1, -1, 22.0/9-1, false)},
		{"half the rate", fig(400, 400, 440, false), fig(800, 800, 880, false), false, fig(0.5, 1-440.0/800, 1-400.0/880, false)},
		{"the search ended now", fig(900, 900, 0, true), fig(800, 800, 880, false), false, fig(-0.125, -1, 1-900.0/880, false)},
		{"the search ended at the generator's ceiling before", fig(400, 400, 440, false), fig(800, 800, 850, true), false, fig(0.5, 1-440.0/800, 1, false)},
		{"nothing before", fig(10, 9, 11, false), measure.Figure{}, true, measure.Figure{}},
		{"nought before", fig(10, 9, 11, false), fig(0, 0, 0, false), true, measure.Figure{}},
	} {
		got := against(c.now, c.before, c.higher)
		if got.Known != c.want.Known || got.Open != c.want.Open || math.Abs(got.Value-c.want.Value) > 1e-9 ||
			math.Abs(got.Low-c.want.Low) > 1e-9 || math.Abs(got.High-c.want.High) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func total(requests map[string]float64) (n float64) {
	for _, count := range requests {
		n += count
	}
	return n
}

// Two runs are comparable only if they sent the same requests, within the
// tolerance for a partial round of the mix.
func TestPlansDiffer(t *testing.T) {
	steady := func(rate float64, requests map[string]float64) plan {
		return plan{rate: rate, mean: rate, peak: rate, requests: requests, all: total(requests)}
	}
	bursts := func(mean, peak float64) plan {
		return plan{mean: mean, peak: peak, requests: map[string]float64{"list": 1000}, all: 1000}
	}
	small, large := map[string]float64{"list limit=10": 1000}, map[string]float64{"list limit=100": 1000}
	for _, c := range []struct {
		name         string
		now, earlier plan
		want         string
	}{
		{"the same", steady(100, small), steady(100, small), ""},
		{"another rate", steady(200, small), steady(100, small), "100/s then, 200/s now"},
		{"another page size", steady(100, large), steady(100, small), "list limit=10 was requested then, not now"},
		{"another mix", steady(100, map[string]float64{"list": 500, "get": 500}), steady(100, map[string]float64{"list": 800, "get": 200}), "the mix differs in 30 % of the requests"},
		{"longer", steady(100, map[string]float64{"list": 5030, "get": 2970}), steady(100, map[string]float64{"list": 62, "get": 38}), ""},
		{"the same burst, of another length", bursts(200, 500), bursts(201, 498), ""},
		{"a higher burst", bursts(200, 700), bursts(200, 500), "up to 500/s then, up to 700/s now"},
		{"a burst and one rate", bursts(200, 500), steady(100, small), "100/s then, several rates now"},
		{"more walkers", plan{clients: 16, requests: small, all: 1000}, plan{clients: 4, requests: small, all: 1000}, "4 clients then, 16 now"},
		{"walkers and a rate", plan{clients: 4, requests: small, all: 1000}, steady(100, small), "only one of the two is a closed loop"},
	} {
		if got := c.now.differs(c.earlier); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// inTurn returns the results of a comparison whose target answers request n of block i so.
func inTurn(t *testing.T, bound string, answer func(side, i, n int) (took time.Duration, status int)) load.Results {
	t.Helper()
	const pairs = 12
	terms := Terms{LagLimit: time.Hour}
	if bound != "" {
		terms.Thresholds = append(terms.Thresholds, parsed(t, bound))
	}
	var drafts [2]*Draft
	for side := range drafts {
		s := scenario.Scenario{Name: []string{"a", "b"}[side], About: "It is made up.", Kind: scenario.Steady, Mix: map[string]int{spec.ListLeadLists: 1}, Rate: 50, Duration: time.Second}
		d := NewDraft(s, terms)
		d.InBlocks = true
		for i := range pairs {
			r := measure.NewRecorder("block", time.Unix(1e9, 0), measure.Constant(50, time.Second))
			for n := range 50 {
				due := time.Duration(n) * 20 * time.Millisecond
				took, status := answer(side, i, n)
				r.Add(measure.Sample{Seq: uint64(n), Label: spec.ListLeadLists, Due: due, Sent: due, Done: due + took, Status: status})
			}
			d.Keep(r.Recording(), nil)
		}
		drafts[side] = d
	}
	compared := Compare(drafts[0], drafts[1])
	r := load.Results{Comparison: &load.Comparison{Pairs: pairs, Figures: compared}}
	for _, d := range drafts {
		r.Scenarios = append(r.Scenarios, d.Conclude(inspect.Result{}).Scenario)
	}
	ConcludeRun(&r, true)
	RequireEvaluated(&r, terms.Thresholds)
	ConcludeComparison(&r)
	return r
}

func parsed(t *testing.T, text string) measure.Threshold {
	t.Helper()
	bound, err := measure.ParseThreshold(text)
	if err != nil {
		t.Fatal(err)
	}
	return bound
}

// A threshold says how much worse the second target may be. Without one, any difference
// that shows fails. An interval on both sides of the bound names the requests that would
// decide it.
func TestToleranceOfAComparison(t *testing.T) {
	by := func(factor float64) func(int) float64 { return func(int) float64 { return factor } }
	unsteady := func(i int) float64 { return 1.04 + 0.06*float64(i%3-1) } // 0.98, 1.04 and 1.10
	for name, tc := range map[string]struct {
		bound  string
		slower func(int) float64
		want   reports.Verdict
		says   string
	}{
		"a little slower":                  {"", by(1.02), reports.Failed, "response p50 is worse at B"},
		"a little slower, tolerated":       {"worse<5%", by(1.02), reports.Passed, ""},
		"slower than tolerated":            {"worse<5%", by(1.2), reports.Failed, "worse<5% missed: 120.1 ms, A has 100 ms; the change is 20.05 %"},
		"faster":                           {"worse<5%", by(0.5), reports.Passed, ""},
		"neither":                          {"worse<5%", unsteady, reports.Inconclusive, "needed for each target (--pairs "},
		"unsteady, but far from the bound": {"worse<50%", unsteady, reports.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := inTurn(t, tc.bound, func(side, i, _ int) (time.Duration, int) {
				return time.Duration([]float64{1, tc.slower(i)}[side] * float64(100*time.Millisecond)), 200
			})
			if said := strings.Join(r.Reasons, "\n"); r.Verdict != tc.want || !strings.Contains(said, tc.says) {
				t.Errorf("%s: %s\nwant %s: %s", r.Verdict, said, tc.want, tc.says)
			}
			if tc.bound == "" {
				return
			}
			if a, b := r.Scenarios[0].Thresholds, r.Scenarios[1].Thresholds; len(a) != 0 || len(b) != 3 {
				t.Errorf("thresholds of A %v, and of B %v; want three percentiles of B", a, b)
			}
		})
	}
}
