package verdict

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// Baseline extracts from an earlier run's results the figures that later
// runs are compared with. file is the name for messages.
func Baseline(file string, r load.Results) *threshold.Baseline {
	b := &threshold.Baseline{Name: file, Selection: r.Run.Selection, Scenarios: map[string]threshold.Earlier{}}
	for _, s := range r.Scenarios {
		e := earlier(s)
		e.Unfit = unfit(r, s)
		b.Scenarios[s.Name] = e
	}
	return b
}

// earlier returns the figures of a scenario's result.
func earlier(s load.Scenario) threshold.Earlier {
	var own []threshold.Threshold
	for _, t := range s.Thresholds {
		if parsed, err := threshold.Parse(t.Text); err == nil {
			own = append(own, parsed)
		}
	}
	e := threshold.Earlier{Search: s.Sustained != nil, Bounds: bounds(own)}
	for _, p := range s.Phases {
		accepted, failed := p.Response.Accepted, p.Response.Failed
		if p.Warmup || accepted == nil {
			continue
		}
		phase := threshold.EarlierPhase{Name: p.Name, Plan: planOf(p, s.Walks), Latencies: map[float64]threshold.Figure{}}
		for _, q := range accepted.Quantiles {
			if failed != nil && failed.MaxMS > accepted.MaxMS {
				break // of an earlier release, whose percentiles leave out failed requests
			}
			phase.Latencies[q.P] = threshold.Figure{
				Value: q.ValueMS / 1000, Low: q.LowMS / 1000, High: q.HighMS / 1000, Open: q.Open, Known: true}
		}
		e.Phases = append(e.Phases, phase)
	}
	if f := s.Sustained; f != nil && f.Confirmed {
		e.Sustained = threshold.Figure{Value: f.RatePerSecond, Low: f.LowPerSecond, High: max(f.HighPerSecond, f.RatePerSecond), Known: true}
	}
	return e
}

// unfit returns why the scenario cannot be a baseline; empty if it can.
func unfit(r load.Results, s load.Scenario) string {
	switch {
	case r.Run.Interrupted:
		return "its run was interrupted"
	case s.Verdict == reports.Inconclusive && len(s.Reasons) > 0:
		const most = 80 // characters, because a reason may quote another baseline's
		reason := []rune(s.Reasons[0])
		if len(reason) > most {
			reason = append(reason[:most], '…')
		}
		return fmt.Sprintf("%s is inconclusive (%s)", s.Name, string(reason))
	case s.Verdict == reports.Inconclusive:
		return s.Name + " is inconclusive"
	default:
		return ""
	}
}

// ReadBaselines reads every file that a threshold names, and the run's own
// baseline under the empty name, if it has one. Each may be the output directory of a
// load run.
func ReadBaselines(own string, thresholds []threshold.Threshold) (map[string]*threshold.Baseline, error) {
	baselines := map[string]*threshold.Baseline{}
	add := func(name, file string) error {
		if file == "" || baselines[name] != nil {
			return nil
		}
		results, err := load.Read(fileOf(file))
		if err != nil {
			return fmt.Errorf("baseline: %w", err)
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

// fileOf returns the results in the output directory of a load run, and a file as it is.
func fileOf(baseline string) string {
	if info, err := os.Stat(baseline); err == nil && info.IsDir() {
		return filepath.Join(baseline, load.FileName)
	}
	return baseline
}

// CheckOverwrite returns an error if the results file is one of the baselines that the
// run is compared with. The next run would be compared with this one, however bad it
// was.
func CheckOverwrite(results, own string, thresholds []threshold.Threshold) error {
	before, err := os.Stat(results)
	if err != nil {
		return nil // there is nothing to lose
	}
	files := []string{own}
	for _, t := range thresholds {
		files = append(files, t.Baseline)
	}
	for _, file := range files {
		if info, err := os.Stat(fileOf(file)); err == nil && os.SameFile(before, info) {
			return fmt.Errorf("baseline %s: this run would overwrite it (copy it, or choose another --output)", file)
		}
	}
	return nil
}

// planOf returns the plan of a phase. walks is nil unless the scenario walks
// lists.
func planOf(p load.Phase, walks *load.Walks) threshold.Plan {
	plan := threshold.Plan{Rate: p.RatePerSecond, Requests: map[string]int64{}}
	if walks != nil {
		plan.Clients = walks.Clients
	}
	if !p.ClosedLoop && p.Seconds > 0 {
		plan.Mean = float64(p.Planned) / p.Seconds
		for _, s := range p.Series {
			plan.Peak = max(plan.Peak, s.Asked/max(1, p.IntervalSeconds))
		}
	}
	for _, l := range p.Labels {
		plan.Requests[scenario.WithoutPage(l.Name)] += l.Accepted + l.Limited + l.Failed
	}
	return plan
}

// bounds returns the sorted thresholds that a search has to meet.
func bounds(all []threshold.Threshold) []string {
	var bounds []string
	for _, t := range all {
		if t.OfPhases() {
			bounds = append(bounds, t.Text)
		}
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
}
