package threshold

import "math"

// Verdict says how a figure stands to its bound.
type Verdict string

// The verdicts.
const (
	Met          Verdict = "met"
	Missed       Verdict = "missed"
	CouldNotTell Verdict = "could-not-tell"
)

// Result is what became of a threshold.
type Result struct {
	Threshold  Threshold
	Figure     Figure
	Verdict    Verdict
	PointMeets bool   // the figure's value, its interval aside, meets the bound
	Need       int64  // about how many requests would settle it; 0: it is settled, or nobody knows
	Sentence   string // for people; it does not repeat the threshold
}

// Hold holds the figure against the bound.
func (t Threshold) Hold(f Figure) Result {
	r := Result{Threshold: t, Figure: f, Verdict: CouldNotTell}
	if f.Known {
		r.Verdict, r.PointMeets = t.verdict(f), t.meets(f.Value)
		if r.Verdict == CouldNotTell {
			r.Need = t.need(f)
		}
	}
	r.Sentence = r.sentence()
	return r
}

// verdict is that on a figure that is known.
func (t Threshold) verdict(f Figure) Verdict {
	met, missed := false, false
	switch t.Op {
	case Less, AtMost:
		met = !f.Open && t.meets(f.High)
		missed = !t.meets(f.Low)
	case More, AtLeast: // of a sustained rate, whose upper bound is one that did not hold
		met = t.meets(f.Low)
		missed = !f.Open && f.High <= t.Bound
	case Equal: // of the run itself: there was one, or there was none
		met = t.meets(f.Value)
		missed = !met
	}
	switch {
	case missed:
		return Missed
	case met:
		return Met
	default:
		return CouldNotTell
	}
}

// meets compares a single value with the bound.
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

// need is about how many requests would settle the bound if the figure stayed as
// it is: intervals narrow with the square root of their number. A sample without
// any hit has an upper bound that follows from its size alone.
func (t Threshold) need(f Figure) int64 {
	n := float64(f.Samples)
	distance := math.Abs(f.Value - t.Bound)
	if n == 0 || distance == 0 || t.Metric == Regression { // a regression's is the baseline's too
		return 0
	}
	// clean tells so large a share of hits from all of them.
	const confidence = 0.975 // at one end of an interval
	clean := func(share float64) float64 { return max(f.Design, 1) * math.Log(1-confidence) / math.Log(share) / n }
	var factor float64
	switch {
	case f.Open: // the quantile needs so many to have an upper bound at all
		factor = clean(t.P)
	case f.Value == 0 && (t.Metric == Errors || t.Metric == Limited):
		factor = clean(1 - t.Bound)
	case t.meets(f.Value):
		factor = math.Pow((f.High-f.Value)/distance, 2)
	default:
		factor = math.Pow((f.Value-f.Low)/distance, 2)
	}
	const least, most = 1.2, 1e6 // a little more at least; who needs a million times more has no use for the figure
	if math.IsNaN(factor) || factor > most {
		return 0
	}
	return int64(math.Ceil(n * max(factor, least)))
}
