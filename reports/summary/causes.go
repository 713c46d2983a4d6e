// Package summary draws from results, and from the catalogue of requirements, what their views
// share: the probable causes and the kinds of failures, coverage and levels, missing inputs, and the
// observations at each open point.
//
// It imports the results model, the catalogue and small helpers.
package summary

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Cause is a set of failed checks that one mistake of the target probably explains.
type Cause struct {
	Checks []reports.Check // the most specific first; never empty
}

// Failures returns the failed requirements of the cause.
func (c Cause) Failures() []Failure { return Failures(c.Checks) }

// Unserved reports whether the cause is that the target does not serve the operations.
func (c Cause) Unserved() bool { return c.Checks[0].Requirement == string(spec.Served) }

// Example returns the first violation of the cause that has an exchange, or else the
// first one, with its check.
func (c Cause) Example() (reports.Check, reports.Violation) {
	for _, check := range c.Checks {
		for _, v := range check.Violations {
			if v.Exchange != nil {
				return check, v
			}
		}
	}
	if len(c.Checks[0].Violations) > 0 {
		return c.Checks[0], c.Checks[0].Violations[0]
	}
	return c.Checks[0], reports.Violation{}
}

// Causes groups the failed checks by their probable cause. Checks with a sight in common
// have the same one. Causes, and the checks of each, are in the order of rank. Among
// causes of one rank, that of the most failed checks comes first.
func Causes(checks []reports.Check) []Cause {
	checks = slices.DeleteFunc(slices.Clone(checks), func(c reports.Check) bool { return c.Outcome != reports.Fail })
	joined := make([]int, len(checks)) // index of an earlier check with the same cause, or its own
	first := func(i int) int {
		for joined[i] != i {
			i = joined[i]
		}
		return i
	}
	seen := map[string]int{}
	for i, c := range checks {
		joined[i] = i
		for _, s := range sights(c) {
			if other, known := seen[s]; known {
				a, b := first(i), first(other)
				joined[max(a, b)] = min(a, b)
			} else {
				seen[s] = i
			}
		}
	}
	groups := make([]Cause, len(checks))
	for i, c := range checks {
		of := &groups[first(i)]
		of.Checks = append(of.Checks, c)
	}
	groups = slices.DeleteFunc(groups, func(c Cause) bool { return len(c.Checks) == 0 })
	for _, c := range groups {
		slices.SortStableFunc(c.Checks, func(a, b reports.Check) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(breadth(a), breadth(b)))
		})
	}
	slices.SortStableFunc(groups, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(rank(a.Checks[0]), rank(b.Checks[0])), cmp.Compare(len(b.Checks), len(a.Checks)))
	})
	return groups
}

// Ranks of checks. What others depend on comes first. What every response is judged by
// comes last.
const (
	missingOperation = iota
	refusedKey
	leakedRow
	wrongShape
	wrongBehaviour
	anyResponse
)

func rank(c reports.Check) int {
	switch spec.ID(c.Requirement) {
	case spec.Served:
		return missingOperation
	case spec.Status200, spec.StatusAllowed, spec.ScopeExact:
		return anyResponse
	}
	status := "" // of a refusal
	if len(c.Violations) > 0 && refuses(c.Violations[0]) {
		status, _, _ = strings.Cut(c.Violations[0].Actual, " ")
	}
	switch group := spec.Group(c.Group); {
	case group == spec.GroupKeys && (status == "401" || status == "403"):
		return refusedKey
	case group == spec.GroupIsolation && status == "":
		return leakedRow
	case group == spec.GroupShape || group == spec.GroupErrors:
		return wrongShape
	default:
		return wrongBehaviour
	}
}

// refuses reports whether the violation is a response with another status than 200.
func refuses(v reports.Violation) bool {
	return v.Pointer == "status" && !strings.HasPrefix(v.Actual, "200")
}

// breadth returns how many operations the requirement is about. The fewer, the more it says.
func breadth(c reports.Check) int {
	r, _ := spec.FindRequirement(c.Requirement)
	return len(r.Operations)
}

