package verdict

import (
	"fmt"
	"os"
	"path/filepath"

	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// Baseline is the earlier run that a threshold such as worse<5% compares with.
type Baseline struct {
	Name string // of its file, for messages
	load.Results
}

// scenario returns the baseline's result of a scenario. If its figures cannot be compared,
// unfit gives the reason and a hint.
func (b *Baseline) scenario(name string) (found load.Scenario, unfit string) {
	if b == nil {
		return found, "no baseline to compare with: name one, as in worse<10% vs baseline.json"
	}
	for _, s := range b.Scenarios {
		if s.Name != name {
			continue
		}
		if why := b.unfit(s); why != "" {
			unfit = fmt.Sprintf("%s cannot be the baseline: %s; use a complete, conclusive run", b.Name, why)
		}
		return s, unfit
	}
	return found, fmt.Sprintf("%s has no comparable results for scenario %s", b.Name, name)
}

// unfit returns why the scenario cannot be a baseline; empty if it can.
func (b *Baseline) unfit(s load.Scenario) string {
	switch {
	case b.Run.Interrupted:
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

// otherwise returns the reason for not comparing a figure: the earlier run had
// other settings, which how describes.
func (b *Baseline) otherwise(how string) string {
	said := fmt.Sprintf("%s is not comparable: %s; run both with the same settings", b.Name, how)
	if b.Run.Selection != "" {
		said += " (the baseline's: " + b.Run.Selection + ")"
	}
	return said
}

// ReadBaselines reads every file that a threshold names, and the run's own
// baseline under the empty name, if it has one. Each may be the output directory of a
// load run.
func ReadBaselines(own string, thresholds []measure.Threshold) (map[string]*Baseline, error) {
	baselines := map[string]*Baseline{}
	add := func(name, file string) error {
		if file == "" || baselines[name] != nil {
			return nil
		}
		results, err := load.Read(fileOf(file))
		if err != nil {
			return fmt.Errorf("baseline: %w", err)
		}
		baselines[name] = &Baseline{Name: file, Results: results}
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
func CheckOverwrite(results, own string, thresholds []measure.Threshold) error {
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
