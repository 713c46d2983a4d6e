package threshold

import "outreach.example/conformance/loadtest/measure"

// Figure is a measured value with its interval, in the unit of a threshold's
// Bound. The zero value means "not measured".
type Figure struct {
	Value, Low, High float64
	Open             bool    // no upper bound: High is only the highest value seen
	Samples          int64   // requests behind it; 0: not derived from samples
	Design           float64 // design effect: samples per independent sample; 0 means 1
	Besides          int64   // requests that were not accepted and are excluded
	Known            bool    // whether it was measured
}

// Of returns the figure that t bounds, as measured in the phase. It is unknown
// if the phase has no request that t applies to.
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
