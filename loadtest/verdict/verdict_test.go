package verdict

import (
	"fmt"
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

// made returns a phase of one second with so many planned requests. Each status came
// that often, after 10 ms.
func made(planned int, statuses map[int]int) measure.Recording {
	return sent(measure.Constant(float64(planned), time.Second), statuses)
}

// sent returns a phase in which each status came that often, after 10 ms.
func sent(plan measure.Schedule, statuses map[int]int) measure.Recording {
	r := measure.NewRecorder("steady", time.Unix(1e9, 0), plan)
	n := 0
	for status, times := range statuses {
		for range times {
			due := time.Duration(n) * time.Second / time.Duration(max(plan.Planned(), 1000))
			r.Add(measure.Sample{Seq: uint64(n), Label: spec.ListLeadLists, Due: due, Sent: due, Done: due + 10*time.Millisecond, Status: status})
			n++
		}
	}
	return r.Recording()
}

// shareOf returns the share of a process that sent the phases.
func shareOf(phases ...measure.Recording) Outcome {
	return Outcome{Recordings: phases, Traffic: load.Traffic{Statuses: map[string]int64{}}}
}

// mine is the scenario of the made phases.
var mine = scenario.Scenario{Name: "mine", About: "It is made up.", Kind: scenario.Steady, Mix: map[string]int{spec.ListLeadLists: 1}, Rate: 1000, Duration: time.Second}

// judgedOf returns the outcome of the shares under the thresholds.
func judgedOf(t *testing.T, thresholds []string, shares ...Outcome) Outcome {
	t.Helper()
	return judgedAs(t, mine, thresholds, shares...)
}

// judgedAs returns the outcome of the shares of a scenario.
func judgedAs(t *testing.T, s scenario.Scenario, thresholds []string, shares ...Outcome) Outcome {
	t.Helper()
	var all []measure.Threshold
	for _, text := range thresholds {
		parsed, err := measure.ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parsed)
	}
	if n := len(shares); n > 1 { // each is a shard of a plan of as many times the rate
		for i, share := range shares {
			for p := range share.Recordings {
				plan := &share.Recordings[p].Plan
				*plan = measure.Constant(float64(n)*plan.Segments[0].Rate, plan.Duration()).Shard(i, n)
			}
		}
	}
	return Join(s, shares, Terms{Thresholds: all, Calibration: measure.Calibration{Ceiling: 5000}})
}

// Each verdict has its reasons.
func TestVerdictOfAScenario(t *testing.T) {
	ok := func(n int) map[int]int { return map[int]int{200: n} }
	closed := sent(measure.Constant(0, time.Second), ok(10))
	near := shareOf(made(4500, ok(4500)))
	nearAndFailing := shareOf(made(4500, map[int]int{200: 4000, 500: 500}))
	for name, tc := range map[string]struct {
		thresholds []string
		share      Outcome
		want       reports.Verdict
		says       []string // the reasons, each in part
	}{
		"all is well":              {[]string{"p50<1s", "errors<1%"}, shareOf(made(1000, ok(1000))), reports.Passed, nil},
		"too little was sent":      {nil, shareOf(made(1000, ok(994))), reports.Inconclusive, []string{"steady: rate not reached: 994 of 1,000 requests were sent"}},
		"nothing was sent":         {nil, shareOf(made(1000, nil)), reports.Inconclusive, []string{"steady: no request was sent"}},
		"walkers have no rate":     {nil, shareOf(closed), reports.Passed, nil},
		"nothing was accepted":     {nil, shareOf(made(1000, map[int]int{500: 600, 429: 400})), reports.Inconclusive, []string{"none of 1,000 requests was accepted (status 429: 400, status 500: 600)"}},
		"most of it was refused":   {nil, shareOf(made(1000, map[int]int{200: 499, 429: 501})), reports.Inconclusive, []string{"501 of 1,000 requests got 429, more than were accepted"}},
		"a miss beats a doubt":     {[]string{"p50<1ms"}, shareOf(made(1000, ok(994))), reports.Failed, []string{"p50<1ms missed", "rate not reached"}},
		"the generator's miss":     {[]string{"p50<1ms"}, near, reports.Inconclusive, []string{"but the generator was near its ceiling"}},
		"errors are the target's":  {[]string{"errors<1%"}, nearAndFailing, reports.Failed, []string{"errors<1% missed"}},
		"of another scenario":      {[]string{"other: p50<1us"}, shareOf(made(1000, ok(1000))), reports.Passed, nil},
		"of a rate that did not":   {[]string{"mine: p50<1s@500/s"}, shareOf(made(1000, ok(1000))), reports.Inconclusive, []string{"no phase ran at 500/s"}},
		"a figure that it has not": {[]string{"mine: depth<2x"}, shareOf(made(1000, ok(1000))), reports.Inconclusive, []string{"mine: depth<2x inconclusive"}},
		"nothing to compare with":  {[]string{"worse<10%"}, shareOf(made(1000, ok(1000))), reports.Inconclusive, []string{"no baseline to compare with"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := judgedOf(t, tc.thresholds, tc.share)
			if o.Verdict != tc.want || len(o.Reasons) != len(tc.says) {
				t.Fatalf("%s: %q; want %s: %q", o.Verdict, o.Reasons, tc.want, tc.says)
			}
			for i, says := range tc.says {
				if !strings.Contains(o.Reasons[i], says) {
					t.Errorf("reason %d is %q, want %q in it", i, o.Reasons[i], says)
				}
			}
		})
	}
}

