// Package tap shows the testcases of a run as TAP, the Test Anything Protocol, in
// version 13. It imports the list of testcases, and judges nothing.
package tap

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/junit"
)

// Write writes the testcases to w. A testcase that is skipped has the directive SKIP
// with its reason. One that is not ok has its message and its details as YAML.
func Write(w io.Writer, l junit.List) error {
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 13\n1..%d\n", len(l.Cases))
	for i, c := range l.Cases {
		line(&b, i+1, c)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func line(b *strings.Builder, number int, c junit.Testcase) {
	ok, directive := "ok", ""
	message, details := "", ""
	switch {
	case c.Failure != nil:
		ok, message, details = "not ok", c.Failure.Message, c.Failure.Text
	case c.Error != nil:
		ok, message, details = "not ok", c.Error.Message, c.Error.Text
	case c.Skipped != nil:
		directive = " # SKIP " + escaped(c.Skipped.Message)
	}
	fmt.Fprintf(b, "%s %d - %s%s\n", ok, number, escaped(c.Classname+": "+c.Name), directive)
	if ok != "ok" {
		fmt.Fprintf(b, "  ---\n  message: %s\n  severity: %s\n  data:\n    details: %s\n  ...\n", quoted(message), quoted(c.Status), quoted(details))
	}
}

// escaped returns text of one line, in which no character begins a directive.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(reports.Printable(s))
}

// quoted returns the text as a string of JSON, which is one of YAML too.
func quoted(s string) string {
	text, _ := json.Marshal(reports.PrintableLines(s)) // cannot fail: a string
	return string(text)
}
