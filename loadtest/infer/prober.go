package infer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// errBudget ends the probing when a budget is exhausted.
var errBudget = errors.New("budget exhausted")

// prober sends within the budgets and keeps the log.
type prober struct {
	wire    Wire
	options Options
	ctx     context.Context
	began   time.Time
	step    string // current step
	seen    []record
	err     error  // why nothing more is sent: errBudget, or the context's
	stopped string // the budget that ended the probing

	controls map[Subject]family.Verdict // of other subjects, while the limiter is at rest
	tally    map[Subject]tally
	cycles   []cycle
}

// record is an observation in the log's time.
type record struct {
	subject        Subject
	sent, received time.Duration
	verdict        family.Verdict
	status         int
	claims         Claims
	step           string
	slow           bool // a refusal that the fast layer does not explain
}

func newProber(ctx context.Context, w Wire, o Options) *prober {
	return &prober{wire: w, options: o, ctx: ctx, began: w.Now(), controls: map[Subject]family.Verdict{}, tally: map[Subject]tally{}}
}

func (p *prober) now() time.Duration { return p.wire.Now().Sub(p.began) }

func (p *prober) next(step string) {
	p.step = step
	p.options.Log(step)
}

// sendMain sends n requests of Main at once and returns their records.
func (p *prober) sendMain(n int) []record { return p.send(slices.Repeat([]Subject{Main}, n)) }

// send sends requests at once, up to the allowed number in flight. It sends
// nothing once err is set.
func (p *prober) send(subjects []Subject) []record {
	first := len(p.seen)
	for wave := range slices.Chunk(subjects, p.options.MaxParallel) {
		if !p.allows(0) {
			break
		}
		allowed := min(len(wave), p.options.MaxRequests-len(p.seen))
		for _, o := range p.wire.Send(p.ctx, wave[:allowed]) {
			p.seen = append(p.seen, p.record(o))
		}
		if allowed < len(wave) {
			p.stop(fmt.Sprintf("the budget of %d requests", p.options.MaxRequests))
		}
	}
	return p.seen[first:]
}

func (p *prober) record(o Observation) record {
	r := record{subject: o.Subject, sent: o.Sent.Sub(p.began), received: o.Received.Sub(p.began), status: o.Status,
		verdict: family.Unknown, claims: parseClaims(o.Header, o.Received), step: p.step}
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
func (p *prober) sleep(d time.Duration) {
	if d > 0 && p.allows(d) {
		p.err = p.wire.Sleep(p.ctx, d)
	}
}

func (p *prober) sleepUntil(t time.Duration) { p.sleep(t - p.now()) }

// allows reports whether there is time left for this duration.
func (p *prober) allows(d time.Duration) bool {
	if p.err == nil {
		p.err = p.ctx.Err()
	}
	if p.err == nil && p.now()+d > p.options.MaxTime {
		p.stop(fmt.Sprintf("the time budget of %s", printable.Seconds(p.options.MaxTime)))
	}
	return p.err == nil
}

func (p *prober) stop(why string) { p.stopped, p.err = why, errBudget }

func (p *prober) spent() load.Spent {
	return load.Spent{Requests: int64(len(p.seen)), Seconds: p.now().Seconds(), Stopped: p.stopped,
		Refused: int64(count(p.seen, family.Refused)), Failed: int64(count(p.seen, family.Unknown))}
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

// trips returns the round trips of answered requests, ascending.
func (p *prober) trips() []time.Duration {
	var trips []time.Duration
	for _, r := range p.seen {
		if r.status != 0 {
			trips = append(trips, r.received-r.sent)
		}
	}
	slices.Sort(trips)
	return trips
}

// median returns the middle of ascending durations; 0 if there are none.
func median(sorted []time.Duration) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

func times(d time.Duration, factor float64) time.Duration { return time.Duration(float64(d) * factor) }

func (p *prober) lastReceived() time.Duration { return p.seen[len(p.seen)-1].received }

// log prepares the observations for the families. The excused refusals need no
// explanation. Requests of other subjects may have counted too, until that is
// known.
func (p *prober) log(excused func(record) bool) *family.Log {
	shared := map[Subject]string{}
	for other := range p.tally {
		shared[other] = p.shared(other).Value
	}
	var all []family.Observation
	for _, r := range p.seen {
		o := observed(r)
		o.Excused = excused(r)
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

func observed(r record) family.Observation {
	return family.Observation{Sent: int64(r.sent), Received: int64(r.received), Verdict: r.verdict}
}