// One violated requirement fails the scenario. The violations of the shards add up,
// with and without examples.
func TestFindingsOfSharesAddUp(t *testing.T) {
	pair := spec.Pair{Requirement: "STATUS-200", Operation: spec.ListLeadLists}
	seen := func(broken int64, examples ...reports.Violation) Outcome {
		r := made(500, map[int]int{200: 500})
		s := shareOf(r)
		if broken > 0 {
			s.Violations = []load.Violation{{Requirement: pair.Requirement, Operation: pair.Operation, Count: broken, Examples: examples}}
		}
		s.Inspected = inspect.Result{Answers: 500, Judged: 300, Known: 100, Dropped: 60, Unsampled: 40}
		return s
	}
	example, other := reports.Violation{Expected: "200", Actual: "500"}, reports.Violation{Pointer: "/items", Expected: "items"}
	o := judgedOf(t, nil, seen(4, example, other), seen(3), seen(0))
	if o.Verdict != reports.Failed || len(o.Reasons) != 1 || !strings.Contains(o.Reasons[0], "a requirement was violated under load: STATUS-200 on lead-lists.list (7 times)") {
		t.Errorf("%s: %q", o.Verdict, o.Reasons)
	}
	if len(o.Violations) != 1 || o.Violations[0].Count != 7 || len(o.Violations[0].Examples) != 2 {
		t.Errorf("violations: %+v", o.Violations)
	}
	if c := o.Coverage; c == nil || *c != (load.Coverage{Answers: 1500, Checked: 900, Memo: 300, Dropped: 180, LeftOut: 120, Share: 0.8}) {
		t.Errorf("coverage: %+v", c)
	}
}

// A given threshold replaces the scenario's own on the same figure if it applies as
// widely. No threshold excuses a violation.
func TestThresholdsThatAreGivenReplaceTheScenariosOwn(t *testing.T) {
	answered := shareOf(made(1000, map[int]int{200: 980, 503: 20}))
	breaking := answered
	breaking.Violations = []load.Violation{{Requirement: "STATUS-200", Operation: spec.ListLeadLists, Count: 20,
		Examples: []reports.Violation{{Expected: "200", Actual: "503"}}}}
	own := mine
	own.Thresholds = []string{"errors<1%"}
	for name, tc := range map[string]struct {
		given []string
		share Outcome
		held  string
		says  string // the only reason, in part; empty for a pass
	}{
		"nothing":                  {nil, answered, "errors<1%", "errors<1% missed"},
		"a wider bound":            {[]string{"errors<5%"}, answered, "errors<5%", ""},
		"one for a rate":           {[]string{"errors<5%@1000/s"}, answered, "errors<1% errors<5%@1000/s", "errors<1% missed"},
		"one for a label":          {[]string{"[lead-lists.list]: errors<5%"}, answered, "errors<1% [lead-lists.list]: errors<5%", "errors<1% missed"},
		"a narrower bound besides": {[]string{"errors<5%", "errors<1.5%"}, answered, "errors<5% errors<1.5%", "errors<1.5% inconclusive"},
		"a broken requirement":     {[]string{"errors<5%"}, breaking, "errors<5%", "STATUS-200 on lead-lists.list (20 times); errors<5% tolerates failed requests, STATUS-200 does not"},
	} {
		o := judgedAs(t, own, tc.given, tc.share)
		var held []string
		for _, one := range o.Thresholds {
			held = append(held, one.Text)
		}
		if got := strings.Join(held, " "); got != tc.held {
			t.Errorf("%s: held are %s, want %s", name, got, tc.held)
		}
		if reasons := strings.Join(o.Reasons, "; "); !strings.Contains(reasons, tc.says) || len(o.Reasons) > 1 || (tc.says == "") != (o.Verdict == reports.Passed) {
			t.Errorf("%s: %s: %q, want just %q", name, o.Verdict, o.Reasons, tc.says)
		}
	}
}

