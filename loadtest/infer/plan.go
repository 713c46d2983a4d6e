package infer

import (
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// experiment is a possible next step: rest, send a share of the limit, wait,
// send until a request is refused, send excess requests, and watch openings.
type experiment struct {
	rest     time.Duration
	share    int
	wait     time.Duration
	drain    bool
	excess   int
	openings int
}

// mostOpenings is how many openings an experiment watches.
const mostOpenings = 3

// stages is the number of stages of an experiment after which something is
// known.
const stages = 2 + mostOpenings

// outcome is what a model predicts for an experiment, stage by stage.
type outcome struct {
	passed   [stages]int
	opens    [stages]time.Duration // from now on; of openings
	ends     [stages]time.Duration
	requests [stages]int
}

// foretell simulates an experiment.
func foretell(m family.Model, e experiment, now, trip time.Duration, polls int) (o outcome) {
	t, sent := now+e.rest, 0
	send := func(stage, n int) {
		o.passed[stage] = m.Send(t, n)
		sent += n
	}
	end := func(stage int) { o.ends[stage], o.requests[stage] = t-now, sent }
	if e.share > 0 {
		send(0, e.share)
	}
	end(0)
	t += e.wait
	if e.drain {
		send(1, m.Room(t)+1)
	}
	if e.excess > 0 {
		m.Send(t, e.excess)
		sent += e.excess
	}
	end(1)
	for i := 2; i < stages; i++ {
		t = m.Opens(t)
		o.opens[i] = t - now
		m.Send(t, 1)
		sent += polls
		t += 2*trip + m.Window()/lateness
		send(i, m.Room(t)+1)
		end(i)
	}
	return o
}

// plan chooses the experiment that distinguishes most models for its cost in
// time and requests.
func (s *search) plan() (best experiment, ok bool) {
	if len(s.guesses) == 0 {
		return best, false
	}
	now := s.now()
	var value float64
	for _, e := range s.menu() {
		outcomes := make([]outcome, len(s.guesses))
		for i := range s.guesses {
			outcomes[i] = foretell(s.guesses[i].Clone(), e, now, s.trip, s.looks())
		}
		v, openings := s.value(outcomes)
		if v > value {
			best, value = e, v
			best.openings = openings
		}
	}
	return best, value > 1e-9
}

// menu returns the possible experiments.
func (s *search) menu() []experiment {
	var windows []time.Duration
	for i := range s.guesses {
		windows = append(windows, s.guesses[i].Window())
	}
	slices.Sort(windows)
	limit := s.guesses[0].Limit
	menu := []experiment{{}}
	last := time.Duration(0)
	for _, w := range []time.Duration{windows[0], windows[len(windows)/2], windows[len(windows)-1]} {
		if float64(w) < 1.15*float64(last) {
			continue
		}
		last = w
		for _, rest := range []float64{0, 0.35, 0.65, 1.1, 1.55, 2.1} {
			r := times(w, rest)
			menu = append(menu, experiment{rest: r, drain: true})
			for _, wait := range []float64{0.25, 0.6} {
				menu = append(menu, experiment{rest: r, share: max(1, limit/2), wait: times(w, wait), drain: true},
					experiment{rest: r, share: limit, wait: times(w, wait), drain: true, excess: max(1, limit/2)})
			}
		}
	}
	return menu
}

// lateness is the divisor of a window by which an opening may be noticed late.
const lateness = 50
