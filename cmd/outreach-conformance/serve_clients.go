package main

import (
	"fmt"
	"io"
	"strings"

	"outreach.example/conformance/fixtures/refserver/strict"
	"outreach.example/conformance/internal/printable"
)

// exitViolations is the exit code of a server whose clients broke the specification.
const exitViolations = 1

// endWithClients prints what clients sent that the specification does not allow, and returns an
// error with the exit code.
func endWithClients(w io.Writer, r strict.Report) error {
	code := 0
	if r.Violations > 0 {
		code = exitViolations
	}
	return end(code, nil, func(int) error {
		_, err := io.WriteString(w, clientSummary(r))
		return err
	})
}

// mostKinds is how many kinds of violations the summary shows.
const mostKinds = 20

// clientSummary returns one paragraph for each kind of violation, with its first request.
func clientSummary(r strict.Report) string {
	var b strings.Builder
	requests := printable.Counted(r.Requests, "request")
	switch {
	case r.Requests == 0:
		b.WriteString("clients  no requests came, so no client was judged\n")
	case r.Violations == 0:
		fmt.Fprintf(&b, "clients  %s; the specification allows all of them\n", requests)
	default:
		fmt.Fprintf(&b, "clients  %s with %s of the specification\n", requests, printable.Counted(r.Violations, "violation"))
	}
	for _, k := range r.Kinds[:min(len(r.Kinds), mostKinds)] {
		fmt.Fprintf(&b, "\n%s × %s  %s\n  %s\n  %s %s\n", printable.Number(k.Count), k.Rule, k.Operation, printable.Text(k.Message),
			printable.Text(k.Request.Method), printable.Text(k.Request.Target))
		if k.Request.Body != "" {
			fmt.Fprintf(&b, "  %s\n", printable.Text(k.Request.Body))
		}
	}
	if more := r.Kinds[min(len(r.Kinds), mostKinds):]; len(more) > 0 || r.LeftOut > 0 {
		left := r.LeftOut
		for _, k := range more {
			left += k.Count
		}
		fmt.Fprintf(&b, "\n%s of further kinds\n", printable.Counted(left, "violation"))
	}
	if r.CursorsForgotten {
		b.WriteString("\nPages returned so many cursors that not all of those sent were judged.\n")
	}
	return b.String()
}
