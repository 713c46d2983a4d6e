package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// sustained searches for the highest rate that meets the thresholds.
func (r *runner) sustained() error {
	s := r.scenario
	if err := r.warmUp(s.Rate, inTurn); err != nil {
		return err
	}
	r.out.Sustained = &load.Sustained{}
	most := s.MaxRate
	if allowed := r.env.MaxRate; allowed > 0 {
		most = min(most, allowed)
	}
	f, err := search(min(s.Rate, most), most, r.try)
	r.foundRate(f, err)
	slices.SortStableFunc(r.out.Sustained.Knee, func(a, b load.KneePoint) int {
		return int(a.AskedPerSecond*1000) - int(b.AskedPerSecond*1000)
	})
	return err
}

// try runs one rate. Only a confirmed rate counts for the thresholds.
func (r *runner) try(rate float64, confirm bool) (tried, error) {
	name, lasts := fmt.Sprintf("%.0f/s", rate), r.scenario.Duration
	if confirm {
		name, lasts = "confirming "+name, r.scenario.Confirm
	}
	whole := schedule.Constant(rate, lasts)
	before := r.silent
	rec, err := r.send(name, whole, r.mix.source(inTurn, r.places), false)
	r.places += uint64(whole.Planned())
	if err == nil && silent(rec) {
		err = r.gone(name)
	}
	if err != nil {
		// Earlier, the rate may have been too high; now the target has died.
		r.foremost = append(r.foremost, slices.Concat(before, r.silent)...)
		r.keepCut(counted{recording: rec}, err)
		return tried{}, err
	}
	// The generator can only make figures worse. So a rate that meets the
	// thresholds is met, and one that does not may still be the target's.
	c := r.judged(rec)
	missed, unsure := r.misses(rec, confirm)
	why := strings.Join(missed, "; ")
	t := tried{met: len(missed)+len(unsure) == 0}
	switch {
	case float64(rec.Sent) < leastSent*float64(rec.Planned):
		why = fmt.Sprintf("%d of %d requests were sent", rec.Sent, rec.Planned)
		t = tried{ceiling: true}
	case why == "" && len(unsure) > 0:
		why = undecided(rec, unsure)
		if r.doubt == "" { // keep the highest rate's reason: lower rates have even fewer requests
			why = r.tooFew(rec, unsure)
			r.doubt = why
		}
	case why != "" && c.limited != "":
		why = c.limited
		t.ceiling = true
	case t.met:
		c.limited = ""
	}
	r.out.Sustained.Knee = append(r.out.Sustained.Knee, kneePoint(rec, t.met, why))
	if confirm && t.met {
		r.keep(c)
	} else {
		r.uses.Searched += rec.Sent
	}
	return t, nil
}

// unconfirmed explains why a threshold was evaluated in no phase of a search.
const unconfirmed = "no rate was confirmed; the short phases of the search do not count"

// undecided describes a confirmation whose sample is too small to decide.
func undecided(rec measure.Recording, unsure []threshold.Result) string {
	var doubts []string
	for _, result := range unsure {
		doubts = append(doubts, result.Threshold.Text)
	}
	return fmt.Sprintf("not enough data to decide %s at %.4g/s for %s: %d requests sent, %d answered",
		strings.Join(doubts, " and "), rec.Rate, rec.Duration.Round(time.Millisecond), rec.Sent, rec.Sent-rec.Statuses[0])
}

// tooFew is undecided with the duration that would suffice.
func (r *runner) tooFew(rec measure.Recording, unsure []threshold.Result) string {
	said := undecided(rec, unsure)
	need, known := int64(0), true
	for _, result := range unsure {
		need, known = max(need, result.Need), known && result.Need > 0
	}
	if !known {
		return said + "; run longer (--duration)"
	}
	longer := time.Duration(float64(need) / rec.Rate * float64(r.scenario.Duration) / float64(r.scenario.Confirm) * float64(time.Second))
	if longer = longer.Truncate(time.Second) + time.Second; longer > schedule.MaxDuration {
		return fmt.Sprintf("%s; about %d needed, more than the longest phase allows (relax the threshold)", said, need)
	}
	return fmt.Sprintf("%s; about %d needed (--duration %s)", said, need, longer)
}

// gone returns an error if the target does not answer even a single request: it
// is dead, not overloaded.
func (r *runner) gone(after string) error {
	request, _, _ := Typical(r.env.Profile)
	if ex := r.env.Client.Do(r.ctx, request); ex.Err != nil && ex.Status == 0 {
		return fmt.Errorf("%s: the target stopped answering, search aborted: %w", after, ex.Err)
	}
	return nil
}

func kneePoint(rec measure.Recording, met bool, why string) load.KneePoint {
	h := rec.Response[measure.Accepted]
	p := load.KneePoint{AskedPerSecond: rec.Rate, P50MS: ms(h.Quantile(0.5).Value), P99MS: ms(h.Quantile(0.99).Value), OK: met, Why: why}
	if took := max(rec.Duration, lastDone(rec)); took > 0 {
		p.AchievedPerSecond = float64(rec.Count(measure.Accepted)) / took.Seconds()
	}
	if rec.Sent > 0 {
		p.ErrorShare = float64(rec.Count(measure.Failed)) / float64(rec.Sent)
	}
	return p
}

// lastDone returns the earliest time at which all answers had certainly
// arrived: the end of the second of the last answer, or the slowest answer's
// time after the end of the phase.
func lastDone(rec measure.Recording) time.Duration {
	var last, slowest time.Duration
	for _, s := range rec.Series {
		if s.Done > 0 {
			last = time.Duration(s.At+1) * time.Second
		}
	}
	for _, h := range rec.Response {
		slowest = max(slowest, h.Max())
	}
	return min(last, rec.Duration+slowest)
}

// foundRate records the result of the search.
func (r *runner) foundRate(f found, err error) {
	s := r.out.Sustained
	s.RatePerSecond, s.LowPerSecond, s.HighPerSecond, s.Confirmed = f.rate, f.rate, max(f.above, f.rate), f.confirmed
	switch {
	case err != nil:
		s.Note = "the search was aborted"
	case f.confirmed && f.ceiling:
		s.Note = "limited by the generator; the target may be faster"
	case f.confirmed && f.most:
		s.Note = "the scenario's maximum rate; the target may be faster"
	case !f.confirmed && r.doubt != "":
		s.Note = "some rates met the thresholds briefly, but none could be confirmed"
		r.void("no rate could be confirmed: %s", r.doubt)
	case f.ceiling:
		r.void("the generator could not reach any of the rates")
	case !f.confirmed && slices.ContainsFunc(s.Knee, func(p load.KneePoint) bool { return p.OK }):
		s.Note = "some rates met the thresholds briefly, none for long"
		r.void("no rate met the thresholds for %s, though some did for %s", r.scenario.Confirm, r.scenario.Duration)
	case !f.confirmed:
		s.Note = "no rate meets the thresholds"
		r.fail("no rate up to %.0f/s meets the thresholds", s.HighPerSecond)
	}
	if f.confirmed {
		open := f.ceiling || f.most
		r.figures[threshold.Sustained] = threshold.Figure{Value: f.rate, Low: f.rate, High: f.above, Open: open}
	}
}
