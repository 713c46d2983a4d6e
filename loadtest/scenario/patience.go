package scenario

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/loadtest/infer/claims"
)

// errBlocked means that the key was refused for as long as the run waits.
var errBlocked = errors.New("the key stays blocked")

// tooLong explains why the run cannot wait for the key.
type tooLong struct{ why string }

func (t tooLong) Error() string { return t.why }

// blocked measures how long the key is refused.
type blocked struct {
	since   time.Time // zero while it is served
	longest time.Duration
}

func (s *blocked) add(seen []infer.Observation) {
	for _, o := range seen {
		switch {
		case o.Subject != infer.Main:
		case o.Status == http.StatusTooManyRequests && s.since.IsZero():
			s.since = o.Sent
		case o.Status == http.StatusOK && !s.since.IsZero():
			s.longest = max(s.longest, o.Received.Sub(s.since))
			s.since = time.Time{}
		}
	}
}

// recovery is what the probes found out about when the limiter serves again.
type recovery struct {
	typical  time.Duration // a wait that sufficed after each drain; 0 if unknown
	longest  time.Duration // longest time the key was blocked, or window of a layer; 0 for never
	believed bool          // Retry-After was never wrong
}

// recoveryOf combines the inference with how long the key was blocked.
func recoveryOf(result infer.Result, blocked time.Duration) recovery {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	verdict := result.RetryAfter.Verdict
	rec := recovery{typical: seconds(result.Recovery.High), longest: max(blocked, seconds(result.Recovery.High)),
		believed: !verdict.Known() || verdict.Value == infer.Honest}
	for _, l := range result.Layers {
		if l.Window.Known {
			rec.longest = max(rec.longest, seconds(l.Window.High))
		}
	}
	if rec.typical == 0 {
		rec.typical = rec.longest
	}
	return rec
}

const (
	firstWait = 250 * time.Millisecond // if nothing is known about the limiter
	longWait  = 30 * time.Second       // the longest wait without a promise
)

// wait returns how long to rest after the n-th refusal in a row, from 0:
// Retry-After if it is credible, else a wait that sufficed before, doubled each
// time.
func (rec recovery) wait(refusal http.Header, n int) (d time.Duration, promised bool) {
	if says := claims.Parse(refusal, time.Now()).RetryAfter; rec.believed && says != nil && *says > 0 {
		return *says, true
	}
	d = firstWait
	if rec.typical > 0 {
		d = margin(rec.typical)
	}
	return max(d, min(d<<min(n, 16), longWait)), false
}

// margin adds a tolerance to a measured time.
func margin(d time.Duration) time.Duration { return d + d/10 + 50*time.Millisecond }

// obstacle returns why the run cannot wait after the n-th refusal in a row;
// empty if it can. blocked is how long the key has been refused. The scenario's
// duration limits a promised or known wait. A key that stays blocked for longer
// than was ever promised or seen is watched for as long as the client's
// patience allows.
func (p *prober) obstacle(refusal http.Header, n int, blocked time.Duration) string {
	wait, promised := p.recovery.wait(refusal, n)
	known := p.recovery.longest
	left := time.Until(p.r.started.Add(p.r.scenario.Duration))
	patience, _ := p.r.env.Client.ThrottleLimits()
	why := ""
	switch {
	case promised && wait > blocked:
		why = "Retry-After says " + infer.InSeconds(wait)
	case !promised && known > 0 && blocked < margin(known):
		why = "the limiter blocks for up to " + infer.InSeconds(known)
	default:
		return ""
	}
	switch {
	case wait > left && left > 0:
		return fmt.Sprintf("%s, but only %s of the scenario's duration are left (use a longer --duration)", why, infer.InSeconds(left))
	case wait > left:
		return why + ", but the scenario's duration is used up (use a longer --duration)"
	case blocked+wait > patience:
		return fmt.Sprintf("%s, longer than the maximum wait of %s", why, infer.InSeconds(patience))
	}
	return ""
}

// served sends the request until the answer is not 429. Its error is
// errBlocked, a tooLong or the context's; other errors are in the exchange.
func (p *prober) served(request client.Request) (client.Exchange, error) {
	request.NoRetry = true
	began := time.Now()
	patience, answers := p.r.env.Client.ThrottleLimits()
	for n := 0; ; n++ {
		ex := p.r.env.Client.Do(p.r.ctx, request)
		ex.Throttled = n
		if ex.Err != nil || ex.Status != http.StatusTooManyRequests {
			return ex, nil
		}
		blocked := time.Since(began)
		if why := p.obstacle(ex.Header, n, blocked); why != "" {
			return ex, tooLong{why}
		}
		wait, _ := p.recovery.wait(ex.Header, n)
		if n >= answers || blocked+wait > patience {
			return ex, fmt.Errorf("%w: %d answers in %s, all 429", errBlocked, n+1, infer.InSeconds(blocked))
		}
		if err := client.Sleep(p.r.ctx, wait); err != nil {
			return ex, err
		}
	}
}
