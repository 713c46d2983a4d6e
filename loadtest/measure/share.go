package measure

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Share is the share of requests that ended in some way, with its interval.
type Share struct {
	Count      int64   // requests that ended so
	Of         int64   // requests sent; 0: there is no value
	Value      float64 // Count ÷ Of
	Low, High  float64 // the interval of the server's true share, at Confidence
	Confidence float64
	Design     float64 // as in Estimate
}

// Share estimates the share of requests that ended in one of the classes. The
// interval is Clopper and Pearson's, which never covers less than it claims.
// The sample counts for less if the share varies from second to second by more
// than chance.
func (r Recording) Share(of ...Class) Share {
	return r.LabelShare("", of...)
}

// LabelShare is Share for the requests that Label finds. They count as
// correlated like all requests.
func (r Recording) LabelShare(label string, of ...Class) Share {
	var count, n int64
	for class, h := range r.Label(label) {
		n += h.count
		if slices.Contains(of, class) {
			count += h.count
		}
	}
	var blocks []block
	for _, s := range r.Series {
		var b block
		for class, h := range s.Response {
			b.n += h.count
			if slices.Contains(of, class) {
				b.hits += h.count
			}
		}
		if b.n > 0 {
			blocks = append(blocks, b)
		}
	}
	return shareOf(count, n, designEffect(blocks, n))
}

func shareOf(count, of int64, design float64) Share {
	s := Share{Count: count, Of: of, High: 1, Confidence: Confidence, Design: design}
	if of == 0 {
		return s
	}
	s.Value = float64(count) / float64(of)
	hits, n := float64(count)/design, float64(of)/design
	if count > 0 {
		s.Low = distuv.Beta{Alpha: hits, Beta: n - hits + 1}.Quantile(alpha / 2)
	}
	if count < of {
		s.High = distuv.Beta{Alpha: hits + 1, Beta: n - hits}.Quantile(1 - alpha/2)
	}
	return s
}
