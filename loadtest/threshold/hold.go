package threshold

import "math"

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
	PointMeets bool   // whether the value alone, without its interval, meets the bound
	Need       int64  // about how many requests would decide it; 0: decided or unknown
	Sentence   string // the reason in words, without the threshold
}

// Hold compares the figure with the bound.
func (t Threshold) Hold(f Figure) Result {
	r := Result{Threshold: t, Figure: f, Verdict: Inconclusive}
	if f.Known {
		r.Verdict, r.PointMeets = t.verdict(f), !f.AtLeast && t.meets(f.Value)
		if r.Verdict == Inconclusive {
			r.Need = t.need(f)
		}
	}
	r.Sentence = r.sentence()
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

// need estimates how many requests would decide the bound if the figure stayed
// the same. Intervals narrow with the square root of the sample size; that of a change
// narrows so only if both runs, or both targets, get as many requests. A sample
// without hits has an upper bound that depends on its size alone.
func (t Threshold) need(f Figure) int64 {
	n := float64(f.Samples)
	distance := math.Abs(f.Value - t.Bound)
	if n == 0 || distance == 0 || f.Late || f.AtLeast {
		return 0
	}
	// clean returns the sample size that separates this share of hits from 100 %.
	const confidence = 0.975 // of one side of an interval
	clean := func(share float64) float64 { return math.Log(1-confidence) / math.Log(share) / n }
	var factor float64
	switch {
	case f.Open: // the minimum for the quantile to have an upper bound
		factor = clean(t.P)
	case f.Value == 0 && (t.Metric == Errors || t.Metric == Limited):
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
