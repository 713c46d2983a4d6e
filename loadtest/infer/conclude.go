package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/infer/family"
)

// sure is the confidence of what is left when everything else is ruled out. The
// grid test checks it: at most 1 % of such answers are wrong.
const sure = 0.99

// loose is the maximum ratio of an interval's ends for its middle to count as
// an estimate.
const loose = 1.25

// vague is the maximum ratio of the ends for a kind to be accepted.
const vague = 1.5

// layer describes the layer that the fits leave. end is the error that ended
// the search.
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

// vagueIsUnknown rejects a kind that is left alone but fits only because it is
// vague: the true kind may be unknown.
func vagueIsUnknown(l Layer) Layer {
	if l.Kind.Known() && (l.Limit.High > 1.1*l.Limit.Low+1 || l.Window.High == 0 || l.Window.High > vague*l.Window.Low) {
		l.Kind = Answer{OneOf: []string{l.Kind.Value}, Why: "no other known kind fits all observations, but its limit and window are uncertain"}
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

// unexplained returns the layer when nothing fits.
func unexplained(s *search, end error) Layer {
	why := "stopped by " + fmt.Sprint(end)
	switch {
	case errors.Is(end, errForeign):
		why = "no known kind of limiter fits all observations: other traffic on the key, several layers, nodes with separate counters, random load shedding, or an unknown kind"
	case errors.Is(end, errTooFast), errors.Is(end, errTooLarge):
		why = end.Error()
	case errors.Is(end, errBudget):
		why = "stopped by " + s.stopped + " before the limiter was identified"
	}
	return Layer{
		Kind: Answer{Why: why}, CountsRefused: Answer{Why: why},
		Limit:  Estimate{Unit: "requests", Why: fmt.Sprintf("%s; %d requests were accepted before the first refusal", why, s.burst)},
		Window: Estimate{Unit: "s", Why: why}, Rate: Estimate{Unit: "requests/s", Why: why},
	}
}

// layerOf returns what the fits have in common.
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
		l.Kind = Answer{Value: kinds[0], Confidence: sure, Why: "every other kind with a window of at least four round trips is ruled out"}
	} else {
		l.Kind = Answer{OneOf: kinds, Why: "more than one kind fits all observations"}
	}
	l.Limit = limits.estimate("requests", 1)
	l.Window = windows.estimate("s", loose)
	l.Rate = rates.estimate("requests/s", loose)
	switch {
	case len(counting) == 0:
		l.CountsRefused = Answer{Why: "it makes no difference to a fixed window"}
	case len(kinds) > 1 && len(counting) < 2 && slices.ContainsFunc(fits,
		func(f family.Fit) bool { return f.Kind == family.Aligned || f.Kind == family.First }):
		l.CountsRefused = Answer{Why: "it depends on the kind"}
	case counting[true] && counting[false]:
		l.CountsRefused = Answer{OneOf: []string{"yes", "no"}, Why: "both fit all observations"}
	case counting[true]:
		l.CountsRefused = Answer{Value: "yes", Confidence: sure, Why: "the opposite is ruled out"}
	default:
		l.CountsRefused = Answer{Value: "no", Confidence: sure, Why: "the opposite is ruled out"}
	}
	return l
}

// windowOf returns the window in seconds: from 0 if nothing bounds it below, to
// infinity if nothing bounds it above.
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

// bounds is the hull of intervals. An unbounded side is 0 or infinite.
type bounds struct{ low, high float64 }

func newRange() bounds { return bounds{math.Inf(1), math.Inf(-1)} }

func (b *bounds) add(low, high float64) {
	b.low, b.high = min(b.low, low), max(b.high, high)
}

// estimate returns the middle if the ends are close enough. It omits an
// unbounded side and says so in Why.
func (b bounds) estimate(unit string, closeness float64) Estimate {
	e := Estimate{Unit: unit, Low: b.low, High: b.high}
	if math.IsInf(b.high, 1) {
		e.High = 0
	}
	switch {
	case e.Low == 0 && e.High == 0:
		e.Why = "no observation bounds it"
	case e.High == 0:
		e.Why = "no observation bounds it from above"
	case e.Low == 0:
		e.Why = "no observation bounds it from below"
	case b.high > closeness*b.low:
		e.Why = "the interval is too wide for an estimate"
	default:
		e.Known, e.Value, e.Confidence = true, (b.low+b.high)/2, sure
		e.Why = "observations rule out every value outside the interval"
	}
	return e
}

// noLimit returns how far the probing went without a refusal.
func (s *search) noLimit() (Answer, *Beyond) {
	passed, elapsed := count(s.seen, family.Accepted), s.now()
	if neither := count(s.seen, family.Unknown); neither > len(s.seen)/20 {
		return Answer{Why: fmt.Sprintf("%d of %s got neither a 2xx nor a 429; a limiter may be the reason", neither,
			plural(len(s.seen), "request"))}, nil
	}
	beyond := beyond(passed, s.burst, elapsed)
	if slope, ok := s.ramps(); ok {
		return Answer{Value: Queued, Confidence: 0.9, Why: fmt.Sprintf(
			"no request was refused, but a group was answered one by one at %s/s: a queueing limiter or a server at capacity (these look the same)", printable.Figure(slope))}, beyond
	}
	return Answer{Value: NoLimit, Confidence: 1, Why: "no request was refused: " + beyond.Why}, beyond
}

func beyond(passed, burst int, elapsed time.Duration) *Beyond {
	b := &Beyond{Burst: burst, Seconds: elapsed.Seconds()}
	if elapsed > 0 {
		b.Sustained = float64(passed) / elapsed.Seconds()
	}
	rate, long := b.inWords()
	b.Why = fmt.Sprintf("a burst of %d and %s for %s were accepted", burst, rate, long)
	return b
}

// inWords formats the sustained rate and its duration.
func (b *Beyond) inWords() (rate, long string) {
	return printable.Figure(b.Sustained) + " requests/s", printable.Seconds(time.Duration(b.Seconds * float64(time.Second)))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
