package threshold

import "fmt"

// Baseline holds the figures of an earlier run that a Regression compares with.
type Baseline struct {
	Name      string             // the file's name, for messages
	Selection string             // the flags of that run
	Scenarios map[string]Earlier // by name
}

// Earlier holds a baseline's figures of one scenario.
type Earlier struct {
	Unfit     string // why its figures cannot be compared; empty if they can
	Phases    map[string]EarlierPhase
	Sustained Figure // in requests per second, of a search
	Bounds    []string
	Searched  Plan // of the phase that confirmed it
}

// EarlierPhase holds the plan of a phase and its latencies.
type EarlierPhase struct {
	Plan      Plan
	Latencies map[float64]Figure // by quantile: 0.99 is p99
}

// Of returns the baseline's figures of a scenario. If they cannot be compared,
// unfit gives the reason and a hint.
func (b *Baseline) Of(scenario string) (found Earlier, unfit string) {
	if b == nil {
		return Earlier{}, "no baseline to compare with: name one, as in regression<10% vs baseline.json"
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
	if higher {
		return rise(now, before)
	}
	return loss(now, before)
}

// nothing is a change without a lower bound: an improvement by the whole value.
const nothing = -1

func rise(now, before Figure) Figure {
	change := func(n, b float64) float64 { return n/b - 1 }
	f := now
	f.Value, f.Low = change(now.Value, before.Value), nothing
	if !before.Open && before.High > 0 {
		f.Low = change(now.Low, before.High)
	}
	f.Open = now.Open || before.Low <= 0
	f.High = f.Value
	if before.Low > 0 {
		f.High = change(now.High, before.Low)
	}
	return f
}

// loss returns the lost share of a rate. It always has an upper bound, 1.
func loss(now, before Figure) Figure {
	change := func(n, b float64) float64 { return 1 - n/b }
	f := now
	f.Value, f.Low, f.High, f.Open = change(now.Value, before.Value), nothing, 1, false
	if !now.Open && before.Low > 0 {
		f.Low = change(now.High, before.Low)
	}
	if !before.Open && before.High > 0 {
		f.High = change(now.Low, before.High)
	}
	return f
}
