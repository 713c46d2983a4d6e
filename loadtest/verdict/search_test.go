package verdict

import (
	"outreach.example/conformance/loadtest/schedule"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/inspect"
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
		"many refused":           {made(1000, map[int]int{200: 989, 429: 11}), "11 of 1,000 requests got 429", "11 of 1,000 requests got 429"},
		"nothing accepted":       {made(100, map[int]int{429: 100}), "nothing was accepted", "nothing was accepted"},
	} {
		for sure, want := range map[bool]string{false: tc.step, true: tc.confirmation} {
			misses, _, unsure := d.misses(tc.rec, sure)
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

// The load is the requested one unless the requests went out in other seconds than
// planned, and --lag-limit does not allow that.
func TestWhichLoadTheTargetGot(t *testing.T) {
	lagging := func(lag time.Duration) measure.Recording {
		r := measure.NewRecorder("steady", time.Time{}, schedule.Constant(100, 3*time.Second))
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
		"a little late":             {lagging(20 * time.Millisecond), 10_000, 0, "", "requests were sent up to 20 ms late (p99)"},
		"late":                      {lagging(time.Second), 10_000, 0, "33 % of the requests went out in another second than planned", "up to 1,000 ms late"},
		"late, and tolerated":       {lagging(time.Second), 10_000, 2 * time.Second, "", "up to 1,000 ms late"},
		"later than is tolerated":   {lagging(time.Second), 10_000, 10 * time.Millisecond, "33 % of the requests", "up to 1,000 ms late"},
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

// If no confirmation has enough requests, the reason names a duration that suffices.
func TestASearchSaysThatItsConfirmationsAreTooShort(t *testing.T) {
	s := scenario.Scenario{Name: "mine", Kind: scenario.Sustained, Thresholds: []string{"errors<1%", "p50<1s"}, Duration: time.Second, Confirm: 2 * time.Second}
	d := NewDraft(s, Terms{})
	d.BeginSearch()
	d.Try(made(40, map[int]int{200: 40}), true) // in a second
	d.EndSearch(Found{Above: 40, Ceiling: true}, nil)
	o := d.Conclude(inspect.Result{})
	want := "no rate could be confirmed: not enough data to decide errors<1% at 40/s: 40 requests sent in 1 s, 40 answered; about 368 needed (--duration 5s)"
	if o.Verdict != reports.Inconclusive || len(o.Reasons) != 1 || o.Reasons[0] != want {
		t.Errorf("%s: %q, want just %q", o.Verdict, o.Reasons, want)
	}
	for _, held := range o.Thresholds {
		if held.Outcome != load.Inconclusive || held.Why != "no rate was confirmed; the short phases of the search do not count" {
			t.Errorf("%s is %s: %s", held.Text, held.Outcome, held.Why)
		}
	}
}
