package infer

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// search finds out the fastest layer. It holds what the steps tell each other.
type search struct {
	*prober
	random *rand.Rand

	trip     time.Duration // round trip, median of the calm ones
	burst    int           // requests that passed before the first refusal, in one go
	recovery time.Duration // from the last request that passed to the next one, roughly
	scale    time.Duration // the window, roughly: the time in which burst requests pass
	fits     []family.Fit  // what is left; nil before the first fit
	fitted   bool
	rounds   int
	polls    []time.Duration // planned since the last drain; nil before

	inFlight [2]int // of a concurrency limit: the fewest and the most that passed at once
	controls map[Subject]family.Verdict
	tally    map[Subject]tally
	cycles   []cycle
}

// errTooFast says that only windows shorter than leastTrips round trips are left.
var errTooFast = errors.New("the window is shorter than four round trips: too short to be told from here")

// leastTrips is how many round trips a window must last. Shorter ones explain
// too much, since all that is in flight at once may be in any order.
const leastTrips = 4

func newSearch(ctx context.Context, w Wire, o Options) *search {
	return &search{
		prober: newProber(ctx, w, o), random: rand.New(rand.NewPCG(o.Seed, 0x6c696d6974)),
		controls: map[Subject]family.Verdict{}, tally: map[Subject]tally{},
	}
}

// maxRounds bounds the rounds after the fixed steps.
const maxRounds = 8

// errNoLimit says that no request was refused within the budget.
var errNoLimit = errors.New("no request was refused")

// errUseless says that a lone request is neither let through nor limited.
var errUseless = errors.New("lone requests got neither a 2xx nor a 429")

// errForeign says that no family explains what was seen.
var errForeign = errors.New("contradicted")

// run probes until one family is left and its parameters are known well, or
// until nothing more can be learnt.
func (s *search) run() error {
	for _, step := range []func() error{s.calibrate, s.untilRefused, s.untilOpen, s.firstLook, s.fit} {
		if err := step(); err != nil {
			return err
		}
	}
	for range maxRounds {
		if s.settled() {
			return nil
		}
		if err := s.round(); err != nil {
			return err
		}
		if err := s.fit(); err != nil {
			return err
		}
	}
	return nil
}

// calibrate sends a few requests one at a time.
func (s *search) calibrate() error {
	s.next("calibrate")
	for range 5 {
		seen, err := s.send(Main, 1)
		if err != nil {
			return err
		}
		if seen[0].verdict == family.Refused {
			break // a small limit, or a key that is not quiet: the fit will tell
		}
	}
	s.trip = medianTrip(s.seen)
	if count(s.seen, family.Unknown) == len(s.seen) {
		return errUseless
	}
	return nil
}

// untilRefused sends ever larger groups until a request is refused.
func (s *search) untilRefused() error {
	s.next("burst")
	s.burst = count(s.seen, family.Accepted)
	if count(s.seen, family.Refused) > 0 {
		return nil
	}
	for size := 1; ; size = min(2*size, s.options.MaxParallel) {
		if len(s.seen) > s.options.MaxRequests/2 || s.now() > s.options.MaxTime/2 {
			return errNoLimit
		}
		seen, err := s.send(Main, size)
		if errors.Is(err, errBudget) {
			return errNoLimit
		}
		if err != nil {
			return err
		}
		s.burst += count(seen, family.Accepted)
		if count(seen, family.Refused) > 0 {
			return s.onlyTogether()
		}
	}
}

// untilOpen sends single requests at growing waits until one passes.
func (s *search) untilOpen() error {
	s.next("silent recovery")
	closed := s.lastReceived()
	for wait := max(3*s.trip, 5*time.Millisecond); ; wait = wait * 7 / 5 {
		if err := s.sleepUntil(closed + wait); err != nil {
			return err
		}
		seen, err := s.send(Main, 1)
		if err != nil {
			return err
		}
		if seen[0].verdict == family.Accepted {
			s.recovery = s.now() - closed
			s.scale = s.recovery
			return nil
		}
	}
}

// firstLook splits what passes at once now. Where half the burst does not pass,
// the limiter opens bit by bit, and is kept at its limit instead.
func (s *search) firstLook() error {
	s.next("first look")
	half := max(1, s.burst/2)
	seen, err := s.send(Main, half)
	if err != nil {
		return err
	}
	if count(seen, family.Refused) > 0 {
		return s.saturate()
	}
	if err := s.sleep(times(s.recovery, 0.6)); err != nil {
		return err
	}
	if err := s.drain(); err != nil {
		return err
	}
	began := s.lastReceived()
	first := len(s.seen)
	return s.follow(func() bool {
		s.scale = max(s.scale, s.now()-began)
		return 2*count(s.seen[first:], family.Accepted) >= s.burst
	})
}

