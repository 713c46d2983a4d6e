package threshold

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Plan is the load of a phase. Two runs are comparable only if their plans are
// the same.
type Plan struct {
	Rate     float64          // requests per second; 0 for several rates or a closed loop
	Mean     float64          // requests per second over the whole phase; 0 in a closed loop
	Peak     int64            // most requests due in one second; 0 in a closed loop
	Clients  int              // of a closed loop
	Requests map[string]int64 // by label
}

// Tolerances: a phase may end in the middle of a round of the mix, and a second
// may begin in the middle of a burst.
const (
	sameRate = 0.02
	sameMix  = 0.05 // share of requests that differ
	leastOf  = 10   // requests with a label; fewer may be chance
)

// Differs describes how the earlier phase's plan differs from p. It is empty if
// they are the same.
func (p Plan) Differs(earlier Plan) string {
	switch {
	case (p.Mean == 0) != (earlier.Mean == 0):
		return "only one of the two is a closed loop"
	case p.Clients != earlier.Clients:
		return fmt.Sprintf("%d clients then, %d now", earlier.Clients, p.Clients)
	case p.Rate != earlier.Rate:
		return fmt.Sprintf("%s then, %s now", rateOf(earlier.Rate), rateOf(p.Rate))
	case p.Rate == 0 && !alike(p.Mean, earlier.Mean):
		return fmt.Sprintf("%s/s on average then, %s/s now", digits(earlier.Mean), digits(p.Mean))
	case p.Rate == 0 && !alike(float64(p.Peak), float64(earlier.Peak)):
		return fmt.Sprintf("up to %d/s then, up to %d/s now", earlier.Peak, p.Peak)
	}
	return p.asksElse(earlier)
}

func rateOf(rate float64) string {
	if rate == 0 {
		return "several rates"
	}
	return digits(rate) + "/s"
}

func alike(a, b float64) bool { return math.Abs(a-b) <= sameRate*max(a, b) }

// asksElse describes a label that only one of the plans has, or a different
// mix.
func (p Plan) asksElse(earlier Plan) string {
	here, there := total(p.Requests), total(earlier.Requests)
	if here == 0 || there == 0 {
		return ""
	}
	all := maps.Clone(p.Requests)
	maps.Copy(all, earlier.Requests)
	others := 0.0
	for _, label := range slices.Sorted(maps.Keys(all)) {
		now, before := float64(p.Requests[label]), float64(earlier.Requests[label])
		switch {
		case before >= leastOf && now == 0:
			return label + " was requested then, not now"
		case now >= leastOf && before == 0:
			return label + " is requested now, but was not then"
		}
		others += math.Abs(now/here-before/there) / 2
	}
	if p.Mean > 0 && others > sameMix+1/math.Sqrt(min(here, there)) {
		return fmt.Sprintf("the mix differs in %.0f %% of the requests", 100*others)
	}
	return ""
}

func total(requests map[string]int64) float64 {
	var n int64
	for _, count := range requests {
		n += count
	}
	return float64(n)
}
