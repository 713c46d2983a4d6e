package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// front is the faster layer, through which the search for a slower one sends.
type front struct {
	*search
	fits    []family.Fit // what was left when it was identified
	models  []family.Model
	modeled int           // number of observations the models know
	marked  int           // number of observations whose refusals are attributed
	limit   int           // requests that it lets pass at once
	window  time.Duration // in which they pass
}

// mostFast limits the fits of the fast layer that are left when a slower one is
// sought: uncertainty about the first cannot be separated from the second.
const mostFast = 6

// layers tests the fast layer with drains and looks for a slower one. It returns
// the layers, or how far the search for a slower one went.
func (s *search) layers() ([]load.Layer, *load.Beyond) {
	f := &front{search: s, fits: s.fits, marked: len(s.seen)}
	end := s.observeCycles()
	// A slower layer may have contradicted the fast one.
	contradicted := errors.Is(end, errForeign)
	b := s.behind(f)
	if end != nil && !contradicted || len(f.fits) > mostFast {
		return s.conclude(b, end), nil
	}
	if contradicted {
		b.mark()
	} else {
		f.marked, b.sustained = len(s.seen), s.now()
	}
	began, first := s.now(), len(s.seen)
	end = b.run()
	layers := s.conclude(b, end)
	if contradicted && end == nil {
		_ = s.observeCycles() // what was not visible before; the layers stay
	}
	// The burst that the fast layer accepts says nothing about the sustained
	// rate.
	passed := count(s.seen[first:], family.Accepted) - s.burst
	if len(layers) > 1 || len(s.fits) == 0 || passed <= 0 {
		return layers, nil
	}
	beyond := beyond(passed, s.burst, s.now()-began)
	beyond.Why = fmt.Sprintf("no slower limit was found at %s%s", sustained(beyond), notReached)
	return layers, beyond
}

// behind returns the search for a layer behind this one.
func (s *search) behind(f *front) *search {
	b := newSearch(s.prober)
	b.front, b.send, b.trip, b.scale = f, b.paced, s.trip, s.scale
	f.limit = min(s.options.MaxParallel, f.fits[0].Limit)
	_, f.window = f.fits[0].Window()
	return b
}

// conclude returns what is left of both layers after all observations. end is
// the error that ended the search for the slower one.
func (s *search) conclude(b *search, end error) []load.Layer {
	unknown := []load.Layer{s.unexplained(errForeign)}
	s.fits = family.Narrow(s.layerLog(), b.front.fits)
	if len(s.fits) == 0 && len(b.front.fits) <= mostFast {
		b.mark()
		s.fits = family.Narrow(s.layerLog(), b.front.fits)
	}
	if len(s.fits) == 0 {
		return unknown
	}
	if !b.refused(s.seen) {
		return []load.Layer{s.layer(nil)}
	}
	switch err := b.fit(); {
	case errors.Is(err, errTooLarge):
		end = err
	case err != nil, s.again(b) != nil:
		// The slower layer is of no known kind, or it interfered with the
		// analysis of the fast one, which may then be wrong too.
		s.fits = nil
		return unknown
	}
	return []load.Layer{s.layer(nil), b.layer(end)}
}

// paced sends what the layer in front lets pass, when it does. It returns early
// if a request is refused that the layer in front would accept.
func (b *search) paced(n int) []record {
	first := len(b.seen)
	f := b.front
	for sent := 0; sent < n && b.err == nil; {
		room, opens := f.room()
		if room == 0 {
			b.sleepUntil(opens + b.trip/2)
			continue
		}
		seen := b.sendMain(min(room, n-sent, b.options.MaxParallel))
		sent += len(seen)
		if count(seen, family.Refused) > 0 {
			if b.mark(); b.refused(seen) {
				break
			}
		}
		if n > 1 {
			// In portions: what recovers gradually must not cost one request each.
			b.sleep(f.window / portions)
		}
	}
	return b.seen[first:]
}

// portions is the number of parts in which a gradually opening layer is filled.
const portions = 6