// saturate keeps the limiter at its limit for a little over one window.
func (s *search) saturate() error {
	s.next("saturate")
	if err := s.drain(); err != nil {
		return err
	}
	began, first := s.now(), len(s.seen)
	err := s.follow(func() bool {
		elapsed := s.now() - began
		passed := count(s.seen[first:], family.Accepted)
		if passed > 0 {
			s.scale = max(s.recovery, elapsed*time.Duration(s.burst)/time.Duration(passed))
		}
		return 2*passed >= s.burst && elapsed > s.scale*13/10
	})
	return err
}

// split lets the limiter rest, sends a share of the burst, waits, and keeps it
// at its limit for a while. All times are in windows.
func (s *search) split(share, rest, wait, follow float64) error {
	s.next("split")
	if err := s.sleep(times(s.scale, rest)); err != nil {
		return err
	}
	if n := int(share * float64(s.burst)); n > 0 {
		if _, err := s.send(Main, n); err != nil {
			return err
		}
	}
	if err := s.sleep(times(s.scale, wait)); err != nil {
		return err
	}
	if err := s.drain(); err != nil {
		return err
	}
	until := s.now() + times(s.scale, follow)
	return s.follow(func() bool { return s.now() > until })
}

// round asks what is still open: the kind, the limit, whether refused requests
// count, and then the window.
func (s *search) round() error {
	r := s.random.Float64
	kinds, limits, counting := map[family.Kind]bool{}, map[int]bool{}, map[bool]bool{}
	for _, f := range s.fits {
		kinds[f.Kind], limits[f.Limit], counting[f.Counting] = true, true, true
	}
	s.rounds++
	switch {
	case len(s.fits) == 1 && s.rounds%4 != 0:
		return s.edge(0)
	case len(s.fits) == 1:
		return s.edge(1 + r())
	case len(kinds) == 2 && kinds[family.Aligned] && kinds[family.First]:
		return s.offPhase()
	case len(kinds) > 1 && s.rounds == 1:
		return s.split(0.5, 1.1, 0.6, 0.8)
	case len(kinds) == 1 && len(limits) > 1 && s.rounds%2 == 1:
		return s.fill(counting[true])
	case len(kinds) == 1 && len(counting) == 2 && s.rounds%2 == 1:
		return s.provoke()
	default:
		return s.split(0.25+0.5*r(), 0.3+r(), 0.2+0.7*r(), 0.6)
	}
}

// offPhase lets a window open half a window after a boundary of windows that
// follow the clock: the two kinds then open again half a window apart.
func (s *search) offPhase() error {
	i := slices.IndexFunc(s.fits, func(f family.Fit) bool { return f.Kind == family.Aligned })
	f := s.fits[i]
	if f.High == family.Unbounded {
		return s.edge(1.1 + 0.6*s.random.Float64())
	}
	wait := f.Forecast(s.log(), s.now(), 0.5).Opens - s.now() + (f.Low+f.High)/4
	return s.edge(wait.Seconds() / s.scale.Seconds())
}

// fill lets the limiter recover fully, from a debt too, and counts what passes.
func (s *search) fill(debt bool) error {
	s.next("fill")
	rest := 1.1
	if debt {
		rest = 2.1
	}
	if err := s.sleep(times(s.scale, rest)); err != nil {
		return err
	}
	return s.drain()
}

// provoke sends what will be refused, once the limit is used up: where refused
// requests count it stays shut for longer.
func (s *search) provoke() error {
	s.next("refused on purpose")
	if err := s.sleep(s.scale); err != nil {
		return err
	}
	if err := s.drain(); err != nil {
		return err
	}
	if _, err := s.send(Main, s.fits[0].Limit); err != nil {
		return err
	}
	return s.untilDrained()
}

// edge rests so many windows, uses up the limit and looks closely at the next
// time that the limiter opens.
func (s *search) edge(rest float64) error {
	s.next("edge")
	if err := s.sleep(times(s.scale, rest)); err != nil {
		return err
	}
	if err := s.drain(); err != nil {
		return err
	}
	return s.untilDrained()
}

// untilDrained follows until something passed and was drained, or for two windows.
func (s *search) untilDrained() error {
	first, until := len(s.seen), s.now()+2*s.scale
	return s.follow(func() bool { return count(s.seen[first:], family.Accepted) > 0 || s.now() > until })
}

// fit looks at the whole log.
func (s *search) fit() error {
	log := s.log()
	if s.fitted {
		s.fits = family.Narrow(log, s.fits)
	} else {
		s.fits, s.fitted = family.Fits(log), true
	}
	if len(s.fits) == 0 {
		return errForeign
	}
	s.fits = slices.DeleteFunc(s.fits, func(f family.Fit) bool {
		_, high := f.Window()
		return high < leastTrips*s.trip
	})
	if len(s.fits) == 0 {
		return errTooFast
	}
	s.rescale()
	return nil
}

