package measure

import (
	"fmt"
	"math"

	"outreach.example/conformance/internal/printable"
)

// ThresholdVerdict is the result of comparing a figure with its bound.
type ThresholdVerdict string

// The verdicts.
const (
	Met          ThresholdVerdict = "met"
	Missed       ThresholdVerdict = "missed"
	Inconclusive ThresholdVerdict = "inconclusive"
)

// ThresholdResult is a threshold compared with its figure.
type ThresholdResult struct {
	Threshold  Threshold
	Figure     Figure
	Verdict    ThresholdVerdict
	Late       bool   // the generator's lag prevents a decision
	PointMeets bool   // whether the value alone, without its interval, meets the bound
	Need       int64  // about how many requests would decide it; 0: decided or unknown
	Sentence   string // the reason in words, without the threshold
	Brief      string // the figure without its interval; empty if it is unknown
}

// Unknown returns the result without a figure, for the reason.
func (t Threshold) Unknown(why string) ThresholdResult {
	return ThresholdResult{Threshold: t, Verdict: Inconclusive, Sentence: why}
}

// Hold compares the figure with the bound.
func (t Threshold) Hold(f Figure) ThresholdResult {
	if !f.Known {
		return t.Unknown(t.unknown(f))
	}
	r := ThresholdResult{Threshold: t, Figure: f, Brief: t.Brief(f)}
	r.Verdict, r.PointMeets = t.verdict(f), !f.AtLeast && t.meets(f.Value)
	r.Sentence = fmt.Sprintf("%s is %s", t.name(), t.figure(f))
	switch r.Verdict {
	case Met:
		r.Sentence += ", " + t.bound()
	case Missed:
		r.Sentence += ", not " + t.bound() + t.where(f)
	default:
		r.undecided()
	}
	if n := f.beyond.Excluded; n > 0 {
		r.Sentence += fmt.Sprintf("; excludes %s that got 429 or failed sooner", requests(n))
	}
	return r
}

// verdict returns the verdict on a known figure.
func (t Threshold) verdict(f Figure) ThresholdVerdict {
	met, missed := false, false
	switch s, allowed := f.beyond, t.allowed(); {
	case s.Of > 0 && allowed == 0: // exact: the run had such requests or it had none
		met, missed = s.Count+s.Perhaps == 0, s.Sure > 0
	case s.Of > 0:
		met, missed = s.High <= allowed, s.Least > allowed
	case t.Op == More, t.Op == AtLeast: // the upper end of a sustained rate is a rate that did not hold
		met, missed = t.meets(f.Low), !f.Open && f.High <= t.Bound
	default:
		met, missed = !f.Open && t.meets(f.High), !t.meets(f.Low)
	}
	switch {
	case missed:
		return Missed
	case met:
		return Met
	default:
		return Inconclusive
	}
}

// meets reports whether a single value meets the bound.
func (t Threshold) meets(v float64) bool {
	switch t.Op {
	case Less:
		return v < t.Bound
	case AtMost:
		return v <= t.Bound
	case More:
		return v > t.Bound
	case AtLeast:
		return v >= t.Bound
	default:
		return v == t.Bound
	}
}

