package threshold

import "outreach.example/conformance/loadtest/measure"

// Figure is what was measured, with its interval, in the unit of a threshold's
// Bound. The zero value was not measured.
type Figure struct {
	Value, Low, High float64
	Open             bool    // there is no upper bound: High is no more than what was seen
	Samples          int64   // requests that it comes from; 0: it does not come from samples
	Design           float64 // how many of them are worth one independent one; 0 is 1
	Besides          int64   // requests that ended otherwise and are not in the figure
	Known            bool    // it was measured
}

// Of returns the figure that t bounds, as the phase measured it. It is not known
// if nothing was measured that t is for.
func (t Threshold) Of(rec measure.Recording) Figure {
	switch t.Metric {
	case Quantile, Max:
		return t.latency(rec)
	case Errors:
		return t.share(rec, measure.Failed)
	case Limited:
		return t.share(rec, measure.Limited)
	default:
		return Figure{}
	}
}

func (t Threshold) latency(rec measure.Recording) Figure {
	h, sent := rec.Response[measure.Accepted], rec.Sent
	if t.Label != "" {
		l := rec.Label(t.Label)
		h, sent = l.Response, 0
		for _, n := range l.Count {
			sent += n
		}
	}
	if h.Count() == 0 {
		return Figure{Besides: sent}
	}
	f := Figure{Samples: h.Count(), Besides: sent - h.Count(), Known: true}
	if t.Metric == Max {
		f.Value = h.Max().Seconds()
		f.Low, f.High = f.Value, f.Value
		return f
	}
	e := h.Quantile(t.P)
	f.Value, f.Low, f.High = e.Value.Seconds(), e.Low.Seconds(), e.High.Seconds()
	f.Open, f.Design = e.Open, e.Design
	return f
}

func (t Threshold) share(rec measure.Recording, class measure.Class) Figure {
	s := rec.Share(class)
	if t.Label != "" {
		s = rec.LabelShare(t.Label, class)
	}
	if s.Of == 0 {
		return Figure{}
	}
	return Figure{Value: s.Value, Low: s.Low, High: s.High, Samples: s.Of, Design: s.Design, Known: true}
}

// Shown returns the figure in t.Unit.
func (t Threshold) Shown(f Figure) Figure {
	by := t.scale().by
	f.Value, f.Low, f.High = f.Value*by, f.Low*by, f.High*by
	return f
}