// room returns how many requests the layer lets pass now, whatever is left of
// it. If none, opens is when one will pass.
func (f *front) room() (room int, opens time.Duration) {
	if f.models == nil {
		log := f.log(func(record) bool { return false })
		for _, fit := range f.fits {
			f.models = append(f.models, log.Guesses(fit, mostGuesses)...)
		}
		f.modeled = len(f.seen)
	}
	room = math.MaxInt
	for i := range f.models {
		for _, r := range f.seen[f.modeled:] {
			f.models[i].Observe(observed(r))
		}
		room = min(room, f.models[i].Room(f.now()))
		opens = max(opens, f.models[i].Opens(f.now()))
	}
	f.modeled = len(f.seen)
	return room, opens
}

// explains reports whether the layer, as identified before slower ones were
// sought, may have caused the refusal.
func (f *front) explains(at record) bool {
	log := f.log(func(r record) bool { return r.sent > f.known && r.flight() != at.flight() })
	log.Coarsely(f.window / 500)
	return len(family.Narrow(log, f.fits)) > 0
}

// mark attributes the refusals that the layer in front does not explain. Of
// requests sent together only the first is tested, because the others may
// follow from it.
func (b *search) mark() {
	f := b.front
	group, slow := time.Duration(-1), false
	for i := f.marked; i < len(b.seen); i++ {
		r := b.seen[i]
		slow = slow && r.verdict == family.Refused
		if r.subject != Main || r.verdict != family.Refused || r.sent <= f.known || group >= 0 && r.sent-group < b.trip/2 {
			continue
		}
		// If nothing has passed since a slow refusal, the fast layer has only
		// more room.
		slow = slow && noneCounting(f.fits) || !f.explains(r)
		group, b.seen[i].slow = r.sent, slow
	}
	f.marked = len(b.seen)
}

// slowerThan reports whether a fit may be of a layer behind this one. Refused
// requests count in both or in neither, and the slower one is larger.
func (f *front) slowerThan(fit family.Fit) bool {
	fast := f.fits[0]
	return fit.Limit > fast.Limit && (fit.Counting == fast.Counting || fixed(fit) || fixed(fast))
}

// again fits the fast layer anew, because the slower one may have caused earlier
// refusals. A change in the fast layer changes what the slower one has to
// explain.
func (s *search) again(b *search) error {
	if b.outOfReach() {
		return nil
	}
	for range 3 {
		perhaps := b.early()
		if len(perhaps) == 0 {
			return nil
		}
		s.fits = family.Fits(s.log(func(r record) bool { return r.sent > s.known || perhaps[r.flight()] }), func(family.Fit) bool { return true })
		if len(s.fits) == 0 {
			return errForeign
		}
		if len(s.fits) > mostFast {
			return nil // the result will be vague
		}
		changed := false
		b.front.fits = s.fits
		for i, r := range s.seen {
			if r.slow && b.front.explains(r) {
				s.seen[i].slow, changed = false, true
			}
		}
		if !changed {
			return nil
		}
		b.fitted = false
		if err := b.fit(); err != nil {
			return err
		}
	}
	return errForeign
}

// flight identifies a request by the time it was in flight. No two are equal.
type flight struct{ sent, received time.Duration }

func (r record) flight() flight { return flight{r.sent, r.received} }

// early returns the refusals that this layer may have caused before the one in
// front was identified.
func (b *search) early() map[flight]bool {
	early := map[flight]bool{}
	for i, at := range b.seen {
		if at.subject != Main || at.verdict != family.Refused || at.sent > b.front.known {
			continue
		}
		// A limiter refuses nothing before it received as many requests as its
		// limit.
		reached := slices.DeleteFunc(slices.Clone(b.fits), func(f family.Fit) bool { return f.Limit > i+b.options.MaxParallel })
		if len(reached) == 0 {
			continue
		}
		log := b.log(func(r record) bool { return r.flight() != at.flight() })
		log.Coarsely(b.front.window / 500)
		if len(reached) > mostFast || len(family.Narrow(log, reached)) > 0 {
			early[at.flight()] = true
		}
	}
	return early
}

// outOfReach reports that this layer cannot have refused before the one in front
// was identified: it let twice as many pass later, faster and for longer. Twice,
// because a window's boundary may lie among the later ones.
func (b *search) outOfReach() bool {
	before, after := 0, 0
	for _, r := range b.seen {
		switch {
		case r.slow:
			return after >= 2*before && b.sustained > 0 && r.sent-b.sustained >= b.front.known
		case r.sent <= b.front.known:
			before++ // accepted or not: refused ones may count
		case r.sent >= b.sustained && r.verdict == family.Accepted:
			after++
		}
	}
	return true
}
