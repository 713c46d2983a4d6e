package summary

import (
	"cmp"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Missing is a missing input, with the checks that lacked it.
type Missing struct {
	Input        string
	Checks       int
	Requirements []string
}

// Ended says in words why a run ended before its checks lacked anything; "" if an input was missing.
func (m Missing) Ended() string {
	switch m.Input {
	case reports.NotReached:
		return "the run ended at its first failure (--fail-fast)"
	case reports.NotReachedInterrupted:
		return "the run was interrupted"
	}
	return ""
}

// MissingInputs returns the missing inputs, the one that most checks lacked first.
func MissingInputs(checks []reports.Check) []Missing {
	var inputs []Missing
	index := map[string]int{}
	for _, c := range checks {
		if c.Outcome != reports.NotAssessed {
			continue
		}
		for _, name := range c.Missing {
			i, known := index[name]
			if !known {
				i, index[name] = len(inputs), len(inputs)
				inputs = append(inputs, Missing{Input: name})
			}
			inputs[i].Checks++
			if !slices.Contains(inputs[i].Requirements, c.Requirement) {
				inputs[i].Requirements = append(inputs[i].Requirements, c.Requirement)
			}
		}
	}
	slices.SortFunc(inputs, func(a, b Missing) int { return cmp.Or(cmp.Compare(b.Checks, a.Checks), cmp.Compare(a.Input, b.Input)) })
	return inputs
}

// Observed is what a target does at an open point.
type Observed struct {
	OpenPoint, Statement string
	Operations           int     // with an observation
	Values               []Value // that of most operations first
}

// Value is an observed value. The operation "" stands for the service.
type Value struct {
	Text       string
	Operations []string
	Count      int
}

// Observations groups observations by open point and value.
func Observations(all []reports.Observation) []Observed {
	all = slices.Clone(all)
	operation := Place(spec.OperationIDs())
	slices.SortStableFunc(all, func(a, b reports.Observation) int {
		return cmp.Or(cmp.Compare(a.OpenPoint, b.OpenPoint), operation(a.Operation, b.Operation))
	})
	var points []Observed
	for _, o := range all {
		if len(points) == 0 || points[len(points)-1].OpenPoint != o.OpenPoint {
			known, _ := spec.FindOpenPoint(o.OpenPoint)
			points = append(points, Observed{OpenPoint: o.OpenPoint, Statement: known.Statement})
		}
		points[len(points)-1].add(o)
	}
	for _, p := range points {
		slices.SortStableFunc(p.Values, func(a, b Value) int {
			return cmp.Or(cmp.Compare(len(b.Operations), len(a.Operations)), cmp.Compare(a.Text, b.Text))
		})
	}
	return points
}

func (p *Observed) add(o reports.Observation) {
	if !slices.ContainsFunc(p.Values, func(v Value) bool { return slices.Contains(v.Operations, o.Operation) }) {
		p.Operations++
	}
	i := slices.IndexFunc(p.Values, func(v Value) bool { return v.Text == o.Value })
	if i < 0 {
		i = len(p.Values)
		p.Values = append(p.Values, Value{Text: o.Value})
	}
	v := &p.Values[i]
	v.Count += o.Count
	if !slices.Contains(v.Operations, o.Operation) {
		v.Operations = append(v.Operations, o.Operation)
	}
}

// Trouble is an error of the harness or of the connection, and where it occurred.
type Trouble struct {
	What  string
	Where []string
}

// Troubles groups troubles by their error.
func Troubles(all []reports.Trouble) []Trouble {
	var groups []Trouble
	for _, t := range all {
		i := slices.IndexFunc(groups, func(g Trouble) bool { return g.What == t.What })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Trouble{What: t.What})
		}
		groups[i].Where = append(groups[i].Where, t.Where)
	}
	return groups
}

// Grid holds the checks by operation and group of requirements.
type Grid struct {
	Operations, Groups []string
	Cells              map[[2]string][]reports.Check // by operation and group
}

// GridOf returns a grid with the operations of the checks and the given ones.
func GridOf(checks []reports.Check, operations ...string) Grid {
	g := Grid{Operations: operations, Cells: map[[2]string][]reports.Check{}}
	for _, c := range checks {
		g.Operations, g.Groups = append(g.Operations, c.Operation), append(g.Groups, c.Group)
		at := [2]string{c.Operation, c.Group}
		g.Cells[at] = append(g.Cells[at], c)
	}
	var groups []string
	for _, group := range spec.Groups() {
		groups = append(groups, string(group))
	}
	g.Operations, g.Groups = InOrder(g.Operations, spec.OperationIDs()), InOrder(g.Groups, groups)
	return g
}

// InOrder returns the names, each once: those of the catalogue in its order, then the others by name.
func InOrder(names, catalogue []string) []string {
	names = slices.Clone(names)
	slices.SortFunc(names, Place(catalogue))
	return slices.Compact(names)
}

// Place returns a comparison of names by their place in the catalogue. Others, such as those of
// another version, come last, by name.
func Place(catalogue []string) func(a, b string) int {
	places := make(map[string]int, len(catalogue))
	for i, name := range catalogue {
		places[name] = i - len(catalogue)
	}
	return func(a, b string) int { return cmp.Or(cmp.Compare(places[a], places[b]), strings.Compare(a, b)) }
}
