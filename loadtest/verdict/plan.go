package verdict

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports/load"
)

// plan is the load of a phase. Two runs are comparable only if their plans are
// the same.
type plan struct {
	rate     float64            // requests per second; 0 for several rates or a closed loop
	mean     float64            // requests per second over the whole phase; 0 in a closed loop
	peak     float64            // most requests due per second of an interval; 0 in a closed loop
	clients  int                // of a closed loop
	requests map[string]float64 // by label
	all      float64            // requests
}

// planOf returns the plan of a phase of the scenario.
func planOf(p load.Phase, s load.Scenario) plan {
	of := plan{rate: p.RatePerSecond, requests: map[string]float64{}}
	if s.Walks != nil {
		of.clients = s.Walks.Clients
	}
	if !p.ClosedLoop && p.Seconds > 0 {
		of.mean = float64(p.Planned) / p.Seconds
		for _, s := range p.Series {
			of.peak = max(of.peak, float64(s.Asked)/float64(max(1, p.IntervalSeconds)))
		}
	}
	for _, l := range p.Labels {
		n := float64(l.Accepted + l.Limited + l.Failed)
		of.requests[scenario.WithoutPage(l.Name)] += n
		of.all += n
	}
	return of
}

// Tolerances: a phase may end in the middle of a round of the mix, and a second
// may begin in the middle of a burst.
const (
	sameRate = 0.02
	sameMix  = 0.05 // share of requests that differ
	leastOf  = 10   // requests with a label; fewer may be chance
)

// differs describes how the earlier phase's plan differs from p. It is empty if
// they are the same.
func (p plan) differs(earlier plan) string {
	switch {
	case (p.mean == 0) != (earlier.mean == 0):
		return "only one of the two is a closed loop"
	case p.clients != earlier.clients:
		return fmt.Sprintf("%d clients then, %d now", earlier.clients, p.clients)
	case p.rate != earlier.rate:
		return fmt.Sprintf("%s then, %s now", rateOf(earlier.rate), rateOf(p.rate))
	case p.rate == 0 && !alike(p.mean, earlier.mean):
		return fmt.Sprintf("%s/s on average then, %s/s now", printable.Figure(earlier.mean), printable.Figure(p.mean))
	case p.rate == 0 && !alike(p.peak, earlier.peak):
		return fmt.Sprintf("up to %.0f/s then, up to %.0f/s now", earlier.peak, p.peak)
	}
	return p.asksElse(earlier)
}

func rateOf(rate float64) string {
	if rate == 0 {
		return "several rates"
	}
	return printable.Figure(rate) + "/s"
}

func alike(a, b float64) bool { return math.Abs(a-b) <= sameRate*max(a, b) }

// asksElse describes a label that only one of the plans has, or a different
// mix.
func (p plan) asksElse(earlier plan) string {
	if p.all == 0 || earlier.all == 0 {
		return ""
	}
	labels := maps.Clone(p.requests)
	maps.Copy(labels, earlier.requests)
	others := 0.0
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		now, before := p.requests[label], earlier.requests[label]
		switch {
		case before >= leastOf && now == 0:
			return label + " was requested then, not now"
		case now >= leastOf && before == 0:
			return label + " is requested now, but was not then"
		}
		others += math.Abs(now/p.all-before/earlier.all) / 2
	}
	if p.mean > 0 && others > sameMix+1/math.Sqrt(min(p.all, earlier.all)) {
		return fmt.Sprintf("the mix differs in %.0f %% of the requests", 100*others)
	}
	return ""
}
