package reports

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"outreach.example/conformance/spec"
)

// Cause is a set of failed checks that one mistake of the target probably explains.
type Cause struct {
	Checks []Check // in the order of the results; never empty

	basic int // what nothing else depends on has a higher number
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
	return c.Checks[0], firstViolation(c.Checks[0])
}

// Causes groups the failed checks by their probable cause. The most basic causes come
// first: a refused key, a missing operation, a wrong shape, then behaviour. Among
// these, the cause of the most failed checks comes first.
func Causes(checks []Check) []Cause {
	index := map[string]int{}
	var causes []Cause
	for _, c := range checks {
		if c.Outcome != Fail {
			continue
		}
		key := causeOf(c)
		i, known := index[key]
		if !known {
			i = len(causes)
			index[key] = i
			causes = append(causes, Cause{basic: basicness(c)})
		}
		causes[i].Checks = append(causes[i].Checks, c)
	}
	slices.SortStableFunc(causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(a.basic, b.basic), cmp.Compare(len(b.Checks), len(a.Checks)))
	})
	return causes
}

// How basic a cause is.
const (
	refusedKey = iota
	missingOperation
	wrongShape
	wrongBehaviour
)

func basicness(c Check) int {
	v := firstViolation(c)
	refused := strings.HasPrefix(v.Actual, "401") || strings.HasPrefix(v.Actual, "403")
	switch {
	case refused && strings.HasPrefix(v.Expected, "200"):
		return refusedKey
	case c.Requirement == string(spec.Served):
		return missingOperation
	case c.Group == string(spec.GroupShape) || c.Group == string(spec.GroupErrors):
		return wrongShape
	default:
		return wrongBehaviour
	}
}

func firstViolation(c Check) Violation {
	if len(c.Violations) == 0 {
		return Violation{}
	}
	return c.Violations[0]
}

// LooksLike reports whether two violations differ in nothing but ids, paths and the
// words in values. A reader learns nothing from the second.
func (v Violation) LooksLike(other Violation) bool {
	return form(v.Pointer) == form(other.Pointer) && form(v.Expected) == form(other.Expected) && form(v.Actual) == form(other.Actual)
}

// Form returns what observations of the same behaviour have in common: the value without
// ids, paths and the words in quoted texts.
func (o Observation) Form() string { return form(o.Value) }

// causeOf returns a key that failed checks with the same cause have in common.
//
// A status or an error body is probably wrong for one reason wherever it looks the
// same. So is a value of a wrong form, such as a timestamp, and a field that is missing
// or has a wrong type, on each resource. What a server does not validate it does not
// validate for any field. All other requirements are causes of their own.
func causeOf(c Check) string {
	v := firstViolation(c)
	looks := form(v.Expected) + "\x00" + form(v.Actual)
	switch group := spec.Group(c.Group); {
	case c.Requirement == string(spec.Served):
		return c.Requirement
	case group == spec.GroupRequests && strings.HasPrefix(v.Actual, "2"):
		return "accepted\x00" + c.Operation
	case group == spec.GroupErrors, group == spec.GroupKeys:
		return c.Group + "\x00" + looks
	case group == spec.GroupShape:
		return c.Group + "\x00" + fieldOf(c.Requirement) + "\x00" + looks
	default:
		return c.Requirement
	}
}

// fieldOf returns the name of the field that a requirement on a field table is about.
// It is empty for its values, which have the same form in all fields, and for other
// requirements.
func fieldOf(requirement string) string {
	path, isField := strings.CutPrefix(requirement, "SHAPE-")
	i := strings.LastIndexByte(path, '-')
	if !isField || i < 0 || path[i+1:] == string(spec.Value) {
		return ""
	}
	path = path[:i]
	return path[strings.LastIndexAny(path, "-.")+1:]
}

var (
	quoted  = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	letters = regexp.MustCompile(`[\pL]{3,}`)
	path    = regexp.MustCompile(`/[^\s"<>]+`)
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
	text = path.ReplaceAllString(text, "/")
	return digits.ReplaceAllStringFunc(text, func(n string) string {
		if len(n) > 3 {
			return "0"
		}
		return n
	})
}
