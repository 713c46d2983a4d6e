package reports

import (
	"fmt"

	"outreach.example/conformance/spec"
)

// Level says how far a run shows that a target meets one set of requirements, on the
// operations that the run judged. A vendor of a partial implementation can cite it.
type Level struct {
	Set string `json:"set"` // a set of requirements, such as "read"
	// Requirements is the number of requirements of the set that apply to the operations.
	Requirements int `json:"requirements"`
	Assessed     int `json:"assessed"` // those that were assessed on each of the operations
	Failed       int `json:"failed"`   // those that failed on any of them, as expected or not
}

// Achieved reports whether each requirement of the set was assessed and holds.
func (l Level) Achieved() bool { return l.Failed == 0 && l.Assessed == l.Requirements }

// String returns the level in words: "read: conforms", "write: 2 of 76 failed" or
// "scopes: 12 of 17 assessed".
func (l Level) String() string {
	switch {
	case l.Failed > 0:
		return fmt.Sprintf("%s: %d of %d failed", Printable(l.Set), l.Failed, l.Requirements)
	case l.Achieved():
		return Printable(l.Set) + ": conforms"
	default:
		return fmt.Sprintf("%s: %d of %d assessed", Printable(l.Set), l.Assessed, l.Requirements)
	}
}

// Levels returns the level of each set that applies to the operations of the checks.
// What the run left out counts as not assessed.
func Levels(checks []Check) []Level {
	outcomes := make(map[spec.Pair]Outcome, len(checks))
	judged := map[string]bool{}
	for _, c := range checks {
		outcomes[spec.Pair{Requirement: c.Requirement, Operation: c.Operation}] = c.Outcome
		judged[c.Operation] = true
	}
	catalogue := spec.Requirements()
	var levels []Level
	for _, set := range spec.Profiles() {
		if set == spec.ProfileFull {
			continue // the sum of the others
		}
		level := Level{Set: string(set)}
		for _, r := range catalogue {
			if r.Profile == set {
				level.add(r, judged, outcomes)
			}
		}
		if level.Requirements > 0 {
			levels = append(levels, level)
		}
	}
	return levels
}

func (l *Level) add(r spec.Requirement, judged map[string]bool, outcomes map[spec.Pair]Outcome) {
	applies, assessed, failed := 0, 0, 0
	for _, operation := range r.Operations {
		if !judged[operation] {
			continue
		}
		applies++
		switch outcomes[spec.Pair{Requirement: r.ID, Operation: operation}] {
		case Pass:
			assessed++
		case Fail, ExpectedFailure:
			assessed++
			failed++
		}
	}
	if applies == 0 {
		return
	}
	l.Requirements++
	if assessed == applies {
		l.Assessed++
	}
	if failed > 0 {
		l.Failed++
	}
}
