package infer

import (
	"math"
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

// outcome is what a model predicts for a stage of an experiment.
type outcome struct {
	passed   int
	opens    time.Duration // from now on; of openings
	ends     time.Duration
	requests int
}

// foretell simulates an experiment, stage by stage.
func (s *search) foretell(m family.Model, e experiment, now time.Duration, polls int) (stage [stages]outcome) {
	t, sent := now+e.rest, 0
	send := func(n int) (passed int) {
		sent, passed = sent+n, m.Send(t, n)
		if s.front != nil { // which paces them
			t += times(s.front.window, float64(n)/float64(s.front.limit))
		}
		return passed
	}
	passed := send(e.share)
	stage[0] = outcome{passed, 0, t - now, sent}
	t += e.wait
	if e.drain {
		passed = send(m.Room(t) + 1)
	}
	send(e.excess)
	stage[1] = outcome{passed, 0, t - now, sent}
	for i := 2; i < stages; i++ {
		t = m.Opens(t)
		opens := t - now
		m.Send(t, 1)
		sent += polls
		t += 2*s.trip + m.Window()/lateness
		passed = send(m.Room(t) + 1)
		stage[i] = outcome{passed, opens, t - now, sent}
	}
	return stage
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
		outcomes := make([][stages]outcome, len(s.guesses))
		for i := range s.guesses {
			outcomes[i] = s.foretell(s.guesses[i].Clone(), e, now, s.looks())
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

// value returns the best ratio, over all stages at which an experiment may end, of
// what it tells to its cost: the expected information, in bits, on which guess is true.
// Guesses that count as equal need not be told apart.
func (s *search) value(outcomes [][stages]outcome) (value float64, openings int) {
	var cost, told [stages]float64
	var least, most [stages]time.Duration
	total := 0.0
	for i, o := range outcomes {
		g := &s.guesses[i]
		total += g.weight
		for k := range stages {
			if i == 0 {
				least[k], most[k] = o[k].opens, o[k].opens
			}
			least[k], most[k] = min(least[k], o[k].opens), max(most[k], o[k].opens)
			cost[k] += g.weight * (o[k].ends.Seconds()/g.Window().Seconds()/10 + float64(o[k].requests)/float64(g.Limit)/25)
		}
	}
	looks := time.Duration(s.looks())
	for i := range outcomes {
		g, equal := &s.guesses[i], 0.0
		var left, right [stages]float64 // weights of the guesses that are not ruled out if g is true, and of the equal ones
		for j := range outcomes {
			h, apart := &s.guesses[j], false
			same := g.class() == h.class() && float64(max(g.Window(), h.Window())) <= near*float64(min(g.Window(), h.Window()))
			if same {
				equal += h.weight
			}
			slack := s.slack(&g.Model) + s.slack(&h.Model)
			for k := range stages {
				p, q := outcomes[i][k], outcomes[j][k]
				if apart = apart || (p.opens-q.opens).Abs() > max(s.trip*3/2, (most[k]-least[k])/looks) ||
					math.Abs(float64(p.passed-q.passed)) > slack; apart {
					continue
				}
				if left[k] += h.weight; same {
					right[k] += h.weight
				}
			}
		}
		for k := range stages {
			told[k] += g.weight / total * math.Log2(right[k]/left[k]*total/equal)
		}
	}
	for k := 1; k < stages; k++ {
		if v := told[k] / (effort + cost[k]/total); v > value {
			value, openings = v, k-1
		}
	}
	return value, openings
}

// near is the ratio of two windows within which they count as equal.
const near = 1.012

// slack returns how many requests a model may gain while requests are in
// flight.
func (s *search) slack(m *family.Model) float64 {
	if m.Kind != family.Bucket && m.Kind != family.Counter {
		return 0
	}
	return 0.5 + 3*s.trip.Seconds()*float64(m.Limit)/m.Window().Seconds()
}

// effort is the fixed cost of an experiment as a share of the budget: many
// small ones would yield no more than a few large ones.
const effort = 0.05
