package infer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// roundedUp is by how much Retry-After may be too long: it has whole seconds.
const roundedUp = time.Second

// followed is a promise of which it was seen what came of it.
type followed struct {
	promised time.Duration
	served   time.Duration // from the refusal to the next request that passed; 0 if none was seen
	late     time.Duration // for so long after the promised time requests were refused still
}

func (f followed) tooShort() bool { return f.late > 0 }

func (f followed) tooLong() bool {
	return !f.tooShort() && f.promised > f.served+roundedUp
}

// follow looks up what came of each promise that a lone request was told, as long
// as only lone requests follow: others may have taken what it was promised. A
// request that was refused meanwhile undoes the promise, unless it is known not
// to count.
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

// lone tells whether the request is one of Main, with no other in flight.
func (s *search) lone(i int) bool { return s.seen[i].subject == Main && s.alone(i) }

// truth says whether Retry-After is true.
func (s *search) truth(r RetryAfter) Answer {
	all, unpromised := s.follow(), r.unpromised()
	switch {
	case unpromised != "":
		return Answer{Why: unpromised}
	case len(all) == 0:
		return Answer{Why: "no promise could be followed: no lone request was refused, and then others alone until one passed"}
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
			"when the promised time was over, or less than a second before it, a request was served, in %d of %d looks", len(all), len(all))}
	}
	var values, whys []string
	say := func(value string, of []followed, why string) {
		if 2*len(of) < len(all) {
			value = "sometimes " + value
		}
		values = append(values, value)
		whys = append(whys, fmt.Sprintf("%s, in %d of %d looks", why, len(of), len(all)))
	}
	if len(long) > 0 {
		worst := longest(long, func(f followed) time.Duration { return f.served })
		say(TooLong, long, fmt.Sprintf("it says %s, and a request was served after %s", InSeconds(worst.promised), InSeconds(worst.served)))
	}
	if len(short) > 0 {
		worst := longest(short, func(f followed) time.Duration { return f.late })
		say(TooShort, short, fmt.Sprintf("it says %s, and requests after that were refused for another %s", InSeconds(worst.promised), InSeconds(worst.late)))
	}
	return Answer{Value: strings.Join(values, " and "), Confidence: sure, Why: strings.Join(whys, "; ")}
}

// longest is the one whose time is the longest.
func longest(of []followed, by func(followed) time.Duration) followed {
	worst := of[0]
	for _, f := range of {
		if by(f) > by(worst) {
			worst = f
		}
	}
	return worst
}

// InSeconds writes a time with three figures, or to the second if it is long.
func InSeconds(d time.Duration) string {
	if d >= 100*time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', 0, 64) + " s"
	}
	return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) + " s"
}
