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
		l.CountsRefused = unknown("%s", l.Kind.Why)
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
	var kinds []string
	var yes, no, unaffected bool // by refused requests
	for _, f := range fits {
		limit := float64(f.Limit)
		limits.add(limit, limit)
		low, high := windowOf(f)
		windows.add(low, high)
		rates.add(limit/high, limit/low)
		kinds = append(kinds, string(f.Kind))
		unaffected = unaffected || fixed(f)
		yes, no = yes || f.Counting, no || !f.Counting && !fixed(f)
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	l := load.Layer{
		Kind:  load.Answer{OneOf: kinds, Why: "more than one kind fits all observations"},
		Limit: limits.estimate("requests", 1), Window: windows.estimate("s", loose), Rate: rates.estimate("requests/s", loose),
		CountsRefused: known("no", sure, "the opposite is ruled out"),
	}
	if len(kinds) == 1 {
		l.Kind = known(kinds[0], sure, "every other kind with a window of at least four round trips is ruled out")
	}
	switch {
	case !yes && !no:
		l.CountsRefused = unknown("it makes no difference to a fixed window")
	case yes && no:
		l.CountsRefused = load.Answer{OneOf: []string{"yes", "no"}, Why: "both fit all observations"}
	case unaffected:
		l.CountsRefused = unknown("it depends on the kind")
	case yes:
		l.CountsRefused.Value = "yes"
	}
	return l
}

func known(value string, confidence float64, why string, of ...any) load.Answer {
	return load.Answer{Value: value, Confidence: confidence, Why: fmt.Sprintf(why, of...)}
}

func unknown(why string, of ...any) load.Answer { return load.Answer{Why: fmt.Sprintf(why, of...)} }

// typical returns the median of some times in seconds, with the least and the greatest.
func typical(seconds []float64, confidence float64, why string) load.Finding {
	slices.Sort(seconds)
	n := len(seconds)
	return load.Finding{Known: true, Value: seconds[n/2], Low: seconds[0], High: seconds[n-1], Confidence: confidence, Unit: "s", Why: why}
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
	if neither := count(s.seen, family.Unknown); neither > len(s.seen)/20 {
		return unknown("%d of %s got neither a 2xx nor a 429; a limiter may be the reason", neither, plural(len(s.seen), "request")), nil
	}
	passed := count(s.seen, family.Accepted)
	b := beyond(passed, passed, s.now())
	tried := fmt.Sprintf("a burst of %d and %s were accepted", b.Burst, sustained(b))
	b.Why = tried + notReached
	if slope, ok := s.ramps(); ok {
		return known(Queued, 0.9, "no request was refused, but a group was answered one by one at %s/s: a queueing limiter or a server at capacity (these look the same)",
			printable.Figure(slope)), b
	}
	return known(NoLimit, 1, "no request was refused: %s", tried), b
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
