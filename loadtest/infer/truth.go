package infer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

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
		say(TooLong, long, fmt.Sprintf("it says %s, but a request was served after %s", InSeconds(worst.promised), InSeconds(worst.served)))
	}
	if len(short) > 0 {
		worst := longest(short, func(f followed) time.Duration { return f.late })
		say(TooShort, short, fmt.Sprintf("it says %s, but requests were refused for another %s after that", InSeconds(worst.promised), InSeconds(worst.late)))
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

// InSeconds formats a time with three digits, or whole seconds from 100 s.
func InSeconds(d time.Duration) string {
	if d >= 100*time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', 0, 64) + " s"
	}
	return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) + " s"
}
