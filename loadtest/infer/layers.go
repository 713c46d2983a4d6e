package infer

import (
	"errors"
	"fmt"
	"math"
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
		f.marked = len(s.seen)
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
	case err != nil:
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

// flight identifies a request by the time it was in flight. No two are equal.
type flight struct{ sent, received time.Duration }

func (r record) flight() flight { return flight{r.sent, r.received} }
