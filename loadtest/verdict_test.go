package loadtest

import (
	"strings"
	"testing"

	"outreach.example/conformance/reports/load"
)

// What is seen to be broken fails a run; what says nothing makes it VOID; a
// scenario that lacks an input counts only if it was asked for by name.
func TestVerdictOfARun(t *testing.T) {
	scenario := func(name string, verdict load.Verdict, missing ...string) load.Scenario {
		return load.Scenario{Name: name, Verdict: verdict, Missing: missing, Reasons: []string{name + "'s reason"}}
	}
	pass, fail, void := scenario("good", load.Pass), scenario("bad", load.Fail), scenario("mute", load.Void)
	lacking := scenario("lacking", load.Void, "a key")
	for name, tc := range map[string]struct {
		scenarios   []load.Scenario
		byName      bool
		interrupted bool
		want        load.Verdict
		reasons     string
	}{
		"all good":            {scenarios: []load.Scenario{pass, pass}, want: load.Pass},
		"one bad":             {scenarios: []load.Scenario{pass, fail, void}, want: load.Fail, reasons: "bad: bad's reason|mute: mute's reason"},
		"one says nothing":    {scenarios: []load.Scenario{pass, void}, want: load.Void, reasons: "mute: mute's reason"},
		"none":                {want: load.Void, reasons: "no scenario could run"},
		"left out":            {scenarios: []load.Scenario{pass, lacking}, want: load.Pass},
		"only left out":       {scenarios: []load.Scenario{lacking}, want: load.Void, reasons: "no scenario could run"},
		"asked for by name":   {scenarios: []load.Scenario{pass, lacking}, byName: true, want: load.Void, reasons: "lacking: lacking's reason"},
		"interrupted":         {scenarios: []load.Scenario{pass}, interrupted: true, want: load.Void, reasons: "the run was interrupted"},
		"bad and interrupted": {scenarios: []load.Scenario{fail}, interrupted: true, want: load.Void, reasons: "bad: bad's reason|the run was interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			r := load.Results{Scenarios: tc.scenarios, Run: load.Run{Interrupted: tc.interrupted}}
			conclude(&r, tc.byName)
			if got := strings.Join(r.Reasons, "|"); r.Verdict != tc.want || got != tc.reasons {
				t.Errorf("%s: %q; want %s: %q", r.Verdict, got, tc.want, tc.reasons)
			}
		})
	}
}

// Of two targets the second must be no worse, as far as can be told.
func TestVerdictOfAComparison(t *testing.T) {
	figure := func(effect load.Effect) load.ComparedFigure {
		return load.ComparedFigure{Name: string(effect), Unit: "ms", A: new(4.0), B: new(5.0), P: 0.001, Verdict: effect}
	}
	for name, tc := range map[string]struct {
		figures []load.ComparedFigure
		before  load.Verdict
		want    load.Verdict
	}{
		"the same":             {[]load.ComparedFigure{figure(load.NoDifference)}, load.Pass, load.Pass},
		"better":               {[]load.ComparedFigure{figure(load.Better), figure(load.NoDifference)}, load.Pass, load.Pass},
		"worse":                {[]load.ComparedFigure{figure(load.EffectNotKnown), figure(load.Worse)}, load.Pass, load.Fail},
		"not known":            {[]load.ComparedFigure{figure(load.NoDifference), figure(load.EffectNotKnown)}, load.Pass, load.Void},
		"nothing":              {nil, load.Pass, load.Void},
		"worse, and void":      {[]load.ComparedFigure{figure(load.Worse)}, load.Void, load.Void},
		"the same, but failed": {[]load.ComparedFigure{figure(load.NoDifference)}, load.Fail, load.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			r := load.Results{Verdict: tc.before, Reasons: []string{"before"}, Comparison: &load.Comparison{Figures: tc.figures}}
			r.Comparison.B.BaseURL = "http://b"
			concludeComparison(&r)
			if r.Verdict != tc.want || (tc.before == load.Pass) && (tc.want == load.Pass) != (len(r.Reasons) == 1) {
				t.Errorf("%s: %q, want %s", r.Verdict, r.Reasons, tc.want)
			}
			if name == "worse" && (len(r.Reasons) != 3 || !strings.HasPrefix(r.Reasons[0], "worse is worse at B (http://b): 5 ms, A has 4") || r.Reasons[2] != "before") {
				t.Errorf("the comparison comes first, with the address: %q", r.Reasons)
			}
		})
	}
}
