package loadtest

import (
	"fmt"

	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports/load"
)

// Baseline takes from the results of an earlier run, which the file holds, what
// regressions are compared with.
func Baseline(file string, r load.Results) *threshold.Baseline {
	b := &threshold.Baseline{Name: file, Latencies: map[threshold.Place]threshold.Figure{}, Sustained: map[string]threshold.Figure{}}
	for _, s := range r.Scenarios {
		for _, p := range s.Phases {
			if p.Warmup || p.GeneratorLimited || p.Response.Accepted == nil {
				continue
			}
			for _, q := range p.Response.Accepted.Quantiles {
				b.Latencies[threshold.Place{Scenario: s.Name, Phase: p.Name, P: q.P}] = threshold.Figure{
					Value: q.ValueMS / 1000, Low: q.LowMS / 1000, High: q.HighMS / 1000, Open: q.Open, Known: true}
			}
		}
		if f := s.Sustained; f != nil && f.Confirmed {
			b.Sustained[s.Name] = threshold.Figure{Value: f.RatePerSecond, Low: f.LowPerSecond, High: max(f.HighPerSecond, f.RatePerSecond), Known: true}
		}
	}
	return b
}

// ReadBaselines reads the files that the thresholds compare with: each that a
// threshold names, and under the empty name the run's own, if it has one.
func ReadBaselines(own string, thresholds []threshold.Threshold) (map[string]*threshold.Baseline, error) {
	baselines := map[string]*threshold.Baseline{}
	add := func(name, file string) error {
		if file == "" || baselines[name] != nil {
			return nil
		}
		results, err := load.Read(file)
		if err != nil {
			return fmt.Errorf("the baseline: %w", err)
		}
		baselines[name] = Baseline(file, results)
		return nil
	}
	if err := add("", own); err != nil {
		return nil, err
	}
	for _, t := range thresholds {
		if err := add(t.Baseline, t.Baseline); err != nil {
			return nil, err
		}
	}
	return baselines, nil
}
