package infer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mathext"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// The values of load.RetryAfter.Verdict. It may be both of the latter, possibly
// with "sometimes".
const (
	Honest   = "honest"
	TooLong  = "too long"
	TooShort = "too short"
)

// retryAfter returns the findings on Retry-After. shortest is how long Main was
// refused after a drain.
func (s *search) retryAfter(shortest load.Finding) load.RetryAfter {
	r := load.RetryAfter{Shortest: shortest}
	for _, o := range s.seen {
		if o.verdict != family.Refused {
			continue
		}
		r.Refused++
		if o.claims.RetryAfter != nil || o.claims.Unreadable != "" {
			r.With++
		}
		if o.claims.Unreadable != "" {
			r.Unreadable++
			r.Example = cmp.Or(r.Example, o.claims.Unreadable)
		}
	}
	r.Present = presence(int(r.With), int(r.Refused), "refused responses")
	unpromised := ""
	switch r.With {
	case 0:
		unpromised = "no Retry-After was sent"
	case r.Unreadable:
		unpromised = "its values cannot be parsed"
	}
	r.Promised = load.Finding{Unit: "s", Why: cmp.Or(unpromised, shortest.Why)}
	var promised []float64
	for _, c := range s.cycles {
		if c.promised >= 0 {
			promised = append(promised, c.promised.Seconds())
		}
	}
	if len(promised) > 0 {
		r.Promised = typical(promised, 1, "median of the first refusal after each drain; the interval covers all of them")
	}
	all := s.follow()
	r.Trials = int64(len(all))
	kept := len(slices.DeleteFunc(slices.Clone(all), func(f followed) bool { return f.late > 0 }))
	r.Honest = share(kept, len(all))
	if r.Verdict.Why = unpromised; unpromised == "" {
		r.Verdict = truth(all)
	}
	return r
}

// presence summarises how often something was present.
func presence(with, all int, of string) load.Answer {
	value := "sometimes"
	switch {
	case all == 0:
		return unknown("no %s", of)
	case with == 0:
		value = "never"
	case with == all:
		value = "always"
	}
	return known(value, 1, "in %d of %d %s", with, all, of)
}

// share returns a share of trials with its exact (Clopper-Pearson) 95 %
// interval.
func share(good, trials int) load.Finding {
	if trials == 0 {
		return load.Finding{Unit: "share", Why: "no promise could be tested within the budgets"}
	}
	e := load.Finding{Known: true, Value: float64(good) / float64(trials), High: 1, Confidence: 0.95, Unit: "share",
		Why: fmt.Sprintf("%d of %d promises were kept", good, trials)}
	// If all or none are good, the whole 5 % lie on one side.
	tail := 0.025
	if good == 0 || good == trials {
		tail = 0.05
	}
	if good > 0 {
		e.Low = mathext.InvRegIncBeta(float64(good), float64(trials-good+1), tail)
	}
	if good < trials {
		e.High = mathext.InvRegIncBeta(float64(good+1), float64(trials-good), 1-tail)
	}
	return e
}

// roundedUp is the tolerance for a long Retry-After, which has whole seconds.
const roundedUp = time.Second

// followed is a promise whose outcome was observed.
type followed struct {
	promised time.Duration
	served   time.Duration // from the refusal to the next accepted request; 0 if none was observed
	late     time.Duration // how long after the promised time requests were still refused
}

// early returns when a request was served although the promise was longer; 0 if the promise was not too long.
func (f followed) early() time.Duration {
	if f.late > 0 || f.promised <= f.served+roundedUp {
		return 0
	}
	return f.served
}

// follow returns the outcome of each promise to a single request that only
// single requests follow, because others may take what it was promised. A
// request refused meanwhile invalidates the promise unless refused requests are
// known not to count.
func (s *search) follow() (all []followed) {
	for i, r := range s.seen {
		if r.verdict != family.Refused || promise(r) < 0 || !s.lone(i) {
			continue
		}
		f, undone := followed{promised: promise(r)}, false
		for j := i + 1; j < len(s.seen) && s.lone(j) && f.served == 0; j++ {
			next := s.seen[j]
			switch {
			case next.verdict == family.Accepted:
				f.served = next.received - r.sent
			case next.verdict == family.Refused && !undone:
				f.late = max(f.late, next.sent-(r.received+f.promised))
				undone = !noneCounting(s.fits)
			}
		}
		if f.late > 0 || f.served > 0 && (!undone || f.early() > 0) {
			all = append(all, f)
		}
	}
	return all
}

// lone reports whether the request is one of Main with no other in flight.
func (p *prober) lone(i int) bool { return p.seen[i].subject == Main && p.alone(i) }

// alone reports whether no other request was in flight with this one.
func (p *prober) alone(i int) bool {
	return (i == 0 || p.seen[i-1].received <= p.seen[i].sent) && (i+1 == len(p.seen) || p.seen[i].received <= p.seen[i+1].sent)
}

// truth returns whether Retry-After is true.
func truth(all []followed) load.Answer {
	if len(all) == 0 {
		return unknown("no promise could be verified: no single refused request was followed by single requests until one was accepted")
	}
	var values, whys []string
	for _, lie := range []struct {
		value, why string
		by         func(followed) time.Duration
	}{
		{TooLong, "it says %s, but a request was served after %s", followed.early},
		{TooShort, "it says %s, but requests were refused for another %s after that", func(f followed) time.Duration { return f.late }},
	} {
		n, worst := 0, followed{}
		for _, f := range all {
			if lie.by(f) > 0 {
				n++
			}
			if lie.by(f) > lie.by(worst) {
				worst = f
			}
		}
		value := lie.value
		switch {
		case n == 0:
			continue
		case 2*n <= len(all):
			value = "sometimes " + value
		}
		values = append(values, value)
		whys = append(whys, fmt.Sprintf(lie.why+", in %d of %d cases", printable.Seconds(worst.promised), printable.Seconds(lie.by(worst)), n, len(all)))
	}
	if len(values) == 0 {
		return known(Honest, 0.9, "a request was served at the promised time or less than 1 s before it, in %d of %d cases", len(all), len(all))
	}
	return known(strings.Join(values, " and "), sure, "%s", strings.Join(whys, "; "))
}
