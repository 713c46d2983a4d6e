package loadsample

import (
	"fmt"

	"outreach.example/conformance/reports/load"
)

// Hostile returns Full with every string that a target or a user can influence
// replaced with one that attacks the view.
func Hostile() load.Results {
	r := Full()
	const attack = "</style><script>alert(1)</script>\"'><img src=https://evil.test/x onerror=alert(1)>\u202e\x1b[31m\xff{{.}}\x00"
	long := ""
	for i := range 60 {
		long += fmt.Sprintf("unbroken%d", i)
	}
	r.Target.Name, r.Target.Version, r.Target.Vendor, r.Target.BaseURL = attack, long, attack, "javascript:alert(1)//"+attack
	r.Run.Selection, r.Run.ID = attack+long, attack
	r.Reasons = []string{attack, long}
	r.Calibration.Note = attack
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		s.About, s.Notes = attack, []string{attack}
		for j := range s.Reasons {
			s.Reasons[j] = attack + long
		}
		for j := range s.Phases {
			p := &s.Phases[j]
			p.Name = attack + long
			p.Failures = map[string]int64{attack: 1}
			for k := range p.Labels {
				p.Labels[k].Name = attack + long
			}
		}
		for j := range s.Thresholds {
			s.Thresholds[j].Text, s.Thresholds[j].Why, s.Thresholds[j].Unit, s.Thresholds[j].Phase = attack, long, attack, attack
		}
		for j := range s.Violations {
			for k := range s.Violations[j].Examples {
				e := &s.Violations[j].Examples[k]
				e.Statement, e.Section, e.Expected, e.Actual, e.Curl = attack, attack, long, attack, "curl "+attack+long
			}
		}
		for j := range s.Drift {
			s.Drift[j].Name, s.Drift[j].Unit, s.Drift[j].Why = attack, attack, attack
		}
		for j := range s.Memory {
			s.Memory[j].Of = attack
		}
		if s.Limiter != nil {
			s.Limiter.Summary, s.Limiter.Notes = attack, []string{attack}
			s.Limiter.Headers.Styles, s.Limiter.Headers.Malformed = []string{attack}, []string{attack + long}
			s.Limiter.Layers[0].Kind, s.Limiter.Sharing[0].Subject = load.Answer{OneOf: []string{attack, long}, Why: attack}, attack
			s.Limiter.Scope, s.Limiter.Total.Stopped = load.Answer{Why: attack}, attack
			for j := range s.Limiter.Probes {
				s.Limiter.Probes[j].Phase = attack
			}
		}
		if s.Sustained != nil {
			s.Sustained.Note = attack
		}
	}
	r.Comparison.A.Name, r.Comparison.Figures[0].Name, r.Comparison.Figures[0].Unit = attack, attack, attack
	return r
}
