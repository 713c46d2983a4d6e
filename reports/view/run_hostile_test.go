package view_test

import (
	"fmt"
	"strings"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/spec"
)

// attack is a text that a hostile target may send: markup, a script, control characters,
// terminal sequences, bidirectional marks, and invalid UTF-8.
const attack = "</script><script>evil()</script><img src=//evil.example onerror=evil()>\x1b[31m\u202e\u2066abc\u200b\x00\xff&\"'`{{.}}"

// hostile returns results with so many requirements, and so many failed checks with an
// exchange each, whose texts a target wrote. They are as long as a run keeps them, and in a
// few checks as long as a target likes.
func hostile(requirements, exchanges int) reports.Results {
	r := sample.Full()
	r.Checks, r.Levels = nil, nil
	endless, long := violation(8<<20), violation(2000)
	operations := spec.Operations()
	for i := range max(requirements, exchanges) {
		group := spec.Groups()[i%len(spec.Groups())]
		check := reports.Check{
			Requirement: fmt.Sprintf("HOSTILE-%d", i%requirements), Operation: operations[i/requirements%len(operations)].ID,
			Group: string(group), Level: "stated", Outcome: reports.Pass, Assessments: 1,
		}
		if i < exchanges {
			check.Outcome, check.ViolationCount = reports.Fail, 3
			check.Violations = []reports.Violation{long}
			if i%5000 == 0 {
				check.Violations[0] = endless
			}
		}
		r.Checks = append(r.Checks, check)
	}
	for i := range r.Observations {
		r.Observations[i].Value = fmt.Sprint(long.Body, i)
	}
	for i := range 1000 {
		r.Troubles = append(r.Troubles, reports.Trouble{Where: long.Body, What: fmt.Sprint(i, long.Body)})
	}
	r.Target.Name, r.Target.BaseURL, r.Reasons = long.Body, "https://user:secret@evil.example/"+attack, []string{endless.Body}
	r.Run.Time = &reports.Time{Judging: time.Minute.Seconds()}
	return r
}

// violation returns one with texts of so many bytes.
func violation(size int) reports.Violation {
	long := attack + strings.Repeat("w", size)
	headers := make([]string, reports.MaxHeaders)
	for i := range headers {
		headers[i] = fmt.Sprintf("X-%d: %s", i, long[:min(len(long), reports.MaxHeader/2)])
	}
	return reports.Violation{
		Statement: "The server sends nothing of its own.", Section: "Errors", Pointer: "/" + long, Expected: "nothing", Actual: long,
		Curl: "curl " + long, Body: long, Exchange: &reports.Exchange{
			Request: reports.Head{Line: "GET " + long, Headers: headers, Bytes: 8 << 20}, RequestBody: long,
			Response: reports.Head{Line: "200 " + long, Headers: headers, Bytes: 8 << 20},
		},
	}
}
