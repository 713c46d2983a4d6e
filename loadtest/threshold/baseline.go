package threshold

import "fmt"

// Baseline is what a Regression compares with: the figures of an earlier run.
type Baseline struct {
	Name      string             // of the file, for people
	Selection string             // what that run was to do, as flags
	Scenarios map[string]Earlier // by name
}

// Earlier is what a baseline holds of one scenario.
type Earlier struct {
	Unfit     string // why its figures are no measure for others; empty if they are
	Phases    map[string]EarlierPhase
	Sustained Figure // in requests per second, of a search
	Bounds    []string
	Searched  Plan // of the phase that confirmed it
}

// EarlierPhase is what was asked in a phase, and how long it took.
type EarlierPhase struct {
	Plan      Plan
	Latencies map[float64]Figure // by quantile: 0.99 is p99
}

// Of returns what the baseline holds of the scenario, or says why that is no
// measure for it, and what to do.
func (b *Baseline) Of(scenario string) (found Earlier, unfit string) {
	if b == nil {
		return Earlier{}, "there is no baseline to compare with: name one, as in regression<10% vs baseline.json"
	}
	found, there := b.Scenarios[scenario]
	switch {
	case !there:
		unfit = fmt.Sprintf("%s holds nothing of the scenario %s that could be compared", b.Name, scenario)
	case found.Unfit != "":
		unfit = fmt.Sprintf("%s is no measure: %s; take a run that came to its end and is not VOID", b.Name, found.Unfit)
	}
	return found, unfit
}

// Otherwise says that a figure is not compared, since the earlier run did it
// otherwise, and what to do.
func (b *Baseline) Otherwise(how string) string {
	said := fmt.Sprintf("%s is no measure: %s; run both with the same settings", b.Name, how)
	if b.Selection != "" {
		said += ", which were " + b.Selection + " there"
	}
	return said
}

// Against returns how much worse the figure is than the baseline's, as a share:
// 0.1 is a tenth worse. higher says that higher is worse, as it is for latencies.
// The interval spans all that the intervals of both allow. It is not known if
// either figure is not, or if the baseline's is 0.
func Against(now, before Figure, higher bool) Figure {
	if !now.Known || !before.Known || now.Value < 0 || before.Value <= 0 {
		return Figure{}
	}
	if higher {
		return rise(now, before)
	}
	return loss(now, before)
}

// nothing is a change that bounds nothing below: all is better by all there is.
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

// loss is the share of a rate that is gone. It has an upper bound always: all.
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
