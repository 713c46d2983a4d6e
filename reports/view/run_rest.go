package view

import (
	"cmp"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// missingRow is an input that checks lacked.
type missingRow struct {
	Input        string
	Checks       int
	Requirements []string
	More         int // requirements that are not listed
}

// mostListed is how many requirements or operations one entry lists.
const mostListed = 12

// missingOf returns the missing inputs, the one that most checks lacked first.
func missingOf(checks []reports.Check) listOf[missingRow] {
	var all []missingRow
	for _, in := range missingInputs(checks) {
		row := missingRow{Input: bounded(in.name, mostText), Checks: in.checks, More: max(0, len(in.requirements)-mostListed)}
		for _, id := range in.requirements[:len(in.requirements)-row.More] {
			row.Requirements = append(row.Requirements, bounded(id, mostText))
		}
		all = append(all, row)
	}
	return fit(all, roomForDetails, func(m missingRow) []string { return append(m.Requirements, m.Input) })
}

// supplies say how to supply a missing input that begins or ends with a text.
var supplies = []struct{ begins, how string }{
	{"the entry ", "Add the entry to the target profile."},
	{"the entries ", "Add the entries to the target profile."},
	{"two entries ", "Add the entries to the target profile."},
	{"the name of the parameter", "Name the parameter under parameters in the target profile."},
	{"the key ", "Add the key under keys in the target profile."},
	{"a key ", "Add such a key under keys in the target profile."},
	{"a revoked key", "Add such a key under keys in the target profile."},
	{"a valid request", "The target refuses all requests alike: see the causes above, and the keys in the target profile."},
	{"a workspace", "Describe such a workspace in the target profile."},
	{"a row", "Create such a row on the target, or name one in the target profile."},
	{"rows", "Create such rows on the target."},
	{"at least two", "Create more rows on the target."},
	{"a lead", "Create such a row on the target, and name it in the target profile."},
	{"a run that could begin", "Remove the reason of the verdict, and run again."},
	{"a response to check", "Nothing that was sent got a response that shows this: see the causes and the troubles."},
	{"a 200 response", "The check needs a response that the target did not give: see the causes."},
}

// supply says what would let a run assess the checks that lacked the input.
func supply(input string) string {
	for _, s := range supplies {
		if strings.HasPrefix(input, s.begins) {
			return s.how
		}
	}
	return "Supply it on the target or in the target profile; `outreach-conformance target check` says what a run can assess."
}

// accepted is the number of accepted requests of each operation and kind.
type accepted struct {
	Kinds []string
	Rows  []acceptedRow
	Left  int
}

type acceptedRow struct {
	Operation string
	Cells     []acceptedCell
}

type acceptedCell struct {
	Sent, Accepted int
	Odd            bool // valid requests that were not accepted, or others that were
}

// Bounds of the table. A run has fewer kinds.
const mostKinds = 12

// valid is what the specification allows for a valid request.
const valid = "200"

func acceptedOf(all []reports.Requests) accepted {
	kinds, operations, at := map[string]bool{}, map[string]bool{}, map[[2]string]acceptedCell{}
	for _, n := range all {
		kinds[n.Allowed], operations[n.Operation] = true, true
		key := [2]string{n.Operation, n.Allowed}
		c := at[key]
		c.Sent, c.Accepted = c.Sent+n.Sent, c.Accepted+n.Accepted
		served := strings.Contains(n.Allowed, valid)
		c.Odd = served && n.Allowed == valid && c.Accepted < c.Sent || !served && c.Accepted > 0
		at[key] = c
	}
	t := accepted{Kinds: ranked(kinds, []string{valid})}
	t.Kinds = t.Kinds[:min(len(t.Kinds), mostKinds)]
	inOperations := ranked(operations, spec.OperationIDs())
	t.Left = max(0, len(inOperations)-mostOperations)
	for _, op := range inOperations[:len(inOperations)-t.Left] {
		row := acceptedRow{Operation: bounded(op, mostText)}
		for _, k := range t.Kinds {
			row.Cells = append(row.Cells, at[[2]string{op, k}])
		}
		t.Rows = append(t.Rows, row)
	}
	for i, k := range t.Kinds {
		switch k {
		case valid:
			t.Kinds[i] = "valid requests (200 is right)"
		case "a refusal (4xx)":
			t.Kinds[i] = "to be refused (4xx is right)"
		default:
			t.Kinds[i] = bounded(k, mostText) + " is right"
		}
	}
	return t
}

// expectedFailure is a failure that the target's owner declared.
type expectedFailure struct {
	Requirement, Operation, Reason, Link, Expires string
	Flaky                                         bool
}

func expectedOf(checks []reports.Check) listOf[expectedFailure] {
	var all []expectedFailure
	for _, c := range checks {
		if c.Outcome == reports.ExpectedFailure && c.Waiver != nil {
			w := c.Waiver
			all = append(all, expectedFailure{bounded(c.Requirement, mostText), bounded(c.Operation, mostText), bounded(w.Reason, mostText), bounded(w.Link, mostText), bounded(w.Expires, mostText), w.Flaky})
		}
	}
	return fit(all, roomForDetails, func(e expectedFailure) []string { return []string{e.Requirement, e.Operation, e.Reason, e.Link} })
}

// observedPoint is what the target does at an open point.
type observedPoint struct {
	OpenPoint, Statement string
	Values               []observedValue
	More                 int // values that are not listed
}

// observedValue is an observed value, and where it was observed.
type observedValue struct {
	Value      string
	Operations []string
	Count      int
}

// Named returns the first operations.
func (v observedValue) Named() []string { return v.Operations[:min(len(v.Operations), 4)] }

// Unnamed returns the number of the others.
func (v observedValue) Unnamed() int { return len(v.Operations) - len(v.Named()) }

func observedOf(observations []reports.Observation) listOf[observedPoint] {
	byPoint := map[string][]reports.Observation{}
	points := map[string]bool{}
	for _, o := range observations {
		points[o.OpenPoint] = true
		byPoint[o.OpenPoint] = append(byPoint[o.OpenPoint], o)
	}
	var all []observedPoint
	for _, id := range ranked(points, nil) {
		one := observedPoint{OpenPoint: bounded(id, mostText)}
		if p, ok := spec.FindOpenPoint(id); ok {
			one.Statement = p.Statement
		}
		one.Values = valuesAt(byPoint[id])
		one.More = max(0, len(one.Values)-mostListed)
		one.Values = one.Values[:len(one.Values)-one.More]
		all = append(all, one)
	}
	return fit(all, roomForDetails, func(o observedPoint) []string {
		texts := []string{o.OpenPoint, o.Statement}
		for _, v := range o.Values {
			texts = append(append(texts, v.Value), v.Operations...)
		}
		return texts
	})
}

// valuesAt returns the values at one open point, the one of most operations first.
func valuesAt(observations []reports.Observation) []observedValue {
	observations = slices.Clone(observations) // their order is that of the file, or of the run
	catalogue := spec.OperationIDs()
	slices.SortStableFunc(observations, func(a, b reports.Observation) int {
		return cmp.Or(cmp.Compare(slices.Index(catalogue, a.Operation), slices.Index(catalogue, b.Operation)), cmp.Compare(a.Operation, b.Operation))
	})
	index := map[string]int{}
	var all []observedValue
	for _, o := range observations {
		i, ok := index[o.Value]
		if !ok {
			i = len(all)
			index[o.Value] = i
			shown := bounded(o.Value, mostText)
			if shown == "" {
				shown = `""`
			}
			all = append(all, observedValue{Value: shown})
		}
		all[i].Count += o.Count
		if o.Operation != "" && !slices.Contains(all[i].Operations, o.Operation) {
			all[i].Operations = append(all[i].Operations, bounded(o.Operation, mostText))
		}
	}
	slices.SortStableFunc(all, func(a, b observedValue) int {
		return cmp.Or(cmp.Compare(len(b.Operations), len(a.Operations)), cmp.Compare(a.Value, b.Value))
	})
	return all
}

// trouble is an error of the harness or the connection, and where it occurred.
type trouble struct {
	What  string
	Where []string
	More  int
}

func troublesOf(troubles []reports.Trouble) listOf[trouble] {
	index := map[string]int{}
	var all []trouble
	for _, t := range troubles {
		i, ok := index[t.What]
		if !ok {
			i = len(all)
			index[t.What] = i
			all = append(all, trouble{What: boundedLines(t.What, mostBody)})
		}
		if len(all[i].Where) < mostListed {
			all[i].Where = append(all[i].Where, bounded(t.Where, mostText))
		} else {
			all[i].More++
		}
	}
	return fit(all, roomForDetails, func(t trouble) []string { return append(t.Where, t.What) })
}
