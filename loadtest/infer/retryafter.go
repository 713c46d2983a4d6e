package infer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/infer/family"
)

// retryAfter returns the findings on Retry-After.
func (s *search) retryAfter() RetryAfter {
	var r RetryAfter
	for _, o := range s.seen {
		if o.verdict == family.Refused {
			r.Refused++
			if o.claims.RetryAfter != nil {
				r.With++
			}
			if o.claims.Unreadable != "" {
				r.With++
				r.Unreadable++
				r.Example = cmp.Or(r.Example, o.claims.Unreadable)
			}
		}
	}
	r.Present = presence(r.With, r.Refused, "refused responses")
	kept := 0
	var promised []float64
	for _, c := range s.cycles {
		if c.promised >= 0 {
			promised = append(promised, c.promised.Seconds())
		}
		if c.tried {
			r.Trials++
			if c.kept {
				kept++
			}
		}
	}
	r.Honest = share(kept, r.Trials)
	r.Shortest = s.recoveryTime()
	r.Promised = Estimate{Unit: "s", Why: cmp.Or(r.unpromised(), r.Shortest.Why)}
	if len(promised) > 0 {
		slices.Sort(promised)
		r.Promised = Estimate{Known: true, Value: promised[len(promised)/2], Low: promised[0], High: promised[len(promised)-1], Confidence: 1,
			Unit: "s",
			Why:  "median of the first refusal after each drain; the interval covers all of them"}
	}
	r.Verdict = s.truth(r)
	return r
}

// unpromised returns why nothing was promised; empty if something was.
func (r RetryAfter) unpromised() string {
	switch {
	case r.With == 0:
		return "no Retry-After was sent"
	case r.Unreadable == r.With:
		return "its values cannot be parsed"
	}
	return ""
}

// presence summarises how often something was present.
func presence(with, all int, of string) Answer {
	why := fmt.Sprintf("in %d of %d %s", with, all, of)
	switch {
	case all == 0:
		return Answer{Why: "no " + of}
	case with == 0:
		return Answer{Value: "never", Confidence: 1, Why: why}
	case with == all:
		return Answer{Value: "always", Confidence: 1, Why: why}
	default:
		return Answer{Value: "sometimes", Confidence: 1, Why: why}
	}
}

// share returns a share of trials with its exact (Clopper-Pearson) 95 %
// interval.
func share(good, trials int) Estimate {
	e := Estimate{Unit: "share", Confidence: 0.95}
	if trials == 0 {
		return Estimate{Unit: "share", Why: "no promise could be tested within the budgets"}
	}
	e.Known, e.Value = true, float64(good)/float64(trials)
	e.Low, e.High = 0, 1
	// If all or none are good, the whole 5 % lie on one side.
	tail := 0.025
	if good == 0 || good == trials {
		tail = 0.05
	}
	if good > 0 {
		e.Low = solve(func(p float64) bool { return atLeast(good, trials, p) < tail })
	}
	if good < trials {
		e.High = solve(func(p float64) bool { return 1-atLeast(good+1, trials, p) >= tail })
	}
	e.Why = fmt.Sprintf("%d of %d promises were kept", good, trials)
	return e
}

// solve returns where a condition that holds for small shares stops holding.
func solve(holds func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 50 {
		if mid := (low + high) / 2; holds(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// atLeast returns the probability of k or more of n, each with probability p.
func atLeast(k, n int, p float64) float64 {
	sum := 0.0
	for i := k; i <= n; i++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		if p > 0 && p < 1 {
			sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log(1-p))
		} else if p == 0 && i == 0 || p == 1 && i == n {
			sum++
		}
	}
	return sum
}

// roundedUp is the tolerance for a long Retry-After, which has whole seconds.
const roundedUp = time.Second

// followed is a promise whose outcome was observed.
type followed struct {
	promised time.Duration
	served   time.Duration // from the refusal to the next accepted request; 0 if none was observed
	late     time.Duration // how long after the promised time requests were still refused
}

func (f followed) tooShort() bool { return f.late > 0 }

func (f followed) tooLong() bool {
	return !f.tooShort() && f.promised > f.served+roundedUp
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
				undone = !s.noneCounting()
			}
		}
		if f.tooShort() || f.served > 0 && (!undone || f.tooLong()) {
			all = append(all, f)
		}
	}
	return all
}

// lone reports whether the request is one of Main with no other in flight.
func (s *search) lone(i int) bool { return s.seen[i].subject == Main && s.alone(i) }

// truth returns whether Retry-After is true.
func (s *search) truth(r RetryAfter) Answer {
	all, unpromised := s.follow(), r.unpromised()
	switch {
	case unpromised != "":
		return Answer{Why: unpromised}
	case len(all) == 0:
		return Answer{Why: "no promise could be verified: no single refused request was followed by single requests until one was accepted"}
	}
	var long, short []followed
	for _, f := range all {
		switch {
		case f.tooShort():
			short = append(short, f)
		case f.tooLong():
			long = append(long, f)
		}
	}
	if len(long)+len(short) == 0 {
		return Answer{Value: Honest, Confidence: 0.9, Why: fmt.Sprintf(
			"a request was served at the promised time or less than 1 s before it, in %d of %d cases", len(all), len(all))}
	}
	var values, whys []string
	say := func(value string, of []followed, why string) {
		if 2*len(of) < len(all) {
			value = "sometimes " + value
		}
		values = append(values, value)
		whys = append(whys, fmt.Sprintf("%s, in %d of %d cases", why, len(of), len(all)))
	}
	if len(long) > 0 {
		worst := longest(long, func(f followed) time.Duration { return f.served })
		say(TooLong, long, fmt.Sprintf("it says %s, but a request was served after %s", printable.Seconds(worst.promised), printable.Seconds(worst.served)))
	}
	if len(short) > 0 {
		worst := longest(short, func(f followed) time.Duration { return f.late })
		say(TooShort, short, fmt.Sprintf("it says %s, but requests were refused for another %s after that", printable.Seconds(worst.promised),
			printable.Seconds(worst.late)))
	}
	return Answer{Value: strings.Join(values, " and "), Confidence: sure, Why: strings.Join(whys, "; ")}
}

// longest returns the element with the longest time.
func longest(of []followed, by func(followed) time.Duration) followed {
	worst := of[0]
	for _, f := range of {
		if by(f) > by(worst) {
			worst = f
		}
	}
	return worst
}
