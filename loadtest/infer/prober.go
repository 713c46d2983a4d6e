package infer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/infer/claims"
	"outreach.example/conformance/loadtest/infer/family"
)

// errBudget ends the probing when a budget is exhausted.
var errBudget = errors.New("budget exhausted")

// prober sends within the budgets and keeps the log.
type prober struct {
	wire    Wire
	options Options
	ctx     context.Context
	began   time.Time
	step    string // current step, for the picture
	seen    []record
	stopped string // the budget that ended the probing
}

// record is an observation in the log's time.
type record struct {
	subject        Subject
	sent, received time.Duration
	verdict        family.Verdict
	status         int
	claims         claims.Claims
	step           string
	slow           bool // a refusal that the fast layer does not explain
}

// flight identifies a request by the time it was in flight. No two are equal.
type flight struct{ sent, received time.Duration }

func (r record) flight() flight { return flight{r.sent, r.received} }

func newProber(ctx context.Context, w Wire, o Options) *prober {
	return &prober{wire: w, options: o, ctx: ctx, began: w.Now()}
}

func (p *prober) now() time.Duration { return p.wire.Now().Sub(p.began) }

func (p *prober) next(step string) {
	p.step = step
	p.options.Log(step)
}

// send sends n requests of a subject at once and returns their records.
func (p *prober) send(s Subject, n int) ([]record, error) {
	shots := make([]Shot, n)
	for i := range shots {
		shots[i].Subject = s
	}
	return p.shoot(shots)
}

// shoot sends shots at once, up to the allowed number in flight.
func (p *prober) shoot(shots []Shot) ([]record, error) {
	first := len(p.seen)
	for len(shots) > 0 {
		if err := p.allows(0); err != nil {
			return nil, err
		}
		wave := min(len(shots), p.options.MaxParallel, p.options.MaxRequests-len(p.seen))
		if wave <= 0 {
			return nil, p.stop(fmt.Sprintf("the budget of %d requests", p.options.MaxRequests))
		}
		now := p.wire.Now()
		for i := range shots[:wave] {
			shots[i].At = now
		}
		for _, o := range p.wire.Send(p.ctx, shots[:wave]) {
			p.seen = append(p.seen, p.record(o))
		}
		shots = shots[wave:]
	}
	return p.seen[first:], p.ctx.Err()
}

func (p *prober) record(o Observation) record {
	r := record{subject: o.Subject, sent: o.Sent.Sub(p.began), received: o.Received.Sub(p.began), status: o.Status,
		verdict: family.Unknown, claims: claims.Parse(o.Header, o.Received), step: p.step}
	switch {
	case o.Failure != "":
	case o.Status == http.StatusTooManyRequests:
		r.verdict = family.Refused
	case o.Status/100 == 2:
		r.verdict = family.Accepted
	}
	return r
}

// sleep waits, unless the budget would end first.
func (p *prober) sleep(d time.Duration) error {
	if d <= 0 {
		return p.ctx.Err()
	}
	if err := p.allows(d); err != nil {
		return err
	}
	return p.wire.Sleep(p.ctx, d)
}

func (p *prober) sleepUntil(t time.Duration) error { return p.sleep(t - p.now()) }

// allows returns an error if there is no time left for this duration.
func (p *prober) allows(d time.Duration) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.now()+d > p.options.MaxTime {
		return p.stop(fmt.Sprintf("the time budget of %s", printable.Seconds(p.options.MaxTime)))
	}
	return nil
}

func (p *prober) stop(why string) error {
	p.stopped = why
	return errBudget
}

func (p *prober) spent() Spent {
	s := Spent{Requests: len(p.seen), Seconds: p.now().Seconds(), Stopped: p.stopped}
	for _, r := range p.seen {
		switch r.verdict {
		case family.Refused:
			s.Refused++
		case family.Unknown:
			s.Failed++
		case family.Accepted:
		}
	}
	return s
}

// count counts verdicts.
func count(records []record, v family.Verdict) (n int) {
	for _, r := range records {
		if r.verdict == v {
			n++
		}
	}
	return n
}

// medianTrip returns the median round trip of answered requests; 0 if there are
// none.
func medianTrip(records []record) time.Duration {
	var trips []time.Duration
	for _, r := range records {
		if r.status != 0 {
			trips = append(trips, r.received-r.sent)
		}
	}
	if len(trips) == 0 {
		return 0
	}
	slices.Sort(trips)
	return trips[len(trips)/2]
}
