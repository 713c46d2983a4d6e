package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/measure"

	"outreach.example/conformance/reports/load"
)

// BeginSearch makes the scenario one that searches for the highest rate.
func (d *Draft) BeginSearch() { d.Result.Sustained = &load.Sustained{} }

// Tried is the result of one rate of a search.
type Tried struct {
	Met bool
	// Ceiling means that the generator could not reach the rate, so nothing is
	// known about the target there.
	Ceiling bool
	// Served is the rate with which the target kept up if it fell behind; otherwise 0.
	Served float64
}

// Try judges one rate of a search. Only a rate that is confirmed counts for the
// thresholds.
func (d *Draft) Try(rec measure.Recording, confirm bool) Tried {
	// The generator can only make figures worse. So a rate that meets the
	// thresholds is met. One that does not is the target's fault if no lag explains it.
	limitedBy := ""
	if !d.tolerates(rec) {
		limitedBy = cmp.Or(d.terms.Calibration.Near(rec), rec.SentLate())
	}
	missed, surely, unsure := d.misses(rec, confirm)
	why := strings.Join(missed, "; ")
	t := Tried{Met: len(missed)+len(unsure) == 0}
	switch {
	case float64(rec.Sent) < leastSent*float64(rec.Planned()):
		why = fmt.Sprintf("%s of %s requests were sent", printable.Number(rec.Sent), printable.Number(rec.Planned()))
		t = Tried{Ceiling: rec.Served() == 0} // a target that falls behind takes all workers
	case why == "" && len(unsure) > 0:
		said, need := undecided(rec, unsure)
		if why = said; d.unsure == "" { // keep the highest rate's reason: lower rates have even fewer requests
			why += "; " + d.advice(rec, need)
			d.unsure = why
		}
	case why != "" && limitedBy != "" && !surely:
		why = limitedBy
		t.Ceiling = true
	}
	t.Served = rec.Served()
	found := d.Result.Sustained
	found.SaturationPerSecond = max(found.SaturationPerSecond, t.Served)
	point := kneePoint(rec, t.Met, why)
	point.QueueGrew = t.Served > 0
	found.Knee = append(found.Knee, point)
	if confirm && t.Met {
		d.Keep(rec, nil)
	} else {
		d.Uses.Searched += rec.Sent
	}
	return t
}

// Found is the result of a search. Rates are requests per second.
type Found struct {
	Rate      float64 // the highest that was met; 0 if none was
	Above     float64 // the lowest that was not met; 0 if none was
	Confirmed bool
	Ceiling   bool // the generator limited the search
	Most      bool // the search ended at the highest allowed rate
}

// EndSearch records the result of the search. err is what aborted it, if anything did.
func (d *Draft) EndSearch(f Found, err error) {
	s := d.Result.Sustained
	slices.SortStableFunc(s.Knee, func(a, b load.KneePoint) int { return cmp.Compare(a.AskedPerSecond, b.AskedPerSecond) })
	s.RatePerSecond, s.LowPerSecond, s.HighPerSecond, s.Confirmed = f.Rate, f.Rate, max(f.Above, f.Rate), f.Confirmed
	switch {
	case err != nil:
		s.Note = "the search was aborted"
	case f.Confirmed && f.Ceiling:
		s.Note = "limited by the generator; the target may be faster"
	case f.Confirmed && f.Most:
		s.Note = "the scenario's maximum rate; the target may be faster"
	case !f.Confirmed && d.unsure != "":
		s.Note = "some rates met the thresholds briefly, but none could be confirmed"
		d.Void("no rate could be confirmed: %s", d.unsure)
	case f.Ceiling:
		d.Void("no rate could be confirmed: the generator could not send at the rates in time (use an idle machine)")
	case !f.Confirmed && slices.ContainsFunc(s.Knee, func(p load.KneePoint) bool { return p.OK }):
		s.Note = "some rates met the thresholds briefly, none for long"
		d.Void("no rate met the thresholds for %s, though some did for %s", printable.Seconds(d.scenario.Confirm), printable.Seconds(d.scenario.Duration))
	case !f.Confirmed:
		s.Note = "no rate meets the thresholds"
		d.fail("no rate up to %s/s meets the thresholds", printable.Figure(s.HighPerSecond))
	}
	if f.Confirmed {
		open := f.Ceiling || f.Most
		d.figures[measure.Sustained] = measure.Figure{Value: f.Rate, Low: f.Rate, High: f.Above, Open: open, Known: true}
	}
}

