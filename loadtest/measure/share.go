package measure

import (
	"time"

	"gonum.org/v1/gonum/mathext"
)

// Share is the share of requests beyond a bound, with its interval.
type Share struct {
	Count, Of int64 // requests beyond the bound, and all; no value if Of is 0
	Value     float64
	// The interval of the server's true share, at Confidence. The sample counts for less
	// if the share varies from second to second by more than chance.
	Low, High float64
	Design    float64                     // as in Estimate
	Alone     struct{ Low, High float64 } // the interval if the requests did not depend on each other

	// The generator's lag may have put requests beyond a bound on their response time.
	Sure     int64         // of Count, at least how many would be beyond it without the lag
	Least    float64       // Alone.Low for those alone
	Perhaps  int64         // failed requests that might have taken longer than the bound; High includes them
	Excluded int64         // requests that got 429 or failed sooner
	From, To time.Duration // when those beyond were due; both 0 if it is the whole phase
}

// Share estimates the share of requests that ended in the class, of all requests or of
// those that Label finds.
func (r Recording) Share(label string, class Class) Share {
	return r.share(label, func(l Label) (b block) {
		for _, h := range l {
			b.n += h.Count()
		}
		b.hits = l.Count(class)
		return b
	})
}

// slower estimates the share of requests that took longer than the bound, for a bound on
// the p-quantile of the accepted requests. A failed request counts as in the quantile. If
// it took no longer than the bound, it might have.
func (r Recording) slower(bound time.Duration, p float64, label string) Share {
	h := r.Label(label)[Accepted]
	over := h.over(h.value(p))
	slow := func(l Label) block {
		failed := l[Failed]
		return block{l.Count(Accepted) + failed.above(over), l[Accepted].above(bound) + failed.above(max(bound, over))}
	}
	s := r.share(label, slow)
	for _, h := range r.Label(label) {
		s.Excluded += h.Count()
	}
	s.Excluded -= s.Of
	s.Sure = min(s.Count, r.withoutLag(bound, over, label))
	s.Least, _ = clopperPearson(s.Sure, s.Of, 1)
	failed := r.Label(label)[Failed]
	if s.Perhaps = failed.above(over) - failed.above(max(bound, over)); s.Perhaps > 0 {
		_, s.High = clopperPearson(s.Count+s.Perhaps, s.Of, s.Design)
		s.Alone.High = s.High
	}
	return s
}

// withoutLag returns how many requests at least would have taken longer than the bound
// without the generator's lag.
//
// A generator that sends late also reads late. So a service time is too long by a lag, too,
// though not by the lag of the same request. If all lags but a few are at most x, then all
// service times but as many are too long by at most x, whatever one has to do with the
// other. Each x gives a number of requests that are too slow; the largest of some counts.
// Requests that are not late count as sent in time.
func (r Recording) withoutLag(bound, over time.Duration, label string) (most int64) {
	times, took := time.Duration(1), Label(r.Service)
	if label != "" { // service times are not kept by label
		times, took = 2, r.Label(label)
	}
	limit := r.lagLimit()
	for x := time.Duration(0); ; x = max(limit, x+x/16) {
		few := r.Lag.above(max(x, limit))
		slow := bound + times*x
		most = max(most, took[Accepted].above(slow)+took[Failed].above(max(slow, over))-few)
		if few == 0 {
			return most
		}
	}
}

// share estimates the share of hits, which count counts.
func (r Recording) share(label string, count func(Label) block) Share {
	whole := count(r.Label(label))
	var blocks []block
	from, to := time.Duration(-1), time.Duration(0)
	for _, s := range r.Series {
		b := count(s.Response)
		if b.n > 0 {
			blocks = append(blocks, b)
		}
		if b.hits > 0 {
			if to = s.Begins() + r.Width; from < 0 {
				from = s.Begins()
			}
		}
	}
	s := shareOf(whole, designEffect(blocks, whole.n))
	if to = min(to, max(r.Duration(), from)); from > 0 || to < r.Duration() {
		s.From, s.To = max(from, 0), to
	}
	return s
}

// shareOf returns the share of hits with Clopper and Pearson's interval, which never covers
// less than it claims.
func shareOf(b block, design float64) Share {
	s := Share{Count: b.hits, Of: b.n, Design: design, Sure: b.hits}
	s.Low, s.High = clopperPearson(b.hits, b.n, design)
	s.Alone.Low, s.Alone.High = clopperPearson(b.hits, b.n, 1)
	s.Least = s.Alone.Low
	if b.n > 0 {
		s.Value = float64(b.hits) / float64(b.n)
	}
	return s
}

// clopperPearson returns the interval of a share.
func clopperPearson(count, of int64, design float64) (low, high float64) {
	hits, n := float64(count)/design, float64(of)/design
	high = 1
	if count > 0 {
		low = mathext.InvRegIncBeta(hits, n-hits+1, alpha/2)
	}
	if count < of {
		high = mathext.InvRegIncBeta(hits+1, n-hits, 1-alpha/2)
	}
	return low, high
}
