package reports

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// Cause is a set of failed checks that one mistake of the target probably explains.
type Cause struct {
	Checks []Check // the most specific first; never empty
}

// Requirements returns the failed checks of the cause by requirement.
func (c Cause) Requirements() [][]Check {
	var groups [][]Check
	for _, check := range c.Checks {
		same := func(g []Check) bool { return g[0].Requirement == check.Requirement }
		if i := slices.IndexFunc(groups, same); i >= 0 {
			groups[i] = append(groups[i], check)
		} else {
			groups = append(groups, []Check{check})
		}
	}
	return groups
}

// Example returns the first violation of the cause that has an exchange, or else the
// first one, with its check.
func (c Cause) Example() (Check, Violation) {
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
	return c.Checks[0], Violation{}
}

// Causes groups the failed checks by their probable cause. Checks with a sight in common
// have the same one. Causes, and the checks of each, are in the order of rank. Among
// causes of one rank, that of the most failed checks comes first.
func Causes(checks []Check) []Cause {
	checks = slices.DeleteFunc(slices.Clone(checks), func(c Check) bool { return c.Outcome != Fail })
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
		slices.SortStableFunc(c.Checks, func(a, b Check) int {
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

func rank(c Check) int {
	switch spec.ID(c.Requirement) {
	case spec.Served:
		return missingOperation
	case spec.Status200, spec.StatusAllowed, spec.ScopeExact:
		return anyResponse
	}
	status := "" // of a refusal
	if len(c.Violations) > 0 && c.Violations[0].refuses() {
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
func (v Violation) refuses() bool {
	return v.Pointer == "status" && !strings.HasPrefix(v.Actual, "200")
}

// breadth returns how many operations the requirement is about. The fewer, the more it says.
func breadth(c Check) int {
	r, _ := spec.FindRequirement(c.Requirement)
	return len(r.Operations)
}

// sights returns what a failed check saw first, and the rows that it names, in texts that are
// equal for checks with the same cause. Other things that it saw later may have other causes.
func sights(c Check) []string {
	if len(c.Violations) == 0 || c.Requirement == string(spec.Served) {
		return []string{c.Requirement}
	}
	all := c.Violations[0].sights(c)
	for _, v := range c.Violations {
		if row := v.row(); row != nil {
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
func (v Violation) row() []string { return shownRow.FindStringSubmatch(v.Expected + "\n" + v.Actual) }

// sights returns what the violation of the check shows: a refusal by status and text, an
// acceptance, a field, the object that lacks a field, a row, or the place and the value.
func (v Violation) sights(c Check) []string {
	sight := func(parts ...string) string { return strings.Join(parts, "\x00") }
	switch status, text, _ := strings.Cut(v.Actual, " "); {
	case v.refuses() && status < "3":
		return []string{sight("answered", status)}
	case v.refuses():
		return []string{sight("answered", status, numbered.ReplaceAllString(text, ""))}
	case v.Pointer == "status":
		return []string{c.Requirement, sight("accepted", c.Group, c.Operation)}
	}
	group, looks := spec.Group(c.Group), form(v.Expected)+"\x00"+form(v.Actual)
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
	if v.row() != nil {
		return []string{c.Requirement}
	}
	return []string{c.Requirement, sight("at", c.Operation, v.Pointer, v.Actual)}
}

// particular is a quoted text, or a word with a digit: an id, a number, a time or a
// generated name.
var particular = regexp.MustCompile(`"(\\.|[^"\\])*"?|[\pL\pN_-]*\pN[\pL\pN_-]*`)

// Kind returns what violations of one kind have in common: place, expected and actual
// without what is particular to one of them. A status is part of the kind.
func (v Violation) Kind() string {
	status := ""
	if v.Pointer == "status" {
		status = v.Actual[:min(len(v.Actual), 3)]
	}
	return status + "\n" + particular.ReplaceAllString(v.Pointer+"\n"+v.Expected+"\n"+v.Actual, "#")
}

// Kind is one kind of violation of a requirement, with the first example of it.
type Kind struct {
	Violation
	Check      Check    // that the example is from
	Operations []string // that show the kind, each once
	Count      int      // violations of the kind, as far as they were counted
}

// Kinds returns the kinds of violations of failed checks of one requirement, in the order
// of the checks. A check without a listed violation has a kind of its own.
func Kinds(checks []Check) []Kind {
	var kinds []Kind
	index := map[string]int{}
	add := func(c Check, v Violation) {
		i, known := index[v.Kind()]
		if !known {
			i = len(kinds)
			index[v.Kind()] = i
			kinds = append(kinds, Kind{Violation: v, Check: c})
		}
		kinds[i].Count += v.Count
		if !slices.Contains(kinds[i].Operations, c.Operation) {
			kinds[i].Operations = append(kinds[i].Operations, c.Operation)
		}
	}
	for _, c := range checks {
		for _, v := range c.Violations {
			add(c, v)
		}
		if len(c.Violations) == 0 {
			add(c, Violation{})
		}
	}
	return kinds
}

// Form returns what observations of the same behaviour have in common: the value without
// ids, paths and the words in quoted texts.
func (o Observation) Form() string { return form(o.Value) }

var (
	quoted  = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	letters = regexp.MustCompile(`[\pL]{3,}`)
	paths   = regexp.MustCompile(`/[^\s"<>]+`)
	uuids   = regexp.MustCompile(`(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	digits  = regexp.MustCompile(`[0-9]+`)
)

// formed is how many bytes of a text decide about its form. Those of a run are shorter.
const formed = 2048

// form returns what texts about different rows have in common: it leaves out ids,
// paths and the words in quoted values. It keeps numbers below 1000, such as a status.
func form(text string) string {
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