// undecided adds the reason why the result is inconclusive, and what would decide it.
func (r *ThresholdResult) undecided() {
	t, f := r.Threshold, r.Figure
	s, allowed := f.beyond, t.allowed()
	bound := t.bound()
	switch {
	case f.AtLeast && t.meets(f.Value):
		r.Sentence += fmt.Sprintf("; too few requests were accepted to tell whether it is %s (a longer --timeout may show it)", bound)
		return
	case f.late, s.Of > 0 && s.Alone.Low > allowed:
		r.Late = true
		r.Sentence += fmt.Sprintf("; requests went out late, so the generator's lag leaves open whether it is %s (use an idle machine or a lower rate)", bound)
		return
	case f.Samples == 0:
		r.Sentence += "; the interval does not show whether it is " + bound
		return
	case s.Of > 0:
		r.Need = need(s.Value, s.Least, s.High, allowed, s.Of)
	case f.Open: // the share beyond the quantile needs an upper bound
		r.Need = need(0, 0, 1, 1-t.P, f.Samples)
	default:
		r.Need = need(f.Value, f.Low, f.High, t.Bound, f.Samples)
	}
	switch {
	case s.Of > 0 && s.Alone.High <= allowed:
		r.Sentence += fmt.Sprintf("; not enough data to tell whether it is %s: responses are correlated, so %s count as about %s",
			bound, requests(s.Of), count(int64(float64(s.Of)/s.Design)))
		if r.Need > 0 {
			r.Sentence += fmt.Sprintf("; run %s times longer", printable.Figure(math.Ceil(float64(r.Need)/float64(s.Of))))
		}
	case r.Need > 0:
		r.Sentence += fmt.Sprintf("; not enough data to tell from chance whether it is %s: %s, about %s needed", bound, requests(f.Samples), count(r.Need))
	default:
		r.Sentence += fmt.Sprintf("; not enough data to tell from chance whether it is %s: %s", bound, requests(f.Samples))
	}
}

// need estimates how many of n requests would decide the bound if the figure stayed
// the same. Intervals narrow with the square root of the sample size; that of a change
// narrows so only if both runs, or both targets, get as many requests. The upper end for a
// share of 0 depends on the sample size alone.
func need(value, low, high, bound float64, n int64) int64 {
	const confidence = 0.975 // of one side of an interval
	var factor float64
	switch {
	case value == 0 && low == 0 && bound < 1:
		factor = math.Log(1-confidence) / math.Log(1-bound) / float64(n)
	case value < bound:
		factor = math.Pow((high-value)/(bound-value), 2)
	default:
		factor = math.Pow((value-low)/(value-bound), 2)
	}
	const least, most = 1.2, 1e6 // a sample a million times larger is no useful advice
	if math.IsNaN(factor) || factor > most {
		return 0
	}
	return int64(math.Ceil(float64(n) * max(factor, least)))
}

// where says how many requests were beyond the bound, and when they were due.
func (t Threshold) where(f Figure) string {
	s := f.beyond
	if s.Count == 0 {
		return ""
	}
	what := kinds[t.Metric].beyond
	if t.Unit() == "ms" {
		what += t.amount(t.Bound)
	}
	text := fmt.Sprintf(": %s of %s %s", printable.Number(s.Count), requests(f.Samples), what)
	if s.To > 0 {
		text += fmt.Sprintf(", all due between %s and %s", printable.Seconds(s.From), printable.Seconds(s.To))
	}
	return text
}

func (t Threshold) unknown(f Figure) string {
	switch {
	case f.beyond.Excluded > 0:
		return fmt.Sprintf("none of %s was accepted", requests(f.beyond.Excluded))
	case t.OfPhases() && t.Label != "":
		return fmt.Sprintf("no request has the label %q", t.Label)
	case t.OfPhases():
		return "no request was sent"
	default:
		return t.name() + " was not measured"
	}
}

// Brief formats the figure without its interval.
func (t Threshold) Brief(f Figure) string {
	switch {
	case !f.Known:
		return "unknown"
	case f.AtLeast:
		return "at least " + t.amount(f.Value)
	default:
		return t.amount(f.Value)
	}
}

// figure formats the value with its interval, in the display unit.
func (t Threshold) figure(f Figure) string {
	text := t.Brief(f)
	f = t.Shown(f)
	switch {
	case f.Open:
		return fmt.Sprintf("%s (%s or more)", text, printable.Figure(f.Low))
	case f.Low != f.High:
		return fmt.Sprintf("%s (%s to %s)", text, printable.Figure(f.Low), printable.Figure(f.High))
	default:
		return text
	}
}

// count formats a number of requests with two significant digits, rounded up.
func count(n int64) string {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return printable.Number((n + unit - 1) / unit * unit)
}

func requests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return printable.Number(n) + " requests"
}