// The same problem in many phases is one reason, with the count and the phases.
func TestReasonsOfOneCauseAreMerged(t *testing.T) {
	phases := func(n int) Outcome {
		var all []measure.Recording
		for i := range n {
			rec := made(1000, map[int]int{200: 900 - i, 500: 100 + i})
			rec.Name = fmt.Sprintf("limit=%d", i+1)
			all = append(all, rec)
		}
		return shareOf(all...)
	}
	for n, want := range map[int]string{
		1:  ", not below 1 %: 100 of 1,000 requests failed",
		2:  ", not below 1 %: 100 of 1,000 requests failed; and 1 more: limit=2 (10.1 %)",
		3:  ", not below 1 %: 100 of 1,000 requests failed; and 2 more: limit=2 (10.1 %), limit=3 (10.2 %)",
		12: "; and 11 more: limit=2 (10.1 %), limit=3 (10.2 %), limit=4 (10.3 %), limit=5 (10.4 %), limit=6 (10.5 %), limit=7 (10.6 %), limit=8 (10.7 %), limit=9 (10.8 %), …",
	} {
		o := judgedOf(t, []string{"errors<1%"}, phases(n))
		if len(o.Reasons) != 1 || !strings.HasSuffix(o.Reasons[0], want) || strings.HasPrefix(o.Reasons[0], "limit=1: errors<1% missed: ") != (n > 1) {
			t.Errorf("%d phases: %q, want one that ends with %q", n, o.Reasons, want)
		}
		if len(o.Thresholds) != n {
			t.Errorf("%d thresholds are listed, want one for each of %d phases", len(o.Thresholds), n)
		}
	}
	o := judgedOf(t, []string{"errors<1%"}, shareOf(made(1000, map[int]int{200: 10}), made(1000, map[int]int{500: 1000})))
	if got := strings.Join(o.Reasons, "\n"); len(o.Reasons) != 4 || strings.Contains(got, "more: ") {
		t.Errorf("unlike reasons were joined: %s", got)
	}
}

// Phases that no shard ran are missing from the whole.
func TestShardsThatLackTheSamePhase(t *testing.T) {
	two := mine
	two.Limits = []int{1, 10}
	for phases, want := range map[int]reports.Verdict{1: reports.Inconclusive, 2: reports.Passed} {
		var shares []Outcome
		for range 2 {
			var all []measure.Recording
			for range phases {
				all = append(all, made(500, map[int]int{200: 500}))
			}
			shares = append(shares, shareOf(all...))
		}
		shares[0].Reasons = []string{"no budget"}
		o := judgedAs(t, two, nil, shares...)
		if said := strings.Join(o.Reasons, "\n"); o.Verdict != want || (phases == 1) != strings.Contains(said, "shard 1 ran 1 of 2 phases: no budget") {
			t.Errorf("%d phases: %s: %s", phases, o.Verdict, said)
		}
	}
}

// A list is empty if a shard has judged it and none has seen a row.
func TestEmptyListsOfShards(t *testing.T) {
	const list = spec.ListLeadLists
	for name, tc := range map[string]struct {
		first, second map[string]bool
		want          reports.Verdict
	}{
		"both saw none":           {map[string]bool{list: false}, map[string]bool{list: false}, reports.Inconclusive},
		"one saw none":            {map[string]bool{list: false}, nil, reports.Inconclusive},
		"the other saw none":      {nil, map[string]bool{list: false}, reports.Inconclusive},
		"one saw rows":            {map[string]bool{list: true}, map[string]bool{list: false}, reports.Passed},
		"no response was checked": {nil, nil, reports.Passed},
	} {
		shares := []Outcome{shareOf(made(500, map[int]int{200: 500})), shareOf(made(500, map[int]int{200: 500}))}
		shares[0].Inspected.Rows, shares[1].Inspected.Rows = tc.first, tc.second
		if o := judgedOf(t, nil, shares...); o.Verdict != tc.want {
			t.Errorf("%s: %s: %q, want %s", name, o.Verdict, o.Reasons, tc.want)
		}
	}
}

