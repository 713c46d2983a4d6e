package scenario

import (
	"fmt"
	"math"
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
	before := r.outageNotes
	rec, err := r.send(name, whole, r.mix.requests(inTurn, r.places), false)
	r.places += uint64(whole.Planned())
	if err == nil && silent(rec) {
		err = r.gone(name)
	}
	if err != nil {
		// Earlier, the rate may have been too high; now the target has died.
		r.foremost = append(r.foremost, slices.Concat(before, r.outageNotes)...)
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

// The search for the highest sustained rate doubles the rate until one is not
// met. It then halves the gap on a logarithmic scale until it is narrow, and
// confirms the result by a longer run. A rate that fails its confirmation is an
// upper bound like any other.

const (
	// narrow is the ratio of the rates not met and met at which the search
	// ends.
	narrow = 1.1
	// mostSteps limits the search, mostConfirmations the confirmations after
	// it.
	mostSteps         = 24
	mostConfirmations = 6
	// stepDown is the factor for a rate that failed its confirmation.
	stepDown = 0.85
	// leastRate is the lowest rate tried, in requests per second.
	leastRate = 1.0
)

// tried is the result of one rate.
type tried struct {
	met bool
	// ceiling means that the generator could not reach the rate, so nothing is
	// known about the target there.
	ceiling bool
}

// found is the result of a search. Rates are requests per second.
type found struct {
	rate      float64 // the highest that was met; 0 if none was
	above     float64 // the lowest that was not met; 0 if none was
	confirmed bool
	ceiling   bool // the generator limited the search
	most      bool // the search ended at the highest allowed rate
}

// search finds the highest rate between start and most that is met. try runs
// one rate, for longer if it confirms; its error ends the search.
func search(start, most float64, try func(rate float64, confirm bool) (tried, error)) (found, error) {
	var f found
	step := func(rate float64, confirm bool) (bool, error) {
		t, err := try(rate, confirm)
		switch {
		case err != nil:
			return false, err
		case t.ceiling:
			f.ceiling = true
			f.above = rate
		case t.met:
			f.rate = max(f.rate, rate)
		default:
			f.ceiling = false
			f.above = rate
		}
		return t.met && !t.ceiling, nil
	}
	for range mostSteps {
		next, more := f.next(start, most)
		if !more {
			break
		}
		if _, err := step(next, false); err != nil {
			return f, err
		}
	}
	for range mostConfirmations {
		if f.rate == 0 {
			break
		}
		rate := f.rate
		f.rate = 0
		held, err := step(rate, true)
		if err != nil {
			return f, err
		}
		if held {
			f.confirmed = true
			break
		}
		if f.rate = rate * stepDown; f.rate < leastRate {
			f.rate = 0
		}
	}
	if !f.confirmed {
		f.rate = 0
	}
	f.most = f.confirmed && f.above == 0
	return f, nil
}

// next returns the rate to try. more is false if the gap is narrow.
func (f found) next(start, most float64) (rate float64, more bool) {
	switch {
	case f.rate == 0 && f.above == 0:
		return min(start, most), true
	case f.above == 0:
		return min(f.rate*2, most), f.rate < most
	case f.rate == 0:
		return f.above / 2, f.above/2 >= leastRate
	default:
		return math.Sqrt(f.rate * f.above), f.above/f.rate > narrow
	}
}
