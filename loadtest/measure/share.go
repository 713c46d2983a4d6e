package measure

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Share is how large a part of the requests ended in some way, and what the
// sample says about it.
type Share struct {
	Count      int64   // requests that did
	Of         int64   // requests sent; 0: there is no value
	Value      float64 // Count ÷ Of
	Low, High  float64 // the interval that holds the server's true share, given Confidence
	Confidence float64
	Design     float64 // as in Estimate
}

// Share estimates how large a part of the requests ended in one of the classes.
// The interval is Clopper and Pearson's, which never holds less than it claims;
// samples are worth fewer where the share differs from second to second by more
// than chance.
func (r Recording) Share(of ...Class) Share {
	all := map[Class]int64{}
	for _, c := range classes {
		all[c] = r.Count(c)
	}
	return r.share(all, of)
}

// LabelShare is Share among the requests that Label finds, which are taken to be
// correlated as all requests are.
func (r Recording) LabelShare(label string, of ...Class) Share {
	return r.share(r.Label(label).Count, of)
}

func (r Recording) share(ended map[Class]int64, of []Class) Share {
	var count, n int64
	for class, ends := range ended {
		n += ends
		if slices.Contains(of, class) {
			count += ends
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
