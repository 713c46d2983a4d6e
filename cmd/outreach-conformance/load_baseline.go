package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"outreach.example/conformance/loadtest/threshold"
)

// compared are the thresholds, those of the profile too, whose baselines are to be
// read. What cannot be read of thresholds and profile is told where they are used.
func (f loadFlags) compared() []threshold.Threshold {
	texts := f.thresholds
	if profile, err := f.profile(); err == nil && profile.Load != nil {
		texts = slices.Concat(profile.Load.Thresholds, texts)
	}
	thresholds, _ := parseThresholds(texts)
	return thresholds
}

// replaces refuses to write results over the baseline that they are compared with:
// the next run would be compared with this one, however bad it was.
func (f loadFlags) replaces(thresholds []threshold.Threshold) error {
	results := filepath.Join(f.output, loadFile)
	before, err := os.Stat(results)
	if err != nil {
		return nil // there is nothing to lose
	}
	files := []string{f.baseline}
	for _, t := range thresholds {
		files = append(files, t.Baseline)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && os.SameFile(before, info) {
			return fmt.Errorf("baseline %s: this run would overwrite it (copy it, or choose another --output)", file)
		}
	}
	return nil
}