// A failed scenario fails the run. An inconclusive one makes it inconclusive. A
// scenario that lacks an input counts only if the user named it.
func TestVerdictOfARun(t *testing.T) {
	scenario := func(name string, verdict reports.Verdict, missing ...string) load.Scenario {
		return load.Scenario{Name: name, Verdict: verdict, Missing: missing, Reasons: []string{name + "'s reason"}}
	}
	pass, fail, void := scenario("good", reports.Passed), scenario("bad", reports.Failed), scenario("mute", reports.Inconclusive)
	lacking := scenario("lacking", reports.Inconclusive, "a key")
	for name, tc := range map[string]struct {
		scenarios   []load.Scenario
		byName      bool
		interrupted bool
		want        reports.Verdict
		reasons     string
	}{
		"all good":            {scenarios: []load.Scenario{pass, pass}, want: reports.Passed},
		"one bad":             {scenarios: []load.Scenario{pass, fail, void}, want: reports.Failed, reasons: "bad: bad's reason|mute: mute's reason"},
		"none":                {want: reports.Inconclusive, reasons: "no scenario could run"},
		"left out":            {scenarios: []load.Scenario{pass, lacking}, want: reports.Passed},
		"asked for by name":   {scenarios: []load.Scenario{pass, lacking}, byName: true, want: reports.Inconclusive, reasons: "lacking: lacking's reason"},
		"interrupted":         {scenarios: []load.Scenario{pass}, interrupted: true, want: reports.Inconclusive, reasons: "the run was interrupted"},
		"bad and interrupted": {scenarios: []load.Scenario{fail}, interrupted: true, want: reports.Inconclusive, reasons: "bad: bad's reason|the run was interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			r := load.Results{Scenarios: tc.scenarios, Run: load.Run{Interrupted: tc.interrupted}}
			ConcludeRun(&r, tc.byName)
			if got := strings.Join(r.Reasons, "|"); r.Verdict != tc.want || got != tc.reasons {
				t.Errorf("%s: %q; want %s: %q", r.Verdict, got, tc.want, tc.reasons)
			}
		})
	}
}

// A generator that gets late does not make an honest target drift, or slow after a burst.
func TestLagIsNoTrend(t *testing.T) {
	const third = 20 * time.Second
	trend := func(lag, took time.Duration) measure.Recording {
		r := measure.NewRecorder("soak", time.Time{}, measure.Constant(100, 3*third))
		for i := range 6000 {
			due, late, takes := time.Duration(i)*10*time.Millisecond, time.Duration(0), time.Millisecond
			if due >= 2*third {
				late, takes = lag, took
			}
			r.Add(measure.Sample{Label: spec.ListLeadLists, Due: due, Sent: due + late, Done: due + late + takes, Status: 200})
		}
		return r.Recording()
	}
	for _, tc := range []struct {
		lag, took time.Duration
		want      reports.Verdict
	}{{40 * time.Millisecond, time.Millisecond, reports.Inconclusive}, {0, 40 * time.Millisecond, reports.Failed}, {2 * time.Millisecond, 40 * time.Millisecond, reports.Failed}} {
		for name, judge := range map[string]func(*Draft, measure.Recording){
			"drift":    func(d *Draft, rec measure.Recording) { d.Drift(rec) },
			"recovery": func(d *Draft, rec measure.Recording) { d.Recovery(rec, third) },
		} {
			d := NewDraft(mine, Terms{Calibration: measure.Calibration{Ceiling: 10_000}})
			rec := trend(tc.lag, tc.took)
			judge(d, rec)
			d.Keep(rec, nil)
			if got := d.Conclude(inspect.Result{}).Verdict; got != tc.want {
				t.Errorf("%s: late by %s, took %s: %s, want %s", name, tc.lag, tc.took, got, tc.want)
			}
		}
	}
}

