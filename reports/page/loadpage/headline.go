package loadpage

import (
	"fmt"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/page"
)

// headline returns what a scenario found out, in a line; "" if that is nothing.
func headline(s load.Scenario) string {
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if k := s.Sustained; k != nil {
		say("%s sustained", printable.Interval(k.RatePerSecond, k.LowPerSecond, k.HighPerSecond, "/s"))
	} else if best := fastest(s.Phases); best != nil {
		say("%s/s served in the fastest phase, %s", printable.Figure(best.AchievedPerSecond), reports.Printable(best.Name))
	}
	if s.Limiter != nil && s.Limiter.Summary != "" {
		say("limiter: %s", reports.Printable(s.Limiter.Summary))
	}
	for _, d := range s.Depth {
		if d.Ratio > 0 {
			say("the deepest page of %s takes %s times as long as the first", reports.Printable(d.Operation), printable.Figure(d.Ratio))
		}
	}
	for _, d := range s.Drift {
		if d.Verdict == load.Drifts {
			say("%s drifts", reports.Printable(d.Name))
		}
	}
	if w := s.Walks; w != nil {
		say("%s faults in %s walks", page.Whole(w.Faults), page.Whole(w.Walks))
	}
	return strings.Join(found, "; ")
}

// fastest returns the measured phase with the most accepted responses per second; nil
// without one.
func fastest(phases []load.Phase) *load.Phase {
	var best *load.Phase
	for _, p := range counted(phases) {
		if best == nil || p.AchievedPerSecond > best.AchievedPerSecond {
			best = &p
		}
	}
	return best
}
