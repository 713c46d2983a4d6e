package infer

import (
	"cmp"
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

// outcome is what a model predicts for an experiment, stage by stage.
type outcome struct {
	passed   [stages]int
	opens    [stages]time.Duration // from now on; of openings
	ends     [stages]time.Duration
	requests [stages]int
}

// foretell simulates an experiment.
func (s *search) foretell(m family.Model, e experiment, now time.Duration, polls int) (o outcome) {
	t, sent := now+e.rest, 0
	send := func(stage, n int) {
		o.passed[stage] = s.sendTo(&m, &t, n)
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
		t += 2*s.trip + m.Window()/lateness
		send(i, m.Room(t)+1)
		end(i)
	}
	return o
}

// steps is the number of portions in which a paced sending is simulated.
const steps = 16

// sendTo simulates sending n requests from t on and returns how many pass. A
// layer in front paces them.
func (s *search) sendTo(m *family.Model, t *time.Duration, n int) (passed int) {
	if s.front == nil || n <= s.front.limit {
		return m.Send(*t, n)
	}
	portion := max(s.front.limit, (n+steps-1)/steps)
	pause := times(s.front.window, float64(portion)/float64(s.front.limit))
	for range 2 * steps { // more than n may pass meanwhile
		room := m.Send(*t, portion)
		if passed += room; room < portion {
			break
		}
		*t += pause
	}
	return passed
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

// value returns the best ratio of expected information, in bits, to cost over
// all stages at which an experiment may end.
func (s *search) value(outcomes []outcome) (value float64, openings int) {
	cells, total := s.cells(), 0.0
	var cost [stages]float64
	var least, most [stages]time.Duration
	for i, o := range outcomes {
		g := &s.guesses[i]
		total += g.weight
		for stage := range stages {
			if i == 0 {
				least[stage], most[stage] = o.opens[stage], o.opens[stage]
			}
			least[stage], most[stage] = min(least[stage], o.opens[stage]), max(most[stage], o.opens[stage])
			cost[stage] += g.weight * (o.ends[stage].Seconds()/g.Window().Seconds()/10 + float64(o.requests[stage])/float64(g.Limit)/25)
		}
	}
	looks := time.Duration(s.looks())
	var after [stages]float64
	left := make([]float64, len(outcomes))
	for i := range outcomes {
		alike := make([]bool, len(outcomes))
		for j := range alike {
			alike[j] = true
		}
		for stage := range stages {
			clear(left)
			for j := range outcomes {
				if alike[j] = alike[j] && s.alike(i, j, &outcomes[i], &outcomes[j], stage,
					max(s.trip*3/2, (most[stage]-least[stage])/looks)); alike[j] {
					left[cells[j]] += s.guesses[j].weight
				}
			}
			after[stage] += s.guesses[i].weight / total * entropy(left)
		}
	}
	clear(left)
	for i, cell := range cells {
		left[cell] += s.guesses[i].weight
	}
	before := entropy(left)
	for stage := 1; stage < stages; stage++ {
		if v := (before - after[stage]) / (effort + cost[stage]/total); v > value {
			value, openings = v, stage-1
		}
	}
	return value, openings
}

// alike reports whether two models predict the same at a stage, within what can
// be observed.
func (s *search) alike(i, j int, p, q *outcome, stage int, tolerance time.Duration) bool {
	if (p.opens[stage] - q.opens[stage]).Abs() > tolerance {
		return false
	}
	difference := p.passed[stage] - q.passed[stage]
	return float64(max(difference, -difference)) <= s.slack(&s.guesses[i].Model)+s.slack(&s.guesses[j].Model)
}

// near is the ratio of two windows within which they count as equal.
const near = 1.012

// cells numbers the models; models that count as equal have the same number.
func (s *search) cells() []int {
	order := make([]int, len(s.guesses))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(s.guesses[i].Window(), s.guesses[j].Window()) })
	type cell struct {
		number int
		from   time.Duration
	}
	latest := map[class]cell{}
	cells, used := make([]int, len(order)), 0
	for _, i := range order {
		g := &s.guesses[i]
		c := g.class()
		last, ok := latest[c]
		if !ok || float64(g.Window()) > near*float64(last.from) {
			last = cell{used, g.Window()}
			latest[c] = last
			used++
		}
		cells[i] = last.number
	}
	return cells
}

// entropy returns the entropy of weights in bits.
func entropy(weights []float64) float64 {
	total, h := 0.0, 0.0
	for _, w := range weights {
		total += w
	}
	for _, w := range weights {
		if w > 0 {
			h -= w / total * math.Log2(w/total)
		}
	}
	return h
}

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
