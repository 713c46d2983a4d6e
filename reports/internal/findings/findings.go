// Package findings lists what is wrong according to the results of a run, for formats
// that show a list of problems. Each finding is a failed check, a missed threshold or,
// if nothing else says why the verdict is not pass, the verdict.
//
// Its texts are printable. It imports the results models and the catalogue.
package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/markdown"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// Rules of findings that are no requirements.
const (
	RuleVerdict   = "VERDICT"
	RuleThreshold = "THRESHOLD"
)

// Finding is one problem.
type Finding struct {
	Rule      string // a requirement, RuleVerdict or RuleThreshold
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

// Fingerprint returns what identifies the same finding in another run.
func (f Finding) Fingerprint() string {
	sum := sha256.Sum256([]byte(f.Rule + "\x00" + f.Place + "\x00" + f.identity()))
	return hex.EncodeToString(sum[:])
}

// identity is what tells findings of one rule at one place apart.
func (f Finding) identity() string {
	if f.Rule == RuleThreshold {
		return f.Statement
	}
	return ""
}

// Of returns the findings of a run, in the order of their probable causes. Those that
// the owner of the target expects come last.
func Of(r reports.Results) []Finding {
	var all []Finding
	for _, cause := range reports.Causes(r.Checks) {
		for _, c := range cause.Checks {
			all = append(all, ofCheck(c))
		}
	}
	if len(all) == 0 && r.Verdict != reports.Passed {
		all = append(all, ofVerdict(r.Word(), r.Reasons))
	}
	for _, c := range r.Checks {
		if c.Outcome == reports.ExpectedFailure {
			all = append(all, ofCheck(c))
		}
	}
	return all
}

// OfLoad is Of for a load run: the requirements that operations broke under load and the
// missed thresholds.
func OfLoad(r load.Results) []Finding {
	var all []Finding
	for _, s := range r.Scenarios {
		for _, v := range s.Violations {
			f := ofCheck(reports.Check{Requirement: v.Requirement, Operation: v.Operation, Violations: v.Examples, ViolationCount: int(v.Count)})
			same := func(other Finding) bool { return other.Fingerprint() == f.Fingerprint() }
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
				all = append(all, ofThreshold(s.Name, t))
			}
		}
	}
	if len(all) == 0 && r.Verdict != reports.Passed {
		all = append(all, ofVerdict(r.Verdict.Word(), r.Reasons))
	}
	return all
}

func ofCheck(c reports.Check) Finding {
	requirement, _ := spec.FindRequirement(c.Requirement)
	f := Finding{
		Rule: reports.Printable(c.Requirement), Statement: requirement.Statement, Section: requirement.Section, Group: string(requirement.Group),
		Place: reports.Printable(c.Operation), Path: pathOf(c.Operation), Count: max(1, c.ViolationCount), Waiver: c.Waiver,
	}
	f.Message = f.Rule + " on " + f.Place
	if len(c.Violations) > 0 {
		v := c.Violations[0]
		f.Statement, f.Section = reports.Printable(v.Statement), reports.Printable(v.Section)
		f.Message = fmt.Sprintf("%s: at %s: expected %s, got %s", f.Place, v.Place(), markdown.Short(v.Expected), markdown.Short(v.Actual))
		f.Repeat = reports.Printable(v.Curl)
	}
	if f.Statement == "" {
		f.Statement = f.Rule
	}
	return f
}

func ofThreshold(scenario string, t load.Threshold) Finding {
	name := t.Text
	if t.Phase != "" {
		name += " in " + t.Phase
	}
	return Finding{Rule: RuleThreshold, Statement: reports.Printable(name), Group: "load", Place: reports.Printable(scenario), Path: fileName(scenario),
		Message: markdown.Short(fmt.Sprintf("%s: %s %s: %s", scenario, name, t.Outcome, t.Why)), Count: 1}
}

func ofVerdict(word string, reasons []string) Finding {
	message := word
	if len(reasons) > 0 {
		message += ": " + strings.Join(reasons, "; ")
	}
	return Finding{Rule: RuleVerdict, Statement: "The run passes.", Path: "run", Message: markdown.Short(message), Count: 1}
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
