package infer

import (
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/infer/claims"
	"outreach.example/conformance/loadtest/infer/family"
)

// The values of the answers of HeaderClaims.
const (
	Agrees    = "agrees"
	Disagrees = "disagrees"
)

// headerClaims compares the RateLimit headers with the measurements.
func (s *search) headerClaims(layers []Layer) HeaderClaims {
	var h HeaderClaims
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
	if with == 0 {
		none := Answer{Why: "no header states it"}
		h.Limit, h.Window, h.Remaining, h.Reset = none, none, none, none
		return h
	}
	h.Limit = s.limitClaim(layers)
	h.Window = s.windowClaim(layers)
	h.Remaining = s.remainingClaim()
	h.Reset = s.resetClaim()
	return h
}

// limitClaim agrees if every stated limit is the limit of a layer. A bucket may
// state its burst or its refill in a window.
func (s *search) limitClaim(layers []Layer) Answer {
	claimed := map[int64]bool{}
	for _, r := range s.seen {
		if r.subject == Main && r.claims.Limit != nil {
			claimed[*r.claims.Limit] = true
		}
	}
	if len(claimed) == 0 {
		return Answer{Why: "no header states it"}
	}
	for claim := range claimed {
		found, known := false, false
		for _, l := range layers {
			known = known || l.Limit.Known
			found = found || l.Limit.Known && l.Limit.Low <= float64(claim) && float64(claim) <= l.Limit.High
		}
		switch {
		case found:
		case !known:
			return Answer{Why: fmt.Sprintf("headers say %d; the limit was not measured", claim)}
		case slices.ContainsFunc(layers, func(l Layer) bool {
			return l.Kind.Value != string(family.Aligned) && l.Kind.Value != string(family.First) && l.Kind.Value != string(family.Sliding) &&
				l.Kind.Value != string(family.Counter)
		}):
			return Answer{Why: fmt.Sprintf("headers say %d, which may be a bucket's refill in an unstated period", claim)}
		default:
			return Answer{Value: Disagrees, Confidence: sure, Why: fmt.Sprintf("headers say %d, measured %s", claim, printable.Figure(layers[0].Limit.Value))}
		}
	}
	return Answer{Value: Agrees, Confidence: sure, Why: "every stated limit was measured"}
}

// windowClaim compares whole seconds, as the headers do.
func (s *search) windowClaim(layers []Layer) Answer {
	for _, r := range s.seen {
		if r.subject != Main || r.claims.Window == nil {
			continue
		}
		claim := r.claims.Window.Seconds()
		if len(layers) == 0 || !layers[0].Window.Known {
			return Answer{Why: fmt.Sprintf("headers say %g s; the window was not measured", claim)}
		}
		for _, l := range layers {
			if l.Window.Known && math.Ceil(l.Window.Low-0.01) <= claim && claim <= math.Ceil(l.Window.High) {
				return Answer{Value: Agrees, Confidence: sure, Why: fmt.Sprintf("headers say %g s, as measured", claim)}
			}
		}
		return Answer{Value: Disagrees, Confidence: sure, Why: fmt.Sprintf("headers say %g s, measured %s s", claim, printable.Figure(layers[0].Window.Value))}
	}
	return Answer{Why: "no header states it"}
}

// remainingClaim agrees if no request was refused while requests remained,
// beyond those in flight.
func (s *search) remainingClaim() Answer {
	said, promised := 0, 0
	for i, r := range s.seen {
		if r.subject != Main || r.claims.Remaining == nil {
			continue
		}
		said++
		if r.verdict == family.Refused && *r.claims.Remaining > 0 {
			return Answer{Value: Disagrees, Confidence: sure, Why: fmt.Sprintf("a response with 429 says that %d requests remain", *r.claims.Remaining)}
		}
		// The next request shows whether one remained, if both were alone.
		if i+1 == len(s.seen) || r.verdict != family.Accepted || *r.claims.Remaining == 0 || !s.alone(i) || !s.alone(i+1) ||
			s.seen[i+1].subject != Main {
			continue
		}
		next := s.seen[i+1]
		promised++
		if next.verdict == family.Refused && next.received-r.sent < 4*s.trip {
			return Answer{Value: Disagrees, Confidence: sure,
				Why: fmt.Sprintf("a response said that %d requests remain, but the next one was refused", *r.claims.Remaining)}
		}
	}
	if said == 0 {
		return Answer{Why: "no header states it"}
	}
	return Answer{Value: Agrees, Confidence: 0.9,
		Why: fmt.Sprintf("no refusal while requests remained; %d statements were tested at once", promised)}
}

// alone reports whether no other request was in flight with this one.
func (s *search) alone(i int) bool {
	return (i == 0 || s.seen[i-1].received <= s.seen[i].sent) && (i+1 == len(s.seen) || s.seen[i].received <= s.seen[i+1].sent)
}

// resetClaim agrees if requests pass after the stated time. The reset means the
// whole limit, so requests may pass earlier.
func (s *search) resetClaim() Answer {
	said, tried := 0, 0
	for i, r := range s.seen {
		if r.subject != Main || r.claims.Reset == nil {
			continue
		}
		said++
		if r.verdict != family.Refused || i+1 == len(s.seen) || !s.alone(i) || !s.alone(i+1) {
			continue
		}
		next := s.seen[i+1]
		if next.subject != Main || next.sent < r.received+*r.claims.Reset {
			continue
		}
		tried++
		if next.verdict == family.Refused {
			return Answer{Value: Disagrees, Confidence: sure, Why: fmt.Sprintf("refused %s after a refusal that stated a reset in %s",
				(next.sent - r.received).Round(time.Millisecond), *r.claims.Reset)}
		}
	}
	switch {
	case said == 0:
		return Answer{Why: "no header states it"}
	case tried == 0:
		return Answer{Why: "requests were accepted before every stated reset, so none was tested"}
	}
	return Answer{Value: Agrees, Confidence: 0.9, Why: fmt.Sprintf("requests were accepted after the reset in %d of %d cases", tried, tried)}
}

// unreached returns the stated quotas of unmeasured layers that the probing did
// not reach.
func (s *search) unreached(layers []Layer) (notes []string) {
	said := map[claims.Policy]bool{}
	for _, r := range s.seen {
		for _, p := range r.claims.Policies {
			if r.subject != Main || said[p] || p.Window == 0 {
				continue
			}
			said[p] = true
			measured := slices.ContainsFunc(layers, func(l Layer) bool {
				return l.Limit.Known && l.Limit.Low <= float64(p.Quota) && float64(p.Quota) <= l.Limit.High
			})
			if most := s.mostWithin(p.Window); !measured && int64(most) < p.Quota {
				notes = append(notes, fmt.Sprintf("a policy header states a quota of %d in %g s, which was not reached (at most %s accepted in that time)",
					p.Quota, p.Window.Seconds(), plural(most, "request")))
			}
		}
	}
	return notes
}

// mostWithin returns the maximum number of accepted requests of Main within a
// time.
func (s *search) mostWithin(window time.Duration) (most int) {
	var passed []time.Duration
	for _, r := range s.seen {
		if r.subject != Main || r.verdict != family.Accepted {
			continue
		}
		passed = append(passed, r.sent)
		for passed[0] < r.sent-window {
			passed = passed[1:]
		}
		most = max(most, len(passed))
	}
	return most
}