// misses returns the thresholds that a phase of a search does not meet. A step
// is short: if its sample cannot decide, the value does. A confirmation must be
// sure: unsure are the thresholds that its values meet and its sample does not
// decide. Surely tells that one is missed whatever the generator added.
func (d *Draft) misses(rec measure.Recording, sure bool) (missed []string, surely bool, unsure []measure.ThresholdResult) {
	if rec.Count(measure.Accepted) == 0 {
		return []string{"nothing was accepted"}, false, nil
	}
	var missing []measure.ThresholdResult
	for _, t := range d.thresholds() {
		if !t.OfPhases() {
			continue
		}
		switch held := t.Hold(d.figure(t, rec)); {
		case held.Verdict == measure.Missed:
			surely = true
			missing = append(missing, held)
		case held.Verdict == measure.Inconclusive && !held.PointMeets:
			missing = append(missing, held)
		case held.Verdict == measure.Inconclusive && sure:
			unsure = append(unsure, held)
		}
	}
	for _, said := range []string{inSentences(missing), fallsBehind(rec), d.refused(rec)} {
		if said != "" {
			missed = append(missed, said)
		}
	}
	return missed, surely, unsure
}

func inSentences(results []measure.ThresholdResult) string {
	var all []string
	for _, held := range results {
		all = append(all, held.Threshold.Text+": "+held.Sentence)
	}
	return strings.Join(all, "; ")
}

// fallsBehind describes how much the target serves if it does not keep up with
// the rate; it is empty otherwise.
func fallsBehind(rec measure.Recording) string {
	served := rec.Served()
	if served == 0 {
		return ""
	}
	return fmt.Sprintf("the queue grew: the target served %s of %s requests/s", printable.Figure(served), printable.Figure(rec.Rate()))
}

// mostRefused is the share of 429 answers at which a rate still counts as held,
// unless the scenario has a threshold for it.
const mostRefused = 0.01

// refused reports that a rate is held only by refusing much of it.
func (d *Draft) refused(rec measure.Recording) string {
	limited := rec.Count(measure.Limited)
	own := slices.ContainsFunc(d.thresholds(), func(t measure.Threshold) bool { return t.Metric == measure.LimitedShare })
	if own || float64(limited) <= mostRefused*float64(rec.Sent) {
		return ""
	}
	return fmt.Sprintf("%s of %s requests got 429", printable.Number(limited), printable.Number(rec.Sent))
}

// undecided describes a confirmation that does not decide the thresholds: the sample is
// too small, or late requests leave their latency open. need is how many requests would
// decide them; 0 if that is unknown.
func undecided(rec measure.Recording, unsure []measure.ThresholdResult) (said string, need int64) {
	var doubts []string
	why, known := "not enough data to decide", true
	for _, result := range unsure {
		doubts = append(doubts, result.Threshold.Text)
		need, known = max(need, result.Need), known && result.Need > 0
		if result.Late {
			why = "requests were sent too late to decide"
		}
	}
	if !known {
		need = 0
	}
	return fmt.Sprintf("%s %s at %s/s: %s requests sent in %s, %s answered", why, strings.Join(doubts, " and "), printable.Figure(rec.Rate()),
		printable.Number(rec.Sent), printable.Seconds(rec.Duration()), printable.Number(rec.Sent-rec.Statuses[0])), need
}

// advice says how to decide the thresholds.
func (d *Draft) advice(rec measure.Recording, need int64) string {
	if need == 0 {
		return "run longer (--duration)"
	}
	longer := time.Duration(float64(need) / rec.Rate() * float64(d.scenario.Duration) / float64(d.scenario.Confirm) * float64(time.Second))
	if longer = longer.Truncate(time.Second) + time.Second; longer > measure.MaxDuration {
		return fmt.Sprintf("about %s needed, more than the longest phase allows (relax the threshold)", printable.Number(need))
	}
	return fmt.Sprintf("about %s needed (--duration %s)", printable.Number(need), longer)
}

func kneePoint(rec measure.Recording, met bool, why string) load.KneePoint {
	h := rec.Response[measure.Accepted]
	p := load.KneePoint{AskedPerSecond: rec.Rate(), P50MS: ms(h.Value(0.5)), P99MS: ms(h.Value(0.99)), OK: met, Why: why, Open: h.AtLeast(0.99), MedianOpen: h.AtLeast(0.5)}
	if took := max(rec.Duration(), lastDone(rec)); took > 0 {
		p.AchievedPerSecond = float64(rec.Count(measure.Accepted)) / took.Seconds()
	}
	if rec.Sent > 0 {
		p.ErrorShare = float64(rec.Count(measure.Failed)) / float64(rec.Sent)
	}
	return p
}

// lastDone returns the earliest time at which all answers had certainly
// arrived: the end of the interval of the last answer, or the slowest answer's
// time after the end of the phase.
func lastDone(rec measure.Recording) time.Duration {
	var last, slowest time.Duration
	for _, s := range rec.Series {
		if s.Done > 0 {
			last = s.Begins() + rec.Width
		}
	}
	for _, h := range rec.Response {
		slowest = max(slowest, h.Max())
	}
	return min(last, rec.Duration()+slowest)
}
