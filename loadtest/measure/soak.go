package measure

import "time"

// Drifts returns the trends of the phase: p50 and p99 of the accepted requests'
// response time, and the shares of failed and limited requests, second by
// second.
func (r Recording) Drifts() []Trend {
	return []Trend{
		Drift(Series{Name: "response p50", Unit: "s", Points: r.quantiles(0.5)}),
		Drift(Series{Name: "response p99", Unit: "s", Points: r.quantiles(0.99)}),
		Drift(Series{Name: "failed", Unit: "share", Points: r.shares(Failed), Tolerance: steadyShare}),
		Drift(Series{Name: "limited", Unit: "share", Points: r.shares(Limited), Tolerance: steadyShare}),
	}
}

// steadyShare is the change of a share over a phase that still counts as
// steady.
const steadyShare = 0.001

func (r Recording) quantiles(p float64) []Point {
	var out []Point
	for _, s := range r.Series {
		if h := s.Response[Accepted]; h.Count() > 0 {
			out = append(out, Point{time.Duration(s.At) * time.Second, h.value(p).Seconds()})
		}
	}
	return out
}

func (r Recording) shares(c Class) []Point {
	var out []Point
	for _, s := range r.Series {
		var n int64
		for _, h := range s.Response {
			n += h.Count()
		}
		if n > 0 {
			out = append(out, Point{time.Duration(s.At) * time.Second, float64(s.Response[c].Count()) / float64(n)})
		}
	}
	return out
}
