package view

import (
	"fmt"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// matrix are the checks by operation and group.
type matrix struct {
	Groups []string
	Rows   []matrixRow
	Left   int // operations that do not fit
}

type matrixRow struct {
	Operation string
	Cells     []cell // one for each group
}

// cell are the checks of one operation and one group.
type cell struct {
	Anchor    string
	Operation string
	Group     string
	Outcome   string    // the worst; "" without a check
	Has       string    // all outcomes, as classes
	Mark      string    // sign of the worst
	Number    string    // of checks with the worst
	Said      string    // the outcomes in words
	Total     int       // checks
	Listed    []outcome // the checks that did not pass
	Passed    listOf[string]
	Left      int // checks that did not pass and do not fit
}

// outcome is a check that did not pass.
type outcome struct {
	Requirement string
	Outcome     string
	Why         string
	Cause       string // anchor
}

// Bounds of the matrix. The specification has fewer of both.
const (
	mostOperations = 60
	mostGroups     = 20
)

func matrixOf(checks []reports.Check, found causes) matrix {
	operations, groups, at := map[string]bool{}, map[string]bool{}, map[[2]string][]reports.Check{}
	for _, c := range checks {
		operations[c.Operation], groups[c.Group] = true, true
		key := [2]string{c.Operation, c.Group}
		at[key] = append(at[key], c)
	}
	var knownOutcome []string
	for _, g := range spec.Groups() {
		knownOutcome = append(knownOutcome, string(g))
	}
	inGroups, inOperations := ranked(groups, knownOutcome), ranked(operations, spec.OperationIDs())
	m := matrix{Groups: inGroups[:min(len(inGroups), mostGroups)]}
	m.Left = max(0, len(inOperations)-mostOperations)
	space := room(roomForMatrix)
	for i, op := range inOperations[:len(inOperations)-m.Left] {
		row := matrixRow{Operation: bounded(op, mostText)}
		for j, group := range m.Groups {
			c := cellOf(at[[2]string{op, group}], found, &space)
			c.Anchor, c.Operation, c.Group = fmt.Sprintf("cell-%d-%d", i+1, j+1), row.Operation, bounded(group, mostText)
			row.Cells = append(row.Cells, c)
		}
		m.Rows = append(m.Rows, row)
	}
	for i, group := range m.Groups {
		m.Groups[i] = bounded(group, mostText)
	}
	return m
}

// outcomeMarks are the outcomes from the worst, with a sign for each.
var outcomeMarks = []struct {
	outcome reports.Outcome
	sign    string
	what    string
}{
	{reports.Fail, "✗", "failed"}, {reports.Error, "!", "in error"}, {reports.NotAssessed, "?", "not assessed"},
	{reports.ExpectedFailure, "~", "failed as expected"}, {reports.Pass, "✓", "passed"},
}

func cellOf(checks []reports.Check, found causes, space *room) cell {
	c := cell{Total: len(checks)}
	byOutcome := map[reports.Outcome]int{}
	for _, check := range checks {
		byOutcome[knownOutcome(check.Outcome)]++
	}
	for _, m := range outcomeMarks {
		n := byOutcome[m.outcome]
		if n == 0 {
			continue
		}
		if c.Outcome == "" {
			c.Outcome, c.Mark, c.Number = string(m.outcome), m.sign, printable.Number(n)
		} else {
			c.Said += ", "
		}
		c.Said += printable.Number(n) + " " + m.what
		c.Has += " has-" + string(m.outcome)
	}
	for _, check := range checks {
		if knownOutcome(check.Outcome) == reports.Pass {
			c.pass(check, space)
		} else {
			c.list(check, found, space)
		}
	}
	return c
}

// knownOutcome returns the outcome, or an error for one that the model does not have.
func knownOutcome(o reports.Outcome) reports.Outcome {
	for _, m := range outcomeMarks {
		if m.outcome == o {
			return o
		}
	}
	return reports.Error
}

func (c *cell) pass(check reports.Check, space *room) {
	id := bounded(check.Requirement, mostText)
	if c.Passed.Left > 0 || !space.spend(len(id)+len(", ")) {
		c.Passed.Left++
		return
	}
	c.Passed.Entries = append(c.Passed.Entries, id)
}

func (c *cell) list(check reports.Check, found causes, space *room) {
	one := outcome{Requirement: bounded(check.Requirement, mostText), Outcome: string(knownOutcome(check.Outcome))}
	switch knownOutcome(check.Outcome) {
	case reports.Fail:
		one.Cause = found.at[[2]string{check.Requirement, check.Operation}]
		if len(check.Violations) > 0 {
			one.Why = bounded(check.Violations[0].Statement, mostText)
		}
	case reports.NotAssessed:
		one.Why = "lacks " + joinBounded(check.Missing[:min(len(check.Missing), 3)])
	case reports.ExpectedFailure:
		if check.Waiver != nil {
			one.Why = bounded("until "+check.Waiver.Expires+": "+check.Waiver.Reason, mostText)
		}
	case reports.Error:
		one.Why = "the harness or the connection failed: see the troubles"
	}
	if c.Left > 0 || !space.take(one.Requirement, one.Why) {
		c.Left++
		return
	}
	c.Listed = append(c.Listed, one)
}