// rescale takes the window of the fits, once they agree roughly.
func (s *search) rescale() {
	least, most := family.Unbounded, time.Duration(0)
	for _, f := range s.fits {
		low, high := f.Window()
		least, most = min(least, low), max(most, high)
	}
	switch {
	case most == family.Unbounded:
		s.scale += s.scale / 2 // what was seen lies within one window
	case most < 3*least:
		s.scale = least + (most-least)/2
	}
}

// settled tells whether more probing is of no use.
func (s *search) settled() bool {
	kind, limit := s.fits[0].Kind, s.fits[0].Limit
	for _, f := range s.fits {
		if f.Kind != kind || f.Limit != limit {
			return false
		}
		low, high := f.Window()
		// The middle of an interval of 2 % is within 1 % of the truth.
		if high == family.Unbounded || high-low > max(high/50, 3*s.trip) {
			return false
		}
	}
	return kind == family.Aligned || kind == family.First || len(s.fits) == 1
}

// drain sends until a request is refused.
func (s *search) drain() error {
	s.polls = nil
	for size := s.room(); ; size = min(2*size, s.options.MaxParallel) {
		seen, err := s.send(Main, size)
		if err != nil {
			return err
		}
		if count(seen, family.Refused) > 0 {
			return nil
		}
	}
}

// follow asks single requests, and drains whenever one passes, until done.
func (s *search) follow(done func() bool) error {
	for !done() {
		if err := s.sleepUntil(s.nextPoll()); err != nil {
			return err
		}
		seen, err := s.send(Main, 1)
		if err != nil {
			return err
		}
		if seen[0].verdict == family.Accepted {
			if err := s.drain(); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextPoll is when a single request tells the most: evenly over the time in
// which the limiter is expected to open, as of the last drain.
func (s *search) nextPoll() time.Duration {
	now := s.now()
	if s.polls == nil {
		s.polls = s.plan(now)
	}
	for len(s.polls) > 0 {
		next := s.polls[0]
		s.polls = s.polls[1:]
		if next > now {
			return next
		}
	}
	return now + max(s.recovery/4, s.scale/25, s.trip/2)
}

// pollsEach is how many requests are spent on one opening.
const pollsEach = 6

func (s *search) plan(now time.Duration) []time.Duration {
	low, high, ok := s.opening()
	if !ok {
		return []time.Duration{}
	}
	low = max(low, now+s.scale/25)
	step := max((high-low)/pollsEach, s.trip/2, s.scale/1000)
	plan := []time.Duration{low}
	for t := low + step; t < high+step; t += step {
		plan = append(plan, t)
	}
	return plan
}

// opening is when the limiter is expected to open again, with all fits that
// are left asked.
func (s *search) opening() (low, high time.Duration, ok bool) {
	forecasts := s.forecasts()
	for i, f := range forecasts {
		if i == 0 {
			low, high = f.Opens, f.Opens
		}
		low, high = min(low, f.Opens), max(high, f.Opens)
	}
	return low, high, len(forecasts) > 0
}

// room is how many requests to send at once so that one is refused.
func (s *search) room() int {
	room := 0
	for _, f := range s.forecasts() {
		room = max(room, f.Room)
	}
	if room == 0 {
		return 2
	}
	return min(room+1, s.options.MaxParallel)
}

// forecasts asks some of the fits, each at both ends of its window.
func (s *search) forecasts() []family.Forecast {
	if len(s.fits) == 0 {
		return nil
	}
	log, now := s.log(), s.now()
	var out []family.Forecast
	for i := 0; i < len(s.fits); i += 1 + len(s.fits)/8 {
		f := s.fits[i]
		if f.High == family.Unbounded {
			continue
		}
		for _, at := range []float64{0, 1} {
			out = append(out, f.Forecast(log, now, at))
		}
	}
	return out
}

func (s *search) lastReceived() time.Duration { return s.seen[len(s.seen)-1].received }

func times(d time.Duration, factor float64) time.Duration {
	return time.Duration(float64(d) * factor)
}

// log is what was seen, for the fast layer.
func (s *search) log() *family.Log {
	return s.logOf(func(r record) bool { return r.slow })
}

// logOf leaves some refusals to another layer. The requests of other subjects
// may have counted too, until it is known.
func (s *search) logOf(excused func(record) bool) *family.Log {
	shared := map[Subject]string{}
	for other, t := range s.tally {
		shared[other] = s.shared(other, t).Value
	}
	all := make([]family.Observation, 0, len(s.seen))
	for _, r := range s.seen {
		o := family.Observation{Sent: int64(r.sent), Received: int64(r.received), Verdict: r.verdict, Excused: excused(r)}
		switch {
		case r.subject == Main || shared[r.subject] == Shared:
		case shared[r.subject] == Separate:
			continue
		default:
			o.Verdict = family.Unknown
		}
		all = append(all, o)
	}
	return family.NewLog(all)
}
