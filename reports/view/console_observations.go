package view

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/spec"
)

// Limits of an observation, unless Verbose is set.
const (
	maxValues       = 4  // values of one open point
	maxValueColumns = 60 // of one value
)

// observed is one value and the operations that showed it.
type observed struct {
	value      string
	operations []string
}

// observations shows the target's behaviour at each open point.
func (p *page) observations(r reports.Results) {
	if len(r.Observations) == 0 {
		return
	}
	p.heading("OBSERVATIONS", "behaviour of the target that the specification leaves open")
	byOpenPoint := map[string][]reports.Observation{}
	ids := map[string]bool{}
	for _, o := range r.Observations {
		ids[o.OpenPoint] = true
		byOpenPoint[o.OpenPoint] = append(byOpenPoint[o.OpenPoint], o)
	}
	const widestLabel = 32
	names := inOrder(ids, nil)
	column := 0
	for _, name := range names {
		if w := console.Width(printable.Text(name)); w <= widestLabel {
			column = max(column, w+gap)
		}
	}
	for _, name := range names {
		p.entry(2, max(column, 4), printable.Text(name), p.observed(byOpenPoint[name]))
	}
}

func (p *page) observed(all []reports.Observation) string {
	concerned := map[string]bool{}
	for _, o := range all {
		concerned[o.Operation] = true
	}
	values := valuesOf(all)
	shown := p.limit(len(values), maxValues)
	var parts []string
	for _, v := range values[:shown] {
		value := printable.Text(v.value)
		if value == "" {
			value = `""`
		}
		if !p.Verbose {
			value = console.Cut(value, maxValueColumns)
		}
		parts = append(parts, value+p.paint.Dim(where(v.operations, len(concerned))))
	}
	if left := len(values) - shown; left > 0 {
		parts = append(parts, p.paint.Dim(p.more(left, noun(left, "value", "values"))))
	}
	return strings.Join(parts, " · ")
}

// valuesOf groups the observations of one open point by value. The value of most
// operations comes first.
func valuesOf(all []reports.Observation) []observed {
	byValue := map[string]map[string]bool{}
	for _, o := range all {
		if byValue[o.Value] == nil {
			byValue[o.Value] = map[string]bool{}
		}
		byValue[o.Value][o.Operation] = true
	}
	var known []string
	for _, op := range spec.Operations() {
		known = append(known, op.ID)
	}
	var values []observed
	for value, operations := range byValue {
		values = append(values, observed{value, inOrder(operations, known)})
	}
	slices.SortFunc(values, func(a, b observed) int {
		if d := len(b.operations) - len(a.operations); d != 0 {
			return d
		}
		return strings.Compare(a.value, b.value)
	})
	return values
}

// where says which operations showed a value. Concerned is the number of all operations
// with an observation.
func where(operations []string, concerned int) string {
	switch {
	case len(operations) == 1 && operations[0] == "":
		return ""
	case len(operations) == concerned && concerned > 1:
		return fmt.Sprintf(" (all %d operations)", concerned)
	case len(operations) <= 2:
		names := printables(operations)
		for i, name := range names {
			if name == "" {
				names[i] = "the service"
			}
		}
		return " (" + list(names) + ")"
	default:
		return fmt.Sprintf(" (%d operations)", len(operations))
	}
}
