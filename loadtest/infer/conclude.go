package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
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
func (s *search) layer(end error) load.Layer {
	if len(s.fits) == 0 || errors.Is(end, errTooLarge) {
		return s.unexplained(end)
	}
	l := layerOf(s.fits)
	// A kind that is left alone may fit only because it is vague.
	if l.Kind.Value != "" && (l.Limit.High > 1.1*l.Limit.Low+1 || l.Window.High == 0 || l.Window.High > vague*l.Window.Low) {
		l.Kind = load.Answer{OneOf: []string{l.Kind.Value}, Why: "no other known kind fits all observations, but its limit and window are uncertain"}
		l.CountsRefused = load.Answer{Why: l.Kind.Why}
	}
	if end != nil && l.Kind.Value == "" && !errors.Is(end, errForeign) {
		l.Kind.Why += "; stopped by " + s.reason(end)
	}
	if !l.Limit.Known {
		l.Limit.Why += "; " + s.before()
	}
	return l
}

func (s *search) before() string {
	return plural(s.passed(), "request") + " were accepted before its first refusal"
}

func (p *prober) reason(end error) string {
	if errors.Is(end, errBudget) {
		return p.stopped
	}
	return end.Error()
}

// unexplained returns the layer when nothing fits.
func (s *search) unexplained(end error) load.Layer {
	why := "stopped by " + s.reason(end)
	switch {
	case errors.Is(end, errForeign):
		why = "no known kind of limiter fits all observations: other traffic on the key, several layers, nodes with separate counters, random load shedding, or an unknown kind"
	case errors.Is(end, errTooFast), errors.Is(end, errTooLarge):
		why = end.Error()
	case errors.Is(end, errBudget):
		why += " before the limiter was identified"
	}
	return load.Layer{
		Kind: load.Answer{Why: why}, CountsRefused: load.Answer{Why: why}, Limit: load.Finding{Unit: "requests", Why: why + "; " + s.before()},
		Window: load.Finding{Unit: "s", Why: why}, Rate: load.Finding{Unit: "requests/s", Why: why},
	}
}

// layerOf returns what the fits have in common.
func layerOf(fits []family.Fit) load.Layer {
	limits, windows, rates := newRange(), newRange(), newRange()
	var kinds, counting []string
	unaffected := false // by refused requests
	include := func(list *[]string, value string) {
		if !slices.Contains(*list, value) {
			*list = append(*list, value)
		}
	}
	for _, f := range fits {
		limits.add(float64(f.Limit), float64(f.Limit))
		windows.add(windowOf(f))
		rates.add(f.Rate())
		include(&kinds, string(f.Kind))
		switch {
		case fixed(f):
			unaffected = true
		case f.Counting:
			include(&counting, "yes")
		default:
			include(&counting, "no")
		}
	}
	slices.Sort(kinds)
	l := load.Layer{
		Kind:  load.Answer{OneOf: kinds, Why: "more than one kind fits all observations"},
		Limit: limits.estimate("requests", 1), Window: windows.estimate("s", loose), Rate: rates.estimate("requests/s", loose),
	}
	if len(kinds) == 1 {
		l.Kind = load.Answer{Value: kinds[0], Confidence: sure, Why: "every other kind with a window of at least four round trips is ruled out"}
	}
	switch {
	case len(counting) == 0:
		l.CountsRefused.Why = "it makes no difference to a fixed window"
	case len(counting) == 2:
		l.CountsRefused = load.Answer{OneOf: []string{"yes", "no"}, Why: "both fit all observations"}
	case unaffected:
		l.CountsRefused.Why = "it depends on the kind"
	default:
		l.CountsRefused = load.Answer{Value: counting[0], Confidence: sure, Why: "the opposite is ruled out"}
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
func (b bounds) estimate(unit string, closeness float64) load.Finding {
	e := load.Finding{Unit: unit, Low: b.low, High: b.high}
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
func (s *search) noLimit() (load.Answer, *load.Beyond) {
	passed, elapsed := count(s.seen, family.Accepted), s.now()
	if neither := count(s.seen, family.Unknown); neither > len(s.seen)/20 {
		return load.Answer{Why: fmt.Sprintf("%d of %s got neither a 2xx nor a 429; a limiter may be the reason", neither,
			plural(len(s.seen), "request"))}, nil
	}
	b := beyond(passed, passed, elapsed)
	tried := fmt.Sprintf("a burst of %d and %s were accepted", b.Burst, sustained(b))
	b.Why = tried + notReached
	if slope, ok := s.ramps(); ok {
		return load.Answer{Value: Queued, Confidence: 0.9, Why: fmt.Sprintf(
			"no request was refused, but a group was answered one by one at %s/s: a queueing limiter or a server at capacity (these look the same)", printable.Figure(slope))}, b
	}
	return load.Answer{Value: NoLimit, Confidence: 1, Why: "no request was refused: " + tried}, b
}

// notReached follows what was tried: it does not prove that there is no limit.
const notReached = "; a higher or slower limit would need more probing (--duration, --probe-budget)"

func beyond(passed, burst int, elapsed time.Duration) *load.Beyond {
	b := &load.Beyond{Burst: int64(burst), Seconds: elapsed.Seconds()}
	if elapsed > 0 {
		b.SustainedPerSecond = float64(passed) / elapsed.Seconds()
	}
	return b
}

// sustained describes the sustained rate and its duration.
func sustained(b *load.Beyond) string {
	return printable.Figure(b.SustainedPerSecond) + " requests/s for " + printable.Amount(b.Seconds, "s")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