// The load is the requested one unless the requests went out in other seconds than
// planned, and --lag-limit does not allow that.
func TestWhichLoadTheTargetGot(t *testing.T) {
	lagging := func(lag time.Duration) measure.Recording {
		r := measure.NewRecorder("steady", time.Time{}, measure.Constant(100, 3*time.Second))
		for i := range 300 {
			due := time.Duration(i) * 10 * time.Millisecond
			r.Add(measure.Sample{Seq: uint64(i), Label: spec.ListLeadLists, Due: due, Sent: due + lag, Done: due + lag + time.Millisecond, Status: 200})
		}
		return r.Recording()
	}
	near := made(100, map[int]int{200: 100})
	for name, tc := range map[string]struct {
		rec       measure.Recording
		ceiling   float64
		tolerated time.Duration
		other     string // how the load differed; empty if it did not
		notes     string
	}{
		"in time":                   {lagging(0), 10_000, 0, "", ""},
		"late":                      {lagging(time.Second), 10_000, 0, "33 % of the requests went out in another second than planned", "up to 1,000 ms late"},
		"late, and tolerated":       {lagging(time.Second), 10_000, 2 * time.Second, "", "up to 1,000 ms late"},
		"in time, near the ceiling": {near, 100, 0, "", "100 requests/s are near the ceiling"},
	} {
		d := NewDraft(mine, Terms{Calibration: measure.Calibration{Ceiling: tc.ceiling}, LagLimit: tc.tolerated})
		p := d.assess(tc.rec)
		if (p.otherLoad == "") != (tc.other == "") || !strings.Contains(p.otherLoad, tc.other) {
			t.Errorf("%s: another load because %q, want %q", name, p.otherLoad, tc.other)
		}
		d.noteGenerator(p)
		if notes := strings.Join(d.Result.Notes, "\n"); (notes == "") != (tc.notes == "") || !strings.Contains(notes, tc.notes) {
			t.Errorf("%s: notes %q, want %q", name, notes, tc.notes)
		}
	}
}

// chosen returns what a run of these built-in scenarios can be judged by.
func chosen(t *testing.T, names ...string) Applicable {
	t.Helper()
	picked, err := scenario.Select(scenario.Builtin(), names)
	if err != nil {
		t.Fatal(err)
	}
	return Applicable{Chosen: picked, Known: scenario.Builtin()}
}

// A threshold that the run can never evaluate, or that every run meets, is an error.
// It names what there is instead.
func TestThresholdsThatNeverDecide(t *testing.T) {
	for text, says := range map[string]string{
		"p99<1s":                   "",
		"soak: p99<1s":             "",
		"p99<1s@300/s":             "no phase runs at 300/s: ",
		"mixed: p99<1s":            "scenario mixed is not selected (selected: page-depth, soak)",
		"soaks: p99<1s":            "unknown scenario soaks",
		"sustained>=10/s":          "no selected scenario has this figure (page-depth, soak)",
		"depth<2x":                 "",
		"[lead-list.list]: p99<1s": `no request is labelled "lead-list.list"`,
		"worse<10%":                "no baseline (name the load.json of an earlier run",
		"worse<10% vs a.json":      "",
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			given, err := measure.ParseThresholds([]string{text})
			g.Expect(err).NotTo(HaveOccurred())
			err = chosen(t, "soak", "page-depth").Check(given)
			if says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(HavePrefix("--threshold "), ContainSubstring(says))))
		})
	}
	g := NewWithT(t)
	given, err := measure.ParseThresholds([]string{"worse<100% vs a.json"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(chosen(t, "sustained-rate").Check(given)).To(MatchError(ContainSubstring(scenario.EveryRunMeets)))
}

// The profile's thresholds serve every run. Those for other runs are skipped. Those
// for no run are errors.
func TestThresholdsOfTheProfile(t *testing.T) {
	g := NewWithT(t)
	given, err := measure.ParseThresholds([]string{"max<20s"})
	g.Expect(err).NotTo(HaveOccurred())
	a := chosen(t, "mixed")
	merged, skipped, err := a.Merge([]string{"p50<20s", "soak: p50<1us", "sustained>=100000/s", "worse<10%"}, given)
	g.Expect(err).To(MatchError(ContainSubstring(`load.thresholds[3] in the profile: "worse<10%": no baseline`)))
	g.Expect(skipped).To(Equal([]string{"soak: p50<1us", "sustained>=100000/s"}))
	g.Expect(merged).To(HaveExactElements(HaveField("Text", "p50<20s"), HaveField("Text", "max<20s")))

	_, _, err = a.Merge([]string{"p50<", "lists: p50<1s"}, nil)
	g.Expect(err).To(MatchError(And(ContainSubstring("load.thresholds[0] in the profile: "), ContainSubstring("load.thresholds[1] in the profile: \"lists: p50<1s\": unknown scenario lists"))))

	a.Baseline = true
	_, _, err = a.Merge([]string{"p50<20s"}, given)
	g.Expect(err).To(MatchError(HavePrefix("--baseline: no threshold uses it")))
	_, _, err = a.Merge([]string{"worse<10%"}, given)
	g.Expect(err).NotTo(HaveOccurred())
}
