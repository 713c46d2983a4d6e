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

// sustained searches the highest rate that meets the thresholds.
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

// try runs one rate. What was confirmed, and that alone, counts for the thresholds.
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
		// Before, the rate may have been too much; now it is known to have been the end.
		r.foremost = append(r.foremost, slices.Concat(before, r.silent)...)
		r.keepCut(counted{recording: rec}, err)
		return tried{}, err
	}
	// What the generator adds to the figures makes them worse: a rate that meets
	// the thresholds all the same is met, and one that does not may be the target's.
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
		if r.doubt == "" { // of the highest rate: those that follow have fewer requests yet, and other advice
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

// unconfirmed is why a threshold was held against no phase of a search.
const unconfirmed = "no rate was confirmed, and the short phases at the rates that were tried do not count"

// undecided says of a confirmation that the thresholds are met as far as its sample
// tells.
func undecided(rec measure.Recording, unsure []threshold.Result) string {
	var doubts []string
	for _, result := range unsure {
		doubts = append(doubts, result.Threshold.Text)
	}
	return fmt.Sprintf("at %.4g/s for %s there are too few requests to tell %s: %d were sent and %d answered",
		rec.Rate, rec.Duration.Round(time.Millisecond), strings.Join(doubts, " and "), rec.Sent, rec.Sent-rec.Statuses[0])
}

// tooFew is undecided, and how long a confirmation would have to be that decides.
func (r *runner) tooFew(rec measure.Recording, unsure []threshold.Result) string {
	said := undecided(rec, unsure)
	need, known := int64(0), true
	for _, result := range unsure {
		need, known = max(need, result.Need), known && result.Need > 0
	}
	if !known {
		return said + "; let it last longer (--duration)"
	}
	longer := time.Duration(float64(need) / rec.Rate * float64(r.scenario.Duration) / float64(r.scenario.Confirm) * float64(time.Second))
	if longer = longer.Truncate(time.Second) + time.Second; longer > schedule.MaxDuration {
		return fmt.Sprintf("%s; about %d would do, which take longer than a phase may last: allow more", said, need)
	}
	return fmt.Sprintf("%s; about %d would do, as with --duration %s", said, need, longer)
}

// gone tells a target that a rate has overwhelmed from one that is not there any
// more: the one answers a single request.
func (r *runner) gone(after string) error {
	request, _, _ := Typical(r.env.Profile)
	if ex := r.env.Client.Do(r.ctx, request); ex.Err != nil && ex.Status == 0 {
		return fmt.Errorf("%s: the target answers nothing any more: the search was given up: %w", after, ex.Err)
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

// lastDone is the earliest time at which all answers were there for sure: the end
// of the second in which the last one came, or what the slowest answer took after
// the last request was due.
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

// foundRate says what came of the search.
func (r *runner) foundRate(f found, err error) {
	s := r.out.Sustained
	s.RatePerSecond, s.LowPerSecond, s.HighPerSecond, s.Confirmed = f.rate, f.rate, max(f.above, f.rate), f.confirmed
	switch {
	case err != nil:
		s.Note = "the search broke off"
	case f.confirmed && f.ceiling:
		s.Note = "the generator went no faster: the target may"
	case f.confirmed && f.most:
		s.Note = "the highest rate that the scenario asks for: the target may go faster"
	case !f.confirmed && r.doubt != "":
		s.Note = "rates were met, as far as short phases tell, but none could be confirmed"
		r.void("no rate could be confirmed: %s", r.doubt)
	case f.ceiling:
		r.void("the generator could hold no rate that was tried")
	case !f.confirmed && slices.ContainsFunc(s.Knee, func(p load.KneePoint) bool { return p.OK }):
		s.Note = "rates were met for a moment, but none for long"
		r.void("no rate held for %s, though some did for %s", r.scenario.Confirm, r.scenario.Duration)
	case !f.confirmed:
		s.Note = "no rate that was tried meets the thresholds"
		r.fail("no rate from %.0f/s down meets the thresholds", s.HighPerSecond)
	}
	if f.confirmed {
		open := f.ceiling || f.most
		r.figures[threshold.Sustained] = threshold.Figure{Value: f.rate, Low: f.rate, High: f.above, Open: open}
	}
}