// sights returns what a failed check saw first, and the rows that it names, in texts that are
// equal for checks with the same cause. Other things that it saw later may have other causes.
func sights(c reports.Check) []string {
	if len(c.Violations) == 0 || c.Requirement == string(spec.Served) {
		return []string{c.Requirement}
	}
	all := sightsOf(c.Violations[0], c)
	for _, v := range c.Violations {
		if row := row(v); row != nil {
			all = append(all, "row\x00"+row[1])
		}
	}
	return all
}

var (
	// shownRow matches a row as findings name it, by its key or by some members.
	shownRow = regexp.MustCompile(`the row (?:\{.*"id":)?"?([^\s,"]+)`)
	index    = regexp.MustCompile(`/[0-9]+`)
	// numbered is a word with a digit, such as an id.
	numbered = regexp.MustCompile(`[\pL\pN_-]*\pN[\pL\pN_-]*`)
)

// row returns the row that the violation names and, second, its key; nil if it names none.
func row(v reports.Violation) []string {
	return shownRow.FindStringSubmatch(v.Expected + "\n" + v.Actual)
}

// sightsOf returns what the violation of the check shows: a refusal by status and text, an
// acceptance, a field, the object that lacks a field, a row, or the place and the value.
func sightsOf(v reports.Violation, c reports.Check) []string {
	sight := func(parts ...string) string { return strings.Join(parts, "\x00") }
	switch status, text, _ := strings.Cut(v.Actual, " "); {
	case refuses(v) && status < "3":
		return []string{sight("answered", status)}
	case refuses(v):
		return []string{sight("answered", status, numbered.ReplaceAllString(text, ""))}
	case v.Pointer == "status":
		return []string{c.Requirement, sight("accepted", c.Group, c.Operation)}
	}
	group, looks := spec.Group(c.Group), Form(v.Expected)+"\x00"+Form(v.Actual)
	general := group == spec.GroupShape || group == spec.GroupErrors || group == spec.GroupKeys
	if member := strings.TrimPrefix(index.ReplaceAllString(v.Pointer, ""), "/items"); strings.HasPrefix(member, "/") {
		op, _ := spec.FindOperation(c.Operation)
		field, _, _ := strings.Cut(member[1:], "/")
		all := []string{sight("field", op.Resource, field)}
		if strings.HasSuffix(c.Requirement, "-"+string(spec.Value)) { // it has the same form in all fields
			all = append(all, looks)
		} else if general {
			all = append(all, sight(path.Base(member), looks))
		}
		if v.Actual == "absent" {
			all = append(all, sight("absent from", c.Operation, path.Dir(member)))
		}
		return all
	}
	if general {
		return []string{looks}
	}
	if row(v) != nil {
		return []string{c.Requirement}
	}
	return []string{c.Requirement, sight("at", c.Operation, v.Pointer, v.Actual)}
}

var (
	quoted  = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	letters = regexp.MustCompile(`[\pL]{3,}`)
	paths   = regexp.MustCompile(`/[^\s"<>]+`)
	uuids   = regexp.MustCompile(`(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	digits  = regexp.MustCompile(`[0-9]+`)
)

// formed is how many bytes of a text decide about its form. Those of a run are shorter.
const formed = 2048

// Form returns what texts about different rows, such as observations of the same behaviour, have in common: it leaves out ids,
// paths and the words in quoted values. It keeps numbers below 1000, such as a status.
func Form(text string) string {
	text = text[:min(len(text), formed)]
	text = uuids.ReplaceAllString(text, "ID")
	text = quoted.ReplaceAllStringFunc(text, func(value string) string {
		return digits.ReplaceAllString(letters.ReplaceAllString(value, "A"), "0")
	})
	text = paths.ReplaceAllString(text, "/")
	return digits.ReplaceAllStringFunc(text, func(n string) string {
		if len(n) > 3 {
			return "0"
		}
		return n
	})
}
