package infer

import (
	"context"
	"errors"

	"outreach.example/conformance/loadtest/infer/family"
)

// Run probes a limiter through the wire. The key should be quiet: other traffic
// on it makes the answer unknown. Run stops at its budgets and returns what is
// known so far. An error means that the wire or the options are invalid or that
// the context ended; the result is valid then too.
func Run(ctx context.Context, w Wire, o Options) (Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Result{}, err
	}
	if w.Send == nil || w.Now == nil || w.Sleep == nil {
		return Result{}, errors.New("infer: a wire needs Send, Now and Sleep")
	}
	s := newSearch(ctx, w, o)
	result := Result{}
	end := s.run()
	result.Inference = s.spent()
	switch {
	case errors.Is(end, errNoLimit):
		result.Verdict, result.Beyond = s.noLimit()
	case errors.Is(end, errConcurrency):
		result.Verdict, result.Concurrency = s.concurrencyAnswer()
	case count(s.seen, family.Refused) == 0:
		result.Verdict = Answer{Why: reason(s, end)}
	default:
		result.Verdict = Answer{Value: RateLimited, Confidence: sure, Why: "requests were refused with 429"}
		s.layers(&result, end)
	}
	result.Sharing, result.Scope = s.sharing()
	result.RetryAfter = s.retryAfter()
	result.Recovery = s.recoveryTime()
	result.Headers = s.headerClaims(result.Layers)
	result.RoundTrip = s.roundTrip()
	result.Total = s.spent()
	result.Picture = s.picture()
	result.Notes = append(s.notes(), s.unreached(result.Layers)...)
	return result, ctx.Err()
}

// layers continues after the search for the fast layer: with drains, which test
// it again, and with slower layers.
func (s *search) layers(result *Result, end error) {
	result.Layers = []Layer{s.layer(end)}
	if end != nil {
		return
	}
	s.fast, s.understood = s.fits, s.now()
	end = s.observeCycles()
	// A slower layer may now contradict the fast one.
	contradicted := errors.Is(end, errForeign)
	if end != nil && !contradicted || len(s.fast) > mostFast {
		s.tell(result, end)
		return
	}
	s.fits = s.fast
	if end = s.layersBehind(result, contradicted); contradicted && end == nil {
		_ = s.observeCycles() // what was not visible before; the layers stay
	}
}

// mostFast limits the fits of the fast layer that are left when a slower one is
// sought: uncertainty about the first cannot be separated from the second.
const mostFast = 6

// picture returns an even, bounded selection of the observations.
func (p *prober) picture() []Point {
	step := max(1, (len(p.seen)+p.options.Picture-1)/p.options.Picture)
	points := make([]Point, 0, len(p.seen)/step+1)
	for i := 0; i < len(p.seen); i += step {
		r := p.seen[i]
		verdict := map[family.Verdict]string{family.Accepted: "accepted", family.Refused: "limited", family.Unknown: "failed"}[r.verdict]
		points = append(points, Point{Sent: r.sent.Seconds(), Received: r.received.Seconds(), Subject: r.subject, Verdict: verdict, Step: r.step})
	}
	return points
}

func (p *prober) roundTrip() Estimate {
	trip := medianTrip(p.seen)
	if trip == 0 {
		return Estimate{Unit: "s", Why: "no request was answered"}
	}
	low, high := trip, trip
	for _, r := range p.seen {
		if r.status != 0 {
			low, high = min(low, r.received-r.sent), max(high, r.received-r.sent)
		}
	}
	return Estimate{Known: true, Value: trip.Seconds(), Low: low.Seconds(), High: high.Seconds(), Confidence: 1, Unit: "s", Why: "median; the interval is the minimum and maximum"}
}

// notes returns remarks beside the answers.
func (p *prober) notes() []string {
	var notes []string
	failed, broken := 0, 0
	for _, r := range p.seen {
		switch {
		case r.status == 0:
			failed++
		case r.status >= 500:
			broken++
		}
	}
	if failed > 0 {
		notes = append(notes, plural(failed, "request")+" had no answer (they may have counted)")
	}
	if broken > 0 {
		notes = append(notes, plural(broken, "answer")+" had status 500 or above")
	}
	return notes
}
