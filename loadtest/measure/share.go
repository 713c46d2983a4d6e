package measure

import (
	"slices"
	"time"

	"gonum.org/v1/gonum/mathext"
)

// Share is the share of requests that ended in some way, with its interval.
type Share struct {
	Count, Of int64 // requests that ended so, and all; no value if Of is 0
	Value     float64
	Low, High float64 // the interval of the server's true share, at Confidence
	Design    float64 // as in Estimate

	Alone struct{ Low, High float64 } // as in Estimate
}

// Share estimates the share of requests that ended in one of the classes, of all requests or
// of those that Label finds. The interval is Clopper and Pearson's, which never covers less
// than it claims. The sample counts for less if the share varies from second to second by
// more than chance. Requests with a label count as correlated like all requests.
func (r Recording) Share(label string, of ...Class) Share {
	count := func(classes map[Class]Histogram) (b block) {
		for class, h := range classes {
			b.n += h.count
			if slices.Contains(of, class) {
				b.hits += h.count
			}
		}
		return b
	}
	whole := count(r.Label(label))
	var blocks []block
	for _, s := range r.Series {
		if b := count(s.Response); b.n > 0 {
			blocks = append(blocks, b)
		}
	}
	return shareOf(whole, designEffect(blocks, whole.n))
}

func shareOf(b block, design float64) Share {
	s := Share{Count: b.hits, Of: b.n, High: 1, Design: design}
	s.Alone.High = 1
	if b.n == 0 {
		return s
	}
	s.Value = float64(b.hits) / float64(b.n)
	s.Low, s.High = clopperPearson(float64(b.hits)/design, float64(b.n)/design)
	s.Alone.Low, s.Alone.High = clopperPearson(float64(b.hits), float64(b.n))
	return s
}

// clopperPearson returns the interval of a share.
func clopperPearson(hits, n float64) (low, high float64) {
	high = 1
	if hits > 0 {
		low = mathext.InvRegIncBeta(hits, n-hits+1, alpha/2)
	}
	if hits < n {
		high = mathext.InvRegIncBeta(hits+1, n-hits, 1-alpha/2)
	}
	return low, high
}

// Stretch is the part of a phase in which some requests were due.
type Stretch struct {
	Count    int64         // of those requests
	From, To time.Duration // both 0 if it is the whole phase
}

// Beyond returns how many requests of the classes, with the label, took longer than the bound,
// and when they were due. The time covers all labels, because intervals do not tell them
// apart.
func (r Recording) Beyond(bound time.Duration, label string, of ...Class) Stretch {
	count := func(classes map[Class]Histogram) (n int64) {
		for _, class := range of {
			n += classes[class].Above(bound)
		}
		return n
	}
	s := Stretch{Count: count(r.Label(label)), From: -1}
	for _, interval := range r.Series {
		if count(interval.Response) > 0 {
			s.To = r.Begins(interval) + r.Width
			if s.From < 0 {
				s.From = r.Begins(interval)
			}
		}
	}
	if s.To = min(s.To, max(r.Duration, s.From)); s.From <= 0 && s.To >= r.Duration {
		s.From, s.To = 0, 0
	}
	return s
}
