package view

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// Rules of findings that are no requirements.
const (
	ruleVerdict   = "VERDICT"
	ruleThreshold = "THRESHOLD"
)

// problem is one problem.
type problem struct {
	Rule      string // a requirement, ruleVerdict or ruleThreshold
	Statement string // of the requirement
	Section   string // of the specification; empty if there is none
	Group     string
	Place     string // the operation, or the scenario of a load run; empty for the run
	Path      string // of the operation in the API, without a leading slash; otherwise Place or "run"
	Message   string // one line
	Repeat    string // a command that repeats it; empty if there is none
	Count     int    // how often it was seen, at least 1
	Waiver    *reports.Waiver
}

// fingerprint returns what identifies the same finding in another run.
func (f problem) fingerprint() string {
	sum := sha256.Sum256([]byte(f.Rule + "\x00" + f.Place + "\x00" + f.identity()))
	return hex.EncodeToString(sum[:])
}

// identity is what tells problems of one rule at one place apart.
func (f problem) identity() string {
	if f.Rule == ruleThreshold {
		return f.Statement
	}
	return ""
}

// problemsOf returns the problems of a run, in the order of their probable causes. Those that
// the owner of the target expects come last.
func problemsOf(r reports.Results) []problem {
	var all []problem
	for _, cause := range summary.Causes(r.Checks) {
		for _, c := range cause.Checks {
			all = append(all, problemOfCheck(c))
		}
	}
	if len(all) == 0 && r.Verdict != reports.Passed {
		all = append(all, problemOfVerdict(r.Word(), r.Reasons))
	}
	for _, c := range r.Checks {
		if c.Outcome == reports.ExpectedFailure {
			all = append(all, problemOfCheck(c))
		}
	}
	return all
}

// problemsOfLoad is problemsOf for a load run: the requirements that operations broke under load and the
// missed thresholds.
func problemsOfLoad(r load.Results) []problem {
	var all []problem
	for _, s := range r.Scenarios {
		for _, v := range s.Violations {
			f := problemOfCheck(reports.Check{Requirement: v.Requirement, Operation: v.Operation, Violations: v.Examples, ViolationCount: int(v.Count)})
			same := func(other problem) bool { return other.fingerprint() == f.fingerprint() }
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i].Count += f.Count // in another scenario
			} else {
				all = append(all, f)
			}
		}
	}
	for _, s := range r.Scenarios {
		for _, t := range s.Thresholds {
			if t.Outcome == load.Missed {
				all = append(all, problemOfThreshold(s.Name, t))
			}
		}
	}
	if len(all) == 0 && r.Verdict != reports.Passed {
		all = append(all, problemOfVerdict(r.Verdict.Word(), r.Reasons))
	}
	return all
}

func problemOfCheck(c reports.Check) problem {
	requirement, _ := spec.FindRequirement(c.Requirement)
	f := problem{
		Rule: c.Requirement, Statement: requirement.Statement, Section: requirement.Section, Group: string(requirement.Group),
		Place: c.Operation, Path: pathOf(c.Operation), Count: max(1, c.ViolationCount), Waiver: c.Waiver,
	}
	f.Message = f.Rule + " on " + f.Place
	if len(c.Violations) > 0 {
		v := c.Violations[0]
		f.Statement, f.Section = v.Statement, v.Section
		f.Message = fmt.Sprintf("%s: at %s: expected %s, got %s", f.Place, v.Place(), oneLine(v.Expected), oneLine(v.Actual))
		f.Repeat = v.Curl
	}
	if f.Statement == "" {
		f.Statement = f.Rule
	}
	return f
}

func problemOfThreshold(scenario string, t load.Threshold) problem {
	name := t.Text
	if t.Phase != "" {
		name += " in " + t.Phase
	}
	return problem{Rule: ruleThreshold, Statement: name, Group: "load", Place: scenario, Path: fileName(scenario),
		Message: oneLine(fmt.Sprintf("%s: %s %s: %s", scenario, name, t.Outcome, t.Why)), Count: 1}
}

func problemOfVerdict(word string, reasons []string) problem {
	message := word
	if len(reasons) > 0 {
		message += ": " + strings.Join(reasons, "; ")
	}
	return problem{Rule: ruleVerdict, Statement: "The run passes.", Path: "run", Message: oneLine(message), Count: 1}
}

// pathOf returns the path of the operation, which stands for a file.
func pathOf(operation string) string {
	if op, ok := spec.FindOperation(operation); ok {
		return strings.NewReplacer("{", "", "}", "").Replace(strings.TrimPrefix(op.Path, "/"))
	}
	return fileName(operation)
}

// fileName returns the name with the characters that every tool accepts in a path.
func fileName(name string) string {
	kept := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(kept, "._") == "" {
		return "run"
	}
	return kept
}
