package threshold

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Plan is what a phase asked. Latencies of two runs say something of each other
// only if it is the same.
type Plan struct {
	Rate     float64          // requests per second; 0: several rates, or a closed loop
	Mean     float64          // requests per second over the whole phase; 0 in a closed loop
	Peak     int64            // most requests that were due in a second; 0 in a closed loop
	Clients  int              // of a closed loop
	Requests map[string]int64 // by label
}

// Two runs that ask the same differ a little: a phase may end amid a round of the
// mix, and a second begin amid a burst.
const (
	sameRate = 0.02
	sameMix  = 0.05 // of all requests that are others
	leastOf  = 10   // requests with a label are no chance
)

// Differs says how the plan of the earlier phase differs from p, for people;
// empty if it is the same.
func (p Plan) Differs(earlier Plan) string {
	switch {
	case (p.Mean == 0) != (earlier.Mean == 0):
		return "one of the two was a closed loop"
	case p.Clients != earlier.Clients:
		return fmt.Sprintf("%d clients there, %d here", earlier.Clients, p.Clients)
	case p.Rate != earlier.Rate:
		return fmt.Sprintf("%s there, %s here", rateOf(earlier.Rate), rateOf(p.Rate))
	case p.Rate == 0 && !alike(p.Mean, earlier.Mean):
		return fmt.Sprintf("%s/s on average there, %s/s here", digits(earlier.Mean), digits(p.Mean))
	case p.Rate == 0 && !alike(float64(p.Peak), float64(earlier.Peak)):
		return fmt.Sprintf("up to %d/s there, up to %d/s here", earlier.Peak, p.Peak)
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

// asksElse says which requests one plan has and the other has not, or not as many of.
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
			return label + " was asked there, and not here"
		case now >= leastOf && before == 0:
			return label + " was not asked there, and is here"
		}
		others += math.Abs(now/here-before/there) / 2
	}
	if p.Mean > 0 && others > sameMix+1/math.Sqrt(min(here, there)) {
		return fmt.Sprintf("another mix there: %.0f %% of the requests are others", 100*others)
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
