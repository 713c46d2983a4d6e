package view

import (
	"fmt"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/summary"
)

// causes are the probable causes of the failures: first some in full, then others by
// name.
type causes struct {
	Total, Checks int
	Full          []cause
	Brief         listOf[cause]

	at map[[2]string]string // requirement and operation → anchor of the cause
}

// cause is one of them, with its first example.
type cause struct {
	Anchor      string
	Requirement string
	Operation   string
	Level       string
	Statement   string
	Section     string
	Place       string
	Expected    string
	Actual      string
	Seen        string // how often, of how many assessments
	Follows     string // what follows from it and is not counted
	Curl        string
	Request     *httpMessage
	Response    *httpMessage

	Checks int
	Others listOf[otherKind] // what else was seen
	Kinds  int               // of violations of the check that the example is from
}

// httpMessage is a request or a response.
type httpMessage struct {
	Line    string
	Headers []string
	Body    string
	Note    string // on the body
}

// otherKind is a further kind of violation in a cause.
type otherKind struct {
	Requirement, Operation  string
	Place, Expected, Actual string
	Count                   int // 0 if unknown
}

func causesOf(checks []reports.Check) causes {
	found := summary.Causes(checks)
	all := causes{Total: len(found), at: map[[2]string]string{}}
	space, others, brief := room(roomForCauses), room(roomForOthers), room(roomForDetails)
	for i, c := range found {
		all.Checks += len(c.Checks)
		one := causeOf(c, fmt.Sprintf("cause-%d", i+1), space > 0)
		switch {
		case space > 0 && space.take(one.texts()...):
			one.Others = othersOf(c, &others)
			all.Full = append(all.Full, one)
		case brief.take(one.Requirement, one.Operation, one.Statement):
			all.Brief.Entries = append(all.Brief.Entries, one)
		default:
			all.Brief.Left++
			one.Anchor = "causes"
		}
		for _, check := range c.Checks {
			all.at[[2]string{check.Requirement, check.Operation}] = one.Anchor
		}
	}
	return all
}

// causeOf returns a cause in full, or in brief.
func causeOf(c summary.Cause, anchor string, full bool) cause {
	check, v := c.Example()
	one := cause{
		Anchor: anchor, Requirement: bounded(check.Requirement, mostText), Operation: bounded(check.Operation, mostText),
		Statement: bounded(v.Statement, mostText), Checks: len(c.Checks),
	}
	if !full {
		return one
	}
	one.Level, one.Section, one.Seen, one.Follows = bounded(check.Level, mostText), bounded(v.Section, mostText), timesSeen(check), follows(check)
	one.Kinds = len(check.Violations)
	one.Place, one.Expected, one.Actual, one.Curl = placeOf(v), bounded(v.Expected, mostText), bounded(v.Actual, mostText), bounded(v.Curl, mostCommand)
	if e := v.Exchange; e != nil {
		one.Request = messageOf(e.Request, e.RequestBody)
		one.Response = messageOf(e.Response, v.Body)
	} else if v.Body != "" {
		one.Response = messageOf(reports.Head{}, v.Body)
	}
	return one
}

func messageOf(h reports.Head, body string) *httpMessage {
	m := &httpMessage{Line: bounded(h.Line, mostText), Body: boundedLines(body, mostBody)}
	for i, header := range h.Headers {
		if i == mostHeaders {
			m.Headers = append(m.Headers, fmt.Sprintf("… and %d more headers", len(h.Headers)-i))
			break
		}
		m.Headers = append(m.Headers, bounded(header, mostHead))
	}
	switch {
	case h.Bytes == 0 && body == "" && h.Line != "":
		m.Note = "no body"
	case h.Bytes > len(body) && len(body) >= reports.MaxBody/2: // ids are shortened
		m.Note = fmt.Sprintf("the bounded of a body of %s bytes", printable.Number(h.Bytes))
	}
	return m
}

// mostHeaders is how many headers of a message the page shows.
const mostHeaders = 20

// texts returns the texts of a cause, without its other checks.
func (c cause) texts() []string {
	all := []string{c.Requirement, c.Operation, c.Statement, c.Section, c.Place, c.Expected, c.Actual, c.Curl, c.Follows}
	for _, m := range []*httpMessage{c.Request, c.Response} {
		if m != nil {
			all = append(append(all, m.Headers...), m.Line, m.Body)
		}
	}
	return all
}

// othersOf returns the violations of a cause but the one that is shown in full.
func othersOf(c summary.Cause, space *room) listOf[otherKind] {
	of, example := c.Example()
	var others listOf[otherKind]
	for _, check := range c.Checks {
		for _, v := range check.Violations {
			if check.Requirement == of.Requirement && check.Operation == of.Operation && v == example {
				continue
			}
			one := otherKind{bounded(check.Requirement, mostText), bounded(check.Operation, mostText),
				placeOf(v), bounded(v.Expected, mostText), bounded(v.Actual, mostText), v.Count}
			if others.Left > 0 || !space.take(one.Requirement, one.Operation, one.Place, one.Expected, one.Actual) {
				others.Left++
				continue
			}
			others.Entries = append(others.Entries, one)
		}
	}
	return others
}

// placeOf returns which part of the response the violation is about.
func placeOf(v reports.Violation) string {
	v.Pointer = beginning(v.Pointer, mostText)
	return bounded(v.Place(), mostText)
}

// timesSeen says how often a check failed.
func timesSeen(c reports.Check) string {
	if c.ViolationCount == 0 {
		return ""
	}
	return fmt.Sprintf("%s× in %s", printable.Number(c.ViolationCount), printable.Counted(c.Assessments, "assessment"))
}

// follows says what follows from a violation and is counted nowhere else.
func follows(c reports.Check) string {
	total := 0
	for _, f := range c.Consequences {
		total += f.Count
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s follow from this, and are not counted.",
		printable.Counted(total, "violation"), printable.Counted(len(c.Consequences), "other check"))
}
