package verdict

import (
	"strings"
	"testing"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

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
		"one says nothing":    {scenarios: []load.Scenario{pass, void}, want: reports.Inconclusive, reasons: "mute: mute's reason"},
		"none":                {want: reports.Inconclusive, reasons: "no scenario could run"},
		"left out":            {scenarios: []load.Scenario{pass, lacking}, want: reports.Passed},
		"only left out":       {scenarios: []load.Scenario{lacking}, want: reports.Inconclusive, reasons: "no scenario could run"},
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

// The second target must not be worse than the first. An unknown effect is
// inconclusive.
func TestVerdictOfAComparison(t *testing.T) {
	figure := func(effect load.Effect) load.ComparedFigure {
		return load.ComparedFigure{Name: string(effect), Unit: "ms", A: new(4.0), B: new(5.0), P: 0.001, Verdict: effect}
	}
	unknown := load.ComparedFigure{Name: string(load.EffectNotKnown), Unit: "ms", Verdict: load.EffectNotKnown, Why: "a block has no value"}
	for name, tc := range map[string]struct {
		figures []load.ComparedFigure
		before  reports.Verdict
		want    reports.Verdict
	}{
		"the same":             {[]load.ComparedFigure{figure(load.NoDifference)}, reports.Passed, reports.Passed},
		"better":               {[]load.ComparedFigure{figure(load.Better), figure(load.NoDifference)}, reports.Passed, reports.Passed},
		"worse":                {[]load.ComparedFigure{unknown, figure(load.Worse)}, reports.Passed, reports.Failed},
		"not known":            {[]load.ComparedFigure{figure(load.NoDifference), unknown}, reports.Passed, reports.Inconclusive},
		"nothing":              {nil, reports.Passed, reports.Inconclusive},
		"void blocks":          {[]load.ComparedFigure{figure(load.EffectNotKnown)}, reports.Inconclusive, reports.Inconclusive},
		"worse, and void":      {[]load.ComparedFigure{figure(load.Worse)}, reports.Inconclusive, reports.Inconclusive},
		"the same, but failed": {[]load.ComparedFigure{figure(load.NoDifference)}, reports.Failed, reports.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			r := load.Results{Verdict: tc.before, Reasons: []string{"before"}, Comparison: &load.Comparison{Figures: tc.figures}}
			r.Comparison.B.BaseURL = "http://b"
			ConcludeComparison(&r)
			if r.Verdict != tc.want || (tc.before == reports.Passed) && (tc.want == reports.Passed) != (len(r.Reasons) == 1) {
				t.Errorf("%s: %q, want %s", r.Verdict, r.Reasons, tc.want)
			}
			if name == "worse" && (len(r.Reasons) != 3 || !strings.HasPrefix(r.Reasons[0], "worse is worse at B (http://b): 5 ms, A has 4") || r.Reasons[2] != "before") {
				t.Errorf("the comparison comes first, with the address: %q", r.Reasons)
			}
		})
	}
}
