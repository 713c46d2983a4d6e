package verdict

import (
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// A step of a search is short, so its value decides if its sample cannot. A
// confirmation needs a sample that decides.
func TestStepsDecideByFiguresConfirmationsByIntervals(t *testing.T) {
	bound, err := threshold.Parse("sustained>=10/s") // of the search itself, and no step's
	if err != nil {
		t.Fatal(err)
	}
	d := NewDraft(scenario.Scenario{Name: "mine", Kind: scenario.Sustained, Thresholds: []string{"errors<1%", "p50<1s"}}, Terms{Thresholds: []threshold.Threshold{bound}})
	for name, tc := range map[string]struct {
		rec                measure.Recording
		step, confirmation string // what is missed; empty for nothing
	}{
		"met":                    {made(1000, map[int]int{200: 1000}), "", ""},
		"met, as far as seen":    {made(100, map[int]int{200: 100}), "", "errors<1%: "},
		"missed, as far as seen": {made(100, map[int]int{200: 98, 500: 2}), "errors<1%: ", "errors<1%: "},
		"missed":                 {made(1000, map[int]int{200: 800, 500: 200}), "errors<1%: ", "errors<1%: "},
		"hardly any refused":     {made(1000, map[int]int{200: 990, 429: 10}), "", ""},
		"many refused":           {made(1000, map[int]int{200: 989, 429: 11}), "11 of 1000 requests got 429", "11 of 1000 requests got 429"},
		"nothing accepted":       {made(100, map[int]int{429: 100}), "nothing was accepted", "nothing was accepted"},
	} {
		for sure, want := range map[bool]string{false: tc.step, true: tc.confirmation} {
			misses, unsure := d.misses(tc.rec, sure)
			for _, result := range unsure {
				misses = append(misses, result.Threshold.Text+": ")
			}
			missed := strings.Join(misses, "; ")
			if (missed == "") != (want == "") || !strings.HasPrefix(missed, want) || strings.Contains(missed, "p50") {
				t.Errorf("%s, to be sure %t: %q is missed, want %q", name, sure, missed, want)
			}
		}
	}
}

// A threshold on 429 answers replaces the default share that a rate may have.
func TestAThresholdSaysHowMuchMayBeRefused(t *testing.T) {
	d := NewDraft(scenario.Scenario{Name: "mine", Kind: scenario.Sustained, Thresholds: []string{"limited<50%"}}, Terms{})
	if missed, unsure := d.misses(made(1000, map[int]int{200: 700, 429: 300}), true); len(missed)+len(unsure) > 0 {
		t.Errorf("%q is missed", missed)
	}
}

// The generator affects the figures if it sent late or near its ceiling. Lag is
// tolerated only if --lag-limit allows it.
func TestWhoseFiguresTheyAre(t *testing.T) {
	lagging := func(lag time.Duration) measure.Recording {
		r := measure.NewRecorder(measure.Plan{Name: "steady", Planned: 100, Rate: 100, Duration: time.Second})
		for i := range 100 {
			due := time.Duration(i) * 10 * time.Millisecond
			r.Add(measure.Sample{Seq: uint64(i), Label: spec.ListLeadLists, Due: due, Sent: due + lag, Done: due + lag + time.Millisecond, Status: 200})
		}
		return r.Recording()
	}
	near := made(100, map[int]int{200: 100})
	near.Series = []measure.Second{{Asked: 100}}
	for name, tc := range map[string]struct {
		rec       measure.Recording
		ceiling   float64
		tolerated time.Duration
		limited   string // why the figures are the generator's, in part; empty if they are not
	}{
		"in time":                   {lagging(0), 10_000, 0, ""},
		"late":                      {lagging(20 * time.Millisecond), 10_000, 0, "were sent more than 20ms after they were due"},
		"late, and tolerated":       {lagging(20 * time.Millisecond), 10_000, 30 * time.Millisecond, ""},
		"later than is tolerated":   {lagging(20 * time.Millisecond), 10_000, 10 * time.Millisecond, "were sent more than 20ms"},
		"in time, near the ceiling": {near, 100, 0, "100 requests/s are near the ceiling"},
	} {
		d := NewDraft(mine, Terms{Calibration: measure.Calibration{Ceiling: tc.ceiling}, LagLimit: tc.tolerated})
		p := d.Assess(tc.rec)
		if (p.Limited == "") != (tc.limited == "") || !strings.Contains(p.Limited, tc.limited) {
			t.Errorf("%s: limited by %q, want %q", name, p.Limited, tc.limited)
		}
		if noted := len(d.Result.Notes) > 0; noted != (tc.tolerated > 20*time.Millisecond) {
			t.Errorf("%s: notes %q", name, d.Result.Notes)
		}
	}
}

// If no confirmation has enough requests, the reason names a duration that suffices.
func TestASearchSaysThatItsConfirmationsAreTooShort(t *testing.T) {
	s := scenario.Scenario{Name: "mine", Kind: scenario.Sustained, Thresholds: []string{"errors<1%", "p50<1s"}, Duration: time.Second, Confirm: 2 * time.Second}
	d := NewDraft(s, Terms{})
	d.BeginSearch()
	d.Try(made(40, map[int]int{200: 40}), true) // in a second
	d.EndSearch(Found{Above: 40, Ceiling: true}, nil)
	o := d.Conclude(Findings{})
	want := "no rate could be confirmed: not enough data to decide errors<1% at 40/s for 1s: 40 requests sent, 40 answered; about 368 needed (--duration 5s)"
	if o.Verdict != reports.Inconclusive || len(o.Reasons) != 1 || o.Reasons[0] != want {
		t.Errorf("%s: %q, want just %q", o.Verdict, o.Reasons, want)
	}
	for _, held := range o.Thresholds {
		if held.Outcome != load.Inconclusive || held.Why != unconfirmed {
			t.Errorf("%s is %s: %s", held.Text, held.Outcome, held.Why)
		}
	}
}

// A rate that was held is achieved, even if its phase does not end at a full second.
func TestKneePointOfARateThatWasHeld(t *testing.T) {
	for _, tc := range []struct {
		took     time.Duration // by each answer
		low, top float64
	}{
		{time.Millisecond, 99.9, 100},
		{500 * time.Millisecond, 74, 76}, // the last answer comes half a second after the schedule's end
		{2500 * time.Millisecond, 37, 38},
	} {
		const rate = 100
		plan := measure.Plan{Name: "100/s", Planned: 150, Rate: rate, Duration: 1500 * time.Millisecond}
		recorder := measure.NewRecorder(plan)
		for i := range plan.Planned {
			due := time.Duration(i) * time.Second / rate
			recorder.Add(measure.Sample{Seq: uint64(i), Label: "x", Due: due, Sent: due, Done: due + tc.took, Status: 200})
		}
		if got := kneePoint(recorder.Recording(), true, "").AchievedPerSecond; got < tc.low || got > tc.top {
			t.Errorf("answers after %s: %.2f/s achieved, want %v to %v", tc.took, got, tc.low, tc.top)
		}
	}
}
