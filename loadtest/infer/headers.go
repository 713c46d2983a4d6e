package infer

import (
	"math"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// The values of the answers of load.HeaderClaims.
const (
	Agrees    = "agrees"
	Disagrees = "disagrees"
)

func agrees(confidence float64, why string, of ...any) load.Answer {
	return known(Agrees, confidence, why, of...)
}

func disagrees(why string, of ...any) load.Answer { return known(Disagrees, sure, why, of...) }

// unstated is the answer to a claim that no header makes.
var unstated = unknown("no header states it")

// headerClaims compares the RateLimit headers with the measurements.
func (s *search) headerClaims(layers []load.Layer) load.HeaderClaims {
	h := load.HeaderClaims{Limit: s.limitClaim(layers), Window: s.windowClaim(layers), Remaining: s.remainingClaim(), Reset: s.resetClaim()}
	with, answered := 0, 0
	for _, r := range s.seen {
		if r.status == 0 {
			continue
		}
		answered++
		if len(r.claims.Styles) > 0 {
			with++
		}
		for _, style := range r.claims.Styles {
			if !slices.Contains(h.Styles, style) {
				h.Styles = append(h.Styles, style)
			}
		}
		for _, m := range r.claims.Malformed {
			if len(h.Malformed) < 8 && !slices.Contains(h.Malformed, m) {
				h.Malformed = append(h.Malformed, m)
			}
		}
	}
	h.Present = presence(with, answered, "responses")
	return h
}

// limitClaim agrees if every stated limit is the limit of a layer. A bucket may
// state its burst or its refill in a window.
func (p *prober) limitClaim(layers []load.Layer) load.Answer {
	answer := unstated
	for _, r := range p.seen {
		if r.subject != Main || r.claims.Limit == nil {
			continue
		}
		claim := *r.claims.Limit
		switch {
		case measures(layers, claim):
			answer = agrees(sure, "every stated limit was measured")
		case !slices.ContainsFunc(layers, func(l load.Layer) bool { return l.Limit.Known }):
			return unknown("headers say %d; the limit was not measured", claim)
		case slices.ContainsFunc(layers, func(l load.Layer) bool { return l.Kind.Value == "" || l.Kind.Value == string(family.Bucket) }):
			return unknown("headers say %d, which may be a bucket's refill in an unstated period", claim)
		default:
			return disagrees("headers say %d, measured %s", claim, printable.Figure(layers[0].Limit.Value))
		}
	}
	return answer
}

// measures reports whether the limit was measured of a layer.
func measures(layers []load.Layer, limit int64) bool {
	return slices.ContainsFunc(layers, func(l load.Layer) bool {
		return l.Limit.Known && l.Limit.Low <= float64(limit) && float64(limit) <= l.Limit.High
	})
}

// windowClaim compares whole seconds, as the headers do.
func (p *prober) windowClaim(layers []load.Layer) load.Answer {
	stated := slices.IndexFunc(p.seen, func(r record) bool { return r.subject == Main && r.claims.Window != nil })
	if stated < 0 {
		return unstated
	}
	claim := p.seen[stated].claims.Window.Seconds()
	switch {
	case len(layers) == 0 || !layers[0].Window.Known:
		return unknown("headers say %g s; the window was not measured", claim)
	case slices.ContainsFunc(layers, func(l load.Layer) bool {
		return l.Window.Known && math.Ceil(l.Window.Low-0.01) <= claim && claim <= math.Ceil(l.Window.High)
	}):
		return agrees(sure, "headers say %g s, as measured", claim)
	}
	return disagrees("headers say %g s, measured %s s", claim, printable.Figure(layers[0].Window.Value))
}

// remainingClaim agrees if no request was refused while requests remained,
// beyond those in flight.
func (s *search) remainingClaim() load.Answer {
	answer, tested := unstated, 0
	for i, r := range s.seen {
		if r.subject != Main || r.claims.Remaining == nil {
			continue
		}
		remain := *r.claims.Remaining
		if r.verdict == family.Refused && remain > 0 {
			return disagrees("a response with 429 says that %d requests remain", remain)
		}
		// The next request shows whether one remained, if both were alone.
		if next, ok := s.after(i); ok && r.verdict == family.Accepted && remain > 0 {
			tested++
			if next.verdict == family.Refused && next.received-r.sent < 4*s.trip {
				return disagrees("a response said that %d requests remain, but the next one was refused", remain)
			}
		}
		answer = agrees(0.9, "no refusal while requests remained; %d statements were tested at once", tested)
	}
	return answer
}

// after returns the request of Main after this one if both were alone.
func (p *prober) after(i int) (next record, ok bool) {
	if i+1 == len(p.seen) || !p.alone(i) || !p.lone(i+1) {
		return record{}, false
	}
	return p.seen[i+1], true
}

// resetClaim agrees if requests pass after the stated time. The reset means the
// whole limit, so requests may pass earlier.
func (p *prober) resetClaim() load.Answer {
	answer, tested := unstated, 0
	for i, r := range p.seen {
		if r.subject != Main || r.claims.Reset == nil {
			continue
		}
		if tested == 0 {
			answer = unknown("requests were accepted before every stated reset, so none was tested")
		}
		next, ok := p.after(i)
		if !ok || r.verdict != family.Refused || next.sent < r.received+*r.claims.Reset {
			continue
		}
		if next.verdict == family.Refused {
			return disagrees("refused %s after a refusal that stated a reset in %s", (next.sent - r.received).Round(time.Millisecond), *r.claims.Reset)
		}
		tested++
		answer = agrees(0.9, "requests were accepted after the reset in %d of %d cases", tested, tested)
	}
	return answer
}
