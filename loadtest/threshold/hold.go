package threshold

import (
	"fmt"
	"math"

	"outreach.example/conformance/internal/printable"
)

// Verdict is the result of comparing a figure with its bound.
type Verdict string

// The verdicts.
const (
	Met          Verdict = "met"
	Missed       Verdict = "missed"
	Inconclusive Verdict = "inconclusive"
)

// Result is a threshold compared with its figure.
type Result struct {
	Threshold  Threshold
	Figure     Figure
	Verdict    Verdict
	Late       bool   // the generator's lag prevents a decision
	PointMeets bool   // whether the value alone, without its interval, meets the bound
	Need       int64  // about how many requests would decide it; 0: decided or unknown
	Sentence   string // the reason in words, without the threshold
	Brief      string // the figure without its interval; empty if it is unknown
}

// Unknown returns the result without a figure, for the reason.
func (t Threshold) Unknown(why string) Result {
	return Result{Threshold: t, Verdict: Inconclusive, Sentence: why}
}

// Hold compares the figure with the bound.
func (t Threshold) Hold(f Figure) Result {
	if !f.Known {
		return t.Unknown(t.unknown(f))
	}
	r := Result{Threshold: t, Figure: f, Brief: t.Brief(f)}
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
	if f.excluded > 0 {
		r.Sentence += fmt.Sprintf("; excludes %s that got 429 or failed sooner", requests(f.excluded))
	}
	return r
}

// verdict returns the verdict on a known figure.
func (t Threshold) verdict(f Figure) Verdict {
	met, missed := false, false
	switch t.Op {
	case Less, AtMost:
		met = !f.Open && t.meets(f.High)
		missed = !t.meets(f.Low)
	case More, AtLeast: // the upper end of a sustained rate is a rate that did not hold
		met = t.meets(f.Low)
		missed = !f.Open && f.High <= t.Bound
	case Equal: // exact: the run had such requests or it had none
		met = t.meets(f.Value)
		missed = !met
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
func (r *Result) undecided() {
	t, f := r.Threshold, r.Figure
	sampled := f.design > 0 // otherwise it is not a figure of one phase
	bound := t.bound()
	switch {
	case f.AtLeast && t.meets(f.Value):
		r.Sentence += fmt.Sprintf("; too few requests were accepted to tell whether it is %s (a longer --timeout may show it)", bound)
		return
	case sampled && (f.late || !t.meets(f.lagged)):
		r.Late = true
		r.Sentence += fmt.Sprintf("; requests went out late, so the generator's lag leaves open whether it is %s (use an idle machine or a lower rate)", bound)
		return
	case f.Samples == 0:
		r.Sentence += "; the interval does not show whether it is " + bound
		return
	}
	r.Need = t.need(f)
	switch {
	case sampled && t.meets(f.alone):
		r.Sentence += fmt.Sprintf("; not enough data to tell whether it is %s: responses are correlated, so %s count as about %s",
			bound, requests(f.Samples), count(int64(float64(f.Samples)/f.design)))
		if r.Need > 0 {
			r.Sentence += fmt.Sprintf("; run %s times longer", printable.Figure(math.Ceil(float64(r.Need)/float64(f.Samples))))
		}
	case r.Need > 0:
		r.Sentence += fmt.Sprintf("; not enough data to tell from chance whether it is %s: %s, about %s needed", bound, requests(f.Samples), count(r.Need))
	default:
		r.Sentence += fmt.Sprintf("; not enough data to tell from chance whether it is %s: %s", bound, requests(f.Samples))
	}
}

// need estimates how many requests would decide the bound if the figure stayed
// the same. Intervals narrow with the square root of the sample size; that of a change
// narrows so only if both runs, or both targets, get as many requests. A sample
// without hits has an upper bound that depends on its size alone.
func (t Threshold) need(f Figure) int64 {
	n := float64(f.Samples)
	distance := math.Abs(f.Value - t.Bound)
	if distance == 0 {
		return 0
	}
	// clean returns the sample size that separates this share of hits from 100 %.
	const confidence = 0.975 // of one side of an interval
	clean := func(share float64) float64 { return math.Log(1-confidence) / math.Log(share) / n }
	var factor float64
	switch {
	case f.Open: // the minimum for the quantile to have an upper bound
		factor = clean(t.P)
	case f.Value == 0 && kinds[t.Metric].form == aShare:
		factor = clean(1 - t.Bound)
	case t.meets(f.Value):
		factor = math.Pow((f.High-f.Value)/distance, 2)
	default:
		factor = math.Pow((f.Value-f.Low)/distance, 2)
	}
	const least, most = 1.2, 1e6 // a sample a million times larger is no useful advice
	if math.IsNaN(factor) || factor > most {
		return 0
	}
	return int64(math.Ceil(n * max(factor, least)))
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
	case f.excluded > 0:
		return fmt.Sprintf("none of %s was accepted", requests(f.excluded))
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
