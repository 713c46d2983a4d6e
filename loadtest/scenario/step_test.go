package scenario

import (
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// A step of a search is short: its figure decides where its sample cannot. A
// confirmation has to be sure.
func TestStepsDecideByFiguresConfirmationsByIntervals(t *testing.T) {
	bound, err := threshold.Parse("sustained>=10/s") // of the search itself, and no step's
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{env: &Env{Thresholds: []threshold.Threshold{bound}}, scenario: Scenario{Name: "mine", Kind: Sustained, Thresholds: []string{"errors<1%", "p50<1s"}}}
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
			misses, unsure := r.misses(tc.rec, sure)
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

// A threshold on what is refused says how much of it a rate may show.
func TestAThresholdSaysHowMuchMayBeRefused(t *testing.T) {
	r := &runner{env: &Env{}, scenario: Scenario{Name: "mine", Kind: Sustained, Thresholds: []string{"limited<50%"}}}
	if missed, unsure := r.misses(made(1000, map[int]int{200: 700, 429: 300}), true); len(missed)+len(unsure) > 0 {
		t.Errorf("%q is missed", missed)
	}
}

// Whose the figures of a phase are: the generator's if it sent late, or could
// hardly send more. Lag is tolerated only where that was asked for.
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
		r := &runner{env: &Env{Calibration: measure.Calibration{Ceiling: tc.ceiling}, LagLimit: tc.tolerated}}
		c := r.judged(tc.rec)
		if (c.limited == "") != (tc.limited == "") || !strings.Contains(c.limited, tc.limited) {
			t.Errorf("%s: limited by %q, want %q", name, c.limited, tc.limited)
		}
		if noted := len(r.out.Notes) > 0; noted != (tc.tolerated > 20*time.Millisecond) {
			t.Errorf("%s: notes %q", name, r.out.Notes)
		}
	}
}

// Of a target that is too slow for a confirmation to be sure of anything, that is
// said, with the duration that would do.
func TestASearchSaysThatItsConfirmationsAreTooShort(t *testing.T) {
	s := Scenario{Name: "mine", Kind: Sustained, Thresholds: []string{"errors<1%", "p50<1s"}, Duration: time.Second, Confirm: 2 * time.Second}
	r := &runner{env: &Env{}, scenario: s, figures: map[threshold.Metric]threshold.Figure{}}
	short := made(40, map[int]int{200: 40}) // in a second
	_, unsure := r.misses(short, true)
	r.doubt = r.tooFew(short, unsure)
	r.out.Sustained = &load.Sustained{}
	r.uses.Searched = 40
	r.foundRate(found{above: 40, ceiling: true}, nil)
	o := r.outcome()
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

// One duration is advised, that of the highest rate: the lower ones, which are
// confirmed next, would each take another.
func TestASearchAdvisesOneDuration(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t)
		o := Run(t.Context(), env, builtinScenario(t, "sustained-rate", func(s *Scenario) {
			s.Mix = map[string]int{spec.ListLeadLists: 1}
			s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup, s.Limits = 40, 40, 50*time.Millisecond, 100*time.Millisecond, 0, []int{1}
			s.Thresholds = []string{"errors<1%"}
		}))
		var advised, doubted []string
		for _, k := range o.Sustained.Knee {
			if _, duration, found := strings.Cut(k.Why, "--duration "); found {
				advised = append(advised, duration)
			}
			if strings.Contains(k.Why, "not enough data to decide errors<1%") {
				doubted = append(doubted, k.Why)
			}
		}
		// Which rate is the highest depends on the machine, and with it the duration.
		if len(doubted) < 2 || len(advised) != 1 || len(o.Reasons) != 1 || !strings.HasSuffix(o.Reasons[0], "(--duration "+advised[0]) {
			t.Errorf("%s: %q; %q", o.Verdict, o.Reasons, doubted)
		}
	})(t)
}

// A confirmation lasts as much longer than the other phases of a search as before.
func TestConfirmationsLastInProportion(t *testing.T) {
	s := Scenario{Kind: Sustained, Duration: 1500 * time.Millisecond, Confirm: 3 * time.Second}
	if s.Last(5 * time.Second); s.Duration != 5*time.Second || s.Confirm != 10*time.Second {
		t.Errorf("%s, confirmed for %s", s.Duration, s.Confirm)
	}
	if s.Last(0); s.Duration != 0 || s.Confirm != 10*time.Second {
		t.Errorf("none: %s, confirmed for %s", s.Duration, s.Confirm)
	}
}
