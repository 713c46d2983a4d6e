package threshold

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"outreach.example/conformance/internal/printable"
)

// Baseline holds the figures of an earlier run that a Worse compares with.
type Baseline struct {
	Name      string             // the file's name, for messages
	Selection string             // the flags of that run
	Scenarios map[string]Earlier // by name
}

// Earlier holds a run's figures of one scenario.
type Earlier struct {
	Unfit     string         // why its figures cannot be compared; empty if they can
	Phases    []EarlierPhase // without warm-ups
	Search    bool           // for the sustained rate
	Sustained Figure         // in requests per second, if one was confirmed
	Bounds    []string       // that a rate had to meet
}

// EarlierPhase holds the plan of a phase and its latencies.
type EarlierPhase struct {
	Name      string
	Plan      Plan
	Latencies map[float64]Figure // by quantile: 0.99 is p99
}

// Of returns the baseline's figures of a scenario. If they cannot be compared,
// unfit gives the reason and a hint.
func (b *Baseline) Of(scenario string) (found Earlier, unfit string) {
	if b == nil {
		return Earlier{}, "no baseline to compare with: name one, as in worse<10% vs baseline.json"
	}
	found, there := b.Scenarios[scenario]
	switch {
	case !there:
		unfit = fmt.Sprintf("%s has no comparable results for scenario %s", b.Name, scenario)
	case found.Unfit != "":
		unfit = fmt.Sprintf("%s cannot be the baseline: %s; use a complete, conclusive run", b.Name, found.Unfit)
	}
	return found, unfit
}

// Otherwise returns the reason for not comparing a figure: the earlier run had
// other settings, which how describes.
func (b *Baseline) Otherwise(how string) string {
	said := fmt.Sprintf("%s is not comparable: %s; run both with the same settings", b.Name, how)
	if b.Selection != "" {
		said += " (the baseline's: " + b.Selection + ")"
	}
	return said
}

// Against returns how much worse a figure is than the baseline's, as a share:
// 0.1 is a tenth worse. higher means that higher is worse, as for latencies.
// The interval covers every combination of the two intervals. The result is
// unknown if either figure is unknown or the baseline's is 0.
func Against(now, before Figure, higher bool) Figure {
	if !now.Known || !before.Known || now.Value < 0 || before.Value <= 0 {
		return Figure{}
	}
	f := now
	f.design = 0
	// The ratio of the two: it is at least 0, and may have no upper end.
	value, low, high := now.Value/before.Value, 0.0, math.Inf(1)
	if !before.Open && before.High > 0 {
		low = now.Low / before.High
	}
	if !now.Open && before.Low > 0 {
		high = now.High / before.Low
	}
	if higher {
		f.Value, f.Low, f.High, f.Open = value-1, low-1, high-1, math.IsInf(high, 1)
		if f.Open {
			f.High = f.Value
		}
		return f
	}
	f.Value, f.Low, f.High, f.Open = 1-value, 1-high, 1-low, false // nothing loses more than all of it
	if math.IsInf(high, 1) {
		f.Low = -1
	}
	return f
}

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
		return fmt.Sprintf("%s/s on average then, %s/s now", printable.Figure(earlier.Mean), printable.Figure(p.Mean))
	case p.Rate == 0 && !alike(float64(p.Peak), float64(earlier.Peak)):
		return fmt.Sprintf("up to %d/s then, up to %d/s now", earlier.Peak, p.Peak)
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
