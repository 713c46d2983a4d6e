package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"outreach.example/conformance/loadtest/infer/family"
)

// sure is the confidence of what is left when everything else is contradicted.
// The grid test holds it: at most 1 % of such answers are wrong.
const sure = 0.99

// loose is how far apart the ends of an interval may be for its middle to be
// called an estimate.
const loose = 1.25

// vague is how far apart they may be for a kind to be believed.
const vague = 1.5

// layer says what the fits leave. The error is what ended the search.
func (s *search) layer(end error) Layer {
	if len(s.fits) == 0 {
		return unexplained(s, end)
	}
	l := vagueIsUnknown(layerOf(s.fits))
	if end != nil && !l.Kind.Known() {
		l.Kind.Why += "; stopped by " + reason(s, end)
	}
	return l
}

// vagueIsUnknown takes back a kind that is left alone but fits by being vague:
// it may be that no known kind is true.
func vagueIsUnknown(l Layer) Layer {
	if l.Kind.Known() && (l.Limit.High > 1.1*l.Limit.Low+1 || l.Window.High == 0 || l.Window.High > vague*l.Window.Low) {
		l.Kind = Answer{OneOf: []string{l.Kind.Value}, Why: "no other known kind explains all that was seen, but its own limit and window could not be pinned down"}
		l.CountsRefused = Answer{Why: l.Kind.Why}
	}
	return l
}

func reason(s *search, end error) string {
	if errors.Is(end, errBudget) {
		return s.stopped
	}
	return end.Error()
}

// unexplained is the layer when nothing fits.
func unexplained(s *search, end error) Layer {
	why := "stopped by " + fmt.Sprint(end)
	switch {
	case errors.Is(end, errForeign):
		why = "no known kind of limiter explains all that was seen: other traffic on the key, several layers at once, nodes that count apart, random shedding, or an unknown kind"
	case errors.Is(end, errTooFast), errors.Is(end, errTooLarge):
		why = end.Error()
	case errors.Is(end, errBudget):
		why = "stopped by " + s.stopped + " before the limiter was understood"
	}
	return Layer{
		Kind: Answer{Why: why}, CountsRefused: Answer{Why: why},
		Limit:  Estimate{Unit: "requests", Why: fmt.Sprintf("%s; %d requests passed before the first refusal", why, s.burst)},
		Window: Estimate{Unit: "s", Why: why}, Rate: Estimate{Unit: "requests/s", Why: why},
	}
}

// layerOf says what fits have in common.
func layerOf(fits []family.Fit) Layer {
	var l Layer
	limits, windows, rates := newRange(), newRange(), newRange()
	var kinds []string
	counting := map[bool]bool{}
	for _, f := range fits {
		limits.add(float64(f.Limit), float64(f.Limit))
		windows.add(windowOf(f))
		rates.add(f.Rate())
		if !slices.Contains(kinds, string(f.Kind)) {
			kinds = append(kinds, string(f.Kind))
		}
		if f.Kind != family.Aligned && f.Kind != family.First {
			counting[f.Counting] = true
		}
	}
	slices.Sort(kinds)
	if len(kinds) == 1 {
		l.Kind = Answer{Value: kinds[0], Confidence: sure, Why: "every other kind with a window of at least four round trips is contradicted"}
	} else {
		l.Kind = Answer{OneOf: kinds, Why: "more than one kind explains all that was seen"}
	}
	l.Limit = limits.estimate("requests", 1)
	l.Window = windows.estimate("s", loose)
	l.Rate = rates.estimate("requests/s", loose)
	switch {
	case len(counting) == 0:
		l.CountsRefused = Answer{Why: "a fixed window begins anew whatever was refused: it makes no difference"}
	case len(kinds) > 1 && len(counting) < 2 && slices.ContainsFunc(fits, func(f family.Fit) bool { return f.Kind == family.Aligned || f.Kind == family.First }):
		l.CountsRefused = Answer{Why: "it depends on the kind"}
	case counting[true] && counting[false]:
		l.CountsRefused = Answer{OneOf: []string{"yes", "no"}, Why: "both explain all that was seen"}
	case counting[true]:
		l.CountsRefused = Answer{Value: "yes", Confidence: sure, Why: "the contrary is contradicted"}
	default:
		l.CountsRefused = Answer{Value: "no", Confidence: sure, Why: "the contrary is contradicted"}
	}
	return l
}

// windowOf is the window in seconds: from 0 where nothing bounds it from below,
// to infinity where nothing does from above.
func windowOf(f family.Fit) (low, high float64) {
	least, most := f.Window()
	low, high = least.Seconds(), most.Seconds()
	if f.OpenBelow() {
		low = 0
	}
	if most == family.Unbounded {
		high = math.Inf(1)
	}
	return low, high
}

// bounds is the hull of intervals. A side that nothing bounds is 0 or infinite.
type bounds struct{ low, high float64 }

func newRange() bounds { return bounds{math.Inf(1), math.Inf(-1)} }

func (b *bounds) add(low, high float64) {
	b.low, b.high = min(b.low, low), max(b.high, high)
}

// estimate is the middle, if the ends are close enough. A side that nothing
// bounds is left out, and said to be so.
func (b bounds) estimate(unit string, closeness float64) Estimate {
	e := Estimate{Unit: unit, Low: b.low, High: b.high}
	if math.IsInf(b.high, 1) {
		e.High = 0
	}
	switch {
	case e.Low == 0 && e.High == 0:
		e.Why = "nothing seen bounds it"
	case e.High == 0:
		e.Why = "nothing seen bounds it from above"
	case e.Low == 0:
		e.Why = "nothing seen bounds it from below"
	case b.high > closeness*b.low:
		e.Why = "it could not be narrowed down"
	default:
		e.Known, e.Value, e.Confidence = true, (b.low+b.high)/2, sure
		e.Why = "no observation contradicts the interval, and some contradict every other value"
	}
	return e
}

// noLimit says how far the probing went without a refusal.
func (s *search) noLimit() (Answer, *Beyond) {
	passed, elapsed := count(s.seen, family.Accepted), s.now()
	if neither := count(s.seen, family.Unknown); neither > len(s.seen)/20 {
		return Answer{Why: fmt.Sprintf("%d of %s got neither a 2xx nor a 429; a limiter may be the reason", neither, plural(len(s.seen), "request"))}, nil
	}
	beyond := beyond(passed, s.burst, elapsed)
	if slope, ok := s.ramps(); ok {
		return Answer{Value: Queued, Confidence: 0.9, Why: fmt.Sprintf(
			"no request was refused, but the answers to a group came one after the other, %.4g a second: a limiter that queues, or a server at its capacity; these look the same", slope)}, beyond
	}
	return Answer{Value: NoLimit, Confidence: 1, Why: "no request was refused: " + beyond.Why}, beyond
}

func beyond(passed, burst int, elapsed time.Duration) *Beyond {
	b := &Beyond{Burst: burst, Seconds: elapsed.Seconds()}
	if elapsed > 0 {
		b.Sustained = float64(passed) / elapsed.Seconds()
	}
	rate, long := b.inWords()
	b.Why = fmt.Sprintf("a burst of %d and %s for %s passed", burst, rate, long)
	return b
}

// inWords is what was sustained, and for how long.
func (b *Beyond) inWords() (rate, long string) {
	rate = strconv.FormatFloat(b.Sustained, 'g', 4, 64)
	if b.Sustained >= 1000 {
		rate = strconv.FormatFloat(b.Sustained, 'f', 0, 64)
	}
	return rate + " requests/s", InSeconds(time.Duration(b.Seconds * float64(time.Second)))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
