package view

import (
	"fmt"
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// point is a stretch of a phase as the charts show it: the mean of its rates per second,
// and the maximum of its latencies.
type point struct {
	from, seconds                          float64
	asked, sent, accepted, limited, failed float64
	response, service                      *load.Brief
}

func (p point) middle() float64   { return p.from + p.seconds/2 }
func (p point) answered() float64 { return p.accepted + p.limited + p.failed }

// when names the stretch.
func (p point) when() string {
	if p.seconds <= 1 {
		return "in second " + printable.Number(int64(p.from))
	}
	return fmt.Sprintf("in seconds %s to %s", printable.Number(int64(p.from)), printable.Number(int64(p.from+p.seconds)))
}

// wholeIntervals returns the intervals of a phase, without a last one that is cut short and in
// which no request was due: a chart would show it as a drop.
func wholeIntervals(p load.Phase) []load.Interval {
	n := len(p.Series) - 1
	if n < 1 || p.Series[n].Asked > 0 || float64(p.Series[n].T+p.IntervalSeconds) <= p.Seconds {
		return p.Series
	}
	return p.Series[:n]
}

// thinned returns the points of a phase. It joins adjacent intervals of a long series. The
// rates of a last interval that is cut short count for the time that it lasted.
func thinned(p load.Phase) []point {
	each := float64(p.IntervalSeconds)
	series := wholeIntervals(p)
	var few []point
	for group := range slices.Chunk(series, max(1, (len(series)+maxPoints-1)/maxPoints)) {
		joined := point{from: float64(group[0].T), seconds: each * float64(len(group))}
		if lasted := p.Seconds - joined.from; lasted > 0.1*each && lasted < joined.seconds {
			joined.seconds = lasted
		}
		for _, s := range group {
			joined.asked += float64(s.Asked) / joined.seconds
			joined.sent += float64(s.Sent) / joined.seconds
			joined.accepted += float64(s.Accepted) / joined.seconds
			joined.limited += float64(s.Limited) / joined.seconds
			joined.failed += float64(s.Failed) / joined.seconds
			joined.response, joined.service = worse(joined.response, s.Response), worse(joined.service, s.Service)
		}
		few = append(few, joined)
	}
	return few
}

func worse(a, b *load.Brief) *load.Brief {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &load.Brief{P50MS: max(a.P50MS, b.P50MS), P90MS: max(a.P90MS, b.P90MS), P99MS: max(a.P99MS, b.P99MS), MaxMS: max(a.MaxMS, b.MaxMS), Open: a.Open || b.Open, MedianOpen: a.MedianOpen || b.MedianOpen}
}
