package view

import (
	"fmt"
	"math"

	"outreach.example/conformance/reports/load"
)

// stretch is a part of a spike: what was asked for and served in it. Latencies are those
// of its worst second.
type stretch struct {
	Name                          string
	From, Until                   float64 // in seconds
	Asked, Served                 float64 // per second
	Limited, Failed               int64
	Worst                         *load.Brief // nil without response times
	askedAll, servedAll, duration float64
}

// stretchesOf returns what came before, during and after the burst of a spike. It returns
// nil if the phase is no spike.
func stretchesOf(p load.Phase) []stretch {
	if p.ClosedLoop || p.RatePerSecond != 0 || p.IntervalSeconds == 0 {
		return nil
	}
	series := wholeIntervals(p)
	least, most := int64(math.MaxInt64), int64(0)
	for _, s := range series {
		least, most = min(least, s.Asked), max(most, s.Asked)
	}
	parts := []stretch{{Name: "before"}, {Name: "burst"}, {Name: "after"}}
	at := 0
	for i, s := range series {
		high := s.Asked-least > most-s.Asked
		if i == len(series)-1 && at == 2 {
			high = false // a last interval that is cut short
		}
		if high != (at == 1) && at < 2 {
			at++
		} else if high && at == 2 {
			return nil // a second burst
		}
		parts[at].add(s, p)
	}
	if at < 2 || parts[0].duration == 0 {
		return nil
	}
	for i := range parts {
		parts[i].Asked, parts[i].Served = parts[i].askedAll/parts[i].duration, parts[i].servedAll/parts[i].duration
	}
	return parts
}

func (s *stretch) add(i load.Interval, p load.Phase) {
	if s.duration == 0 {
		s.From = float64(i.T)
	}
	lasts := float64(p.IntervalSeconds)
	if left := p.Seconds - float64(i.T); left > 0 {
		lasts = min(lasts, left)
	}
	s.duration += lasts
	s.Until = s.From + s.duration
	s.askedAll, s.servedAll = s.askedAll+float64(i.Asked), s.servedAll+float64(i.Accepted)
	s.Limited, s.Failed = s.Limited+i.Limited, s.Failed+i.Failed
	s.Worst = worse(s.Worst, i.Response)
}

// spikeInWords returns the p99 of each part.
func spikeInWords(parts []stretch) string {
	said := ""
	for i, part := range parts {
		if i > 0 {
			said += ", "
		}
		if b := part.Worst; b != nil {
			said += fmt.Sprintf("%s %s ms", part.Name, load.AtLeast(b.Open, b.P99MS))
		} else {
			said += part.Name + " no accepted response"
		}
	}
	return "p99 " + said
}
