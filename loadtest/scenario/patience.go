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

// errShut says that the key was refused for as long as anybody waits.
var errShut = errors.New("the key is refused for ever")

// tooLong says why service could not be waited for.
type tooLong struct{ why string }

func (t tooLong) Error() string { return t.why }

// shut is for how long the key was seen to be refused.
type shut struct {
	since   time.Time // zero while it is served
	longest time.Duration
}

func (s *shut) add(seen []infer.Observation) {
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

// recovery is what the probes have found out of when the limiter serves again.
type recovery struct {
	typical  time.Duration // a wait that sufficed after each drain; 0 if none was followed
	longest  time.Duration // that the key was ever seen shut, or that a layer takes; 0 for never
	believed bool          // Retry-After was not seen to be untrue
}

// recoveryOf is what the inference tells, and how long the key was seen shut.
func recoveryOf(result infer.Result, shut time.Duration) recovery {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	verdict := result.RetryAfter.Verdict
	rec := recovery{typical: seconds(result.Recovery.High), longest: max(shut, seconds(result.Recovery.High)),
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
	firstWait = 250 * time.Millisecond // where nothing is known of the limiter
	longWait  = 30 * time.Second       // between two looks that nothing was promised for
)

// wait is how long to let the key rest after the nth refusal in a row, from 0:
// as Retry-After says, if that may be believed, or else for what sufficed before,
// and twice as long each time.
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

// margin is added to what was measured: the next time may be a little longer.
func margin(d time.Duration) time.Duration { return d + d/10 + 50*time.Millisecond }

// obstacle says why service cannot be waited for after the nth refusal in a row,
// with the key shut for so long; it is empty where it can. The duration of the
// scenario bounds what is promised or known to take longer. It does not bound how
// long a key is watched that stays shut for longer than was promised or ever seen:
// the patience of the client does.
func (p *prober) obstacle(refusal http.Header, n int, shut time.Duration) string {
	wait, promised := p.recovery.wait(refusal, n)
	known := p.recovery.longest
	left := time.Until(p.r.started.Add(p.r.scenario.Duration))
	patience, _ := p.r.env.Client.Patience()
	why := ""
	switch {
	case promised && wait > shut:
		why = "Retry-After says " + infer.InSeconds(wait)
	case !promised && known > 0 && shut < margin(known):
		why = "the limiter was seen to take up to " + infer.InSeconds(known)
	default:
		return ""
	}
	switch {
	case wait > left && left > 0:
		return fmt.Sprintf("%s, and %s of the scenario's duration are left: a longer --duration tells", why, infer.InSeconds(left))
	case wait > left:
		return why + ", and nothing of the scenario's duration is left: a longer --duration tells"
	case shut+wait > patience:
		return fmt.Sprintf("%s, and no key is waited for longer than %s", why, infer.InSeconds(patience))
	}
	return ""
}

// served sends the request until it is answered otherwise than with 429. Its
// error is errShut or a tooLong; what else went wrong is in the exchange.
func (p *prober) served(request client.Request) (client.Exchange, error) {
	request.NoRetry = true
	began := time.Now()
	patience, answers := p.r.env.Client.Patience()
	for n := 0; ; n++ {
		ex := p.r.env.Client.Do(p.r.ctx, request)
		ex.Throttled = n
		if ex.Err != nil || ex.Status != http.StatusTooManyRequests {
			return ex, nil
		}
		shut := time.Since(began)
		if why := p.obstacle(ex.Header, n, shut); why != "" {
			return ex, tooLong{why}
		}
		wait, _ := p.recovery.wait(ex.Header, n)
		if n >= answers || shut+wait > patience {
			return ex, fmt.Errorf("%w: %d answers of 429 in %s, and no other", errShut, n+1, infer.InSeconds(shut))
		}
		if err := client.Sleep(p.r.ctx, wait); err != nil {
			return ex, err
		}
	}
}
