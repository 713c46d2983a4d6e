package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
	"outreach.example/conformance/spec"
)

// Bounds of the page of a run. A browser opens such a page in less than a second.
const (
	maxFullCauses = 60    // with their exchanges
	maxListed     = 1_800 // checks that did not pass
	maxPassed     = 4_000 // checks that passed
)

var runTemplate = newTemplate("run.html")

func pageOfRun(w io.Writer, r reports.Results, _ Options) error {
	p := &runPage{Results: r, Grid: summary.GridOf(r.Checks), at: map[[2]string]string{}, listed: maxListed, passed: maxPassed}
	for i, c := range summary.Causes(r.Checks) {
		anchor := "causes"
		if i < maxFullCauses {
			anchor = fmt.Sprintf("cause-%d", i+1)
		}
		check, v := c.Example()
		p.Causes = append(p.Causes, pageCause{c, anchor, check, v})
		for _, check := range c.Checks {
			p.at[[2]string{check.Requirement, check.Operation}] = anchor
		}
	}
	for i, op := range p.Operations {
		row := gridRow{Operation: op}
		for j, group := range p.Groups {
			cell := p.cellOf(p.Cells[[2]string{op, group}])
			cell.Anchor, cell.Operation, cell.Group = fmt.Sprintf("cell-%d-%d", i+1, j+1), op, group
			row.Cells = append(row.Cells, cell)
		}
		p.Rows = append(p.Rows, row)
	}
	return showPage(w, runTemplate, p)
}

// runPage is what the template shows.
type runPage struct {
	reports.Results
	summary.Grid
	Rows   []gridRow
	Causes []pageCause

	at             map[[2]string]string // requirement and operation → anchor of the cause
	listed, passed int                  // checks that still fit
}

// pageCause is a cause with its first example.
type pageCause struct {
	summary.Cause
	Anchor  string
	Check   reports.Check
	Example reports.Violation
}

// Others returns the kinds of violations of the cause but that of the example.
func (c pageCause) Others() (all []summary.Kind) {
	for _, f := range c.Failures() {
		for _, k := range f.Kinds {
			if k.Check.Requirement != c.Check.Requirement || k.Kind() != c.Example.Kind() {
				all = append(all, k)
			} else if k.Operations = slices.DeleteFunc(k.Operations, func(op string) bool { return op == c.Check.Operation }); len(k.Operations) > 0 {
				all = append(all, k)
			}
		}
	}
	return all
}

type gridRow struct {
	Operation string
	Cells     []gridCell // one for each group
}

// gridCell are the checks of one operation and one group.
type gridCell struct {
	Anchor, Operation, Group string
	Outcome                  reports.Outcome // the worst; "" without a check
	Has                      string          // all outcomes, as classes
	Mark                     string          // sign of the worst, and the number of checks with it
	Said                     string          // the outcomes in words
	Listed                   []listedCheck   // those that did not pass
	Passed                   []string
	Left, LeftPassed         int // checks that do not fit
}

// listedCheck is a check that did not pass.
type listedCheck struct {
	reports.Check
	Cause string
}

// outcomeSigns are the outcomes from the worst, with a sign for each.
var outcomeSigns = []struct {
	outcome    reports.Outcome
	sign, what string
}{
	{reports.Fail, "✗", "failed"}, {reports.Error, "!", "in error"}, {reports.NotAssessed, "?", "not assessed"},
	{reports.ExpectedFailure, "~", "failed as expected"}, {reports.Pass, "✓", "passed"},
}

func (p *runPage) cellOf(checks []reports.Check) (c gridCell) {
	n := map[reports.Outcome]int{}
	for _, check := range checks {
		n[check.Outcome]++
		switch {
		case check.Outcome != reports.Pass && p.listed > 0:
			p.listed--
			c.Listed = append(c.Listed, listedCheck{check, p.at[[2]string{check.Requirement, check.Operation}]})
		case check.Outcome != reports.Pass:
			c.Left++
		case p.passed > 0:
			p.passed--
			c.Passed = append(c.Passed, check.Requirement)
		default:
			c.LeftPassed++
		}
	}
	var said []string
	for _, s := range outcomeSigns {
		if n[s.outcome] == 0 {
			continue
		}
		if c.Outcome == "" {
			c.Outcome, c.Mark = s.outcome, s.sign+" "+printable.Number(n[s.outcome])
		}
		said = append(said, printable.Number(n[s.outcome])+" "+s.what)
		c.Has += " has-" + string(s.outcome)
	}
	c.Said = strings.Join(said, ", ")
	return c
}

// bodyNote says how a body differs from what is shown of it.
func bodyNote(h reports.Head, body string) string {
	switch {
	case h.Bytes == 0 && body == "" && h.Line != "":
		return "no body"
	case h.Bytes > len(body) && len(body) >= reports.MaxBody/2: // ids are shortened
		return fmt.Sprintf("the beginning of a body of %s bytes", printable.Number(h.Bytes))
	}
	return ""
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
}

type acceptedRow struct {
	Operation string
	Cells     []acceptedCell
}

type acceptedCell struct {
	Sent, Accepted int
	Odd            bool // valid requests that were not accepted, or others that were
}

// valid is what the specification allows for a valid request.
const valid = "200"

func acceptedOf(all []reports.Requests) (t accepted) {
	var operations []string
	at := map[[2]string]acceptedCell{}
	for _, n := range all {
		t.Kinds, operations = append(t.Kinds, n.Allowed), append(operations, n.Operation)
		key := [2]string{n.Operation, n.Allowed}
		c := at[key]
		c.Sent, c.Accepted = c.Sent+n.Sent, c.Accepted+n.Accepted
		served := strings.Contains(n.Allowed, valid)
		c.Odd = n.Allowed == valid && c.Accepted < c.Sent || !served && c.Accepted > 0
		at[key] = c
	}
	t.Kinds = summary.InOrder(t.Kinds, []string{valid})
	for _, op := range summary.InOrder(operations, spec.OperationIDs()) {
		row := acceptedRow{Operation: op}
		for _, k := range t.Kinds {
			row.Cells = append(row.Cells, at[[2]string{op, k}])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// difference is an expected and an actual text: what both begin and end with, and what
// differs.
type difference struct{ Before, Expected, Actual, After string }

// differ compares two printable texts by word. Texts with little in common differ as a
// whole.
func differ(expected, actual string) difference {
	a, b := wordsOf(expected), wordsOf(actual)
	before, after := 0, 0
	for before < min(len(a), len(b)) && a[before] == b[before] {
		before++
	}
	for after < min(len(a), len(b))-before && a[len(a)-1-after] == b[len(b)-1-after] {
		after++
	}
	if 3*(before+after) < max(len(a), len(b)) {
		before, after = 0, 0
	}
	text := func(words []string) string { return strings.Join(words, "") }
	return difference{text(a[:before]), text(a[before : len(a)-after]), text(b[before : len(b)-after]), text(a[len(a)-after:])}
}

// wordsOf splits a text behind its spaces and punctuation.
func wordsOf(text string) []string {
	var all []string
	start := 0
	for i, r := range text {
		if strings.ContainsRune(` ,:;"{}[]/`, r) {
			all = append(all, text[start:i], text[i:i+1])
			start = i + 1
		}
	}
	return append(all, text[start:])
}
