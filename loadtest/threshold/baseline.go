package threshold

import "fmt"

// Baseline is what a Regression compares with: the figures of an earlier run.
type Baseline struct {
	Name      string // of the file, for people
	Latencies map[Place]Figure
	Sustained map[string]Figure // by scenario, in requests per second
}

// Place names a latency of a run.
type Place struct {
	Scenario, Phase string
	P               float64 // 0.99 is p99
}

// Missing says why there is nothing to compare with.
func (b *Baseline) Missing(scenario string) string {
	if b == nil {
		return "there is no baseline to compare with: name one, as in regression<10% vs baseline.json"
	}
	return fmt.Sprintf("%s holds nothing of the scenario %s that could be compared", b.Name, scenario)
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
