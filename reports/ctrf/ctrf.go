// Package ctrf shows the testcases of a run in the Common Test Report Format (CTRF). It
// imports the list of testcases, and judges nothing.
package ctrf

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/junit"
)

type document struct {
	ReportFormat string  `json:"reportFormat"`
	SpecVersion  string  `json:"specVersion"`
	GeneratedBy  string  `json:"generatedBy"`
	Results      results `json:"results"`
}

type results struct {
	Tool        tool              `json:"tool"`
	Summary     summary           `json:"summary"`
	Tests       []test            `json:"tests"`
	Environment map[string]string `json:"environment,omitempty"`
}

type tool struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type summary struct {
	Tests    int   `json:"tests"`
	Passed   int   `json:"passed"`
	Failed   int   `json:"failed"`
	Skipped  int   `json:"skipped"`
	Pending  int   `json:"pending"`
	Other    int   `json:"other"`
	Start    int64 `json:"start"` // milliseconds since the epoch
	Stop     int64 `json:"stop"`
	Duration int64 `json:"duration"`
}

type test struct {
	Name      string   `json:"name"`
	Status    string   `json:"status"`
	RawStatus string   `json:"rawStatus,omitempty"`
	Duration  int64    `json:"duration"` // in milliseconds
	Suite     []string `json:"suite,omitempty"`
	Message   string   `json:"message,omitempty"`
	Trace     string   `json:"trace,omitempty"`
}

// Write writes the report of the testcases to w. An error of the harness has the status
// other, but that of the run has the status failed: no reader may take it for a pass.
func Write(w io.Writer, l junit.List) error {
	duration := time.Duration(l.Seconds * float64(time.Second)).Milliseconds()
	r := results{
		Tool:    tool{cmp.Or(reports.Printable(l.Tool.Name), reports.ToolName), reports.Printable(l.Tool.Version)},
		Summary: summary{Tests: len(l.Cases), Start: l.Started.UnixMilli(), Stop: l.Started.UnixMilli() + duration, Duration: duration},
		Tests:   []test{},
	}
	if l.Target.Name != "" {
		r.Environment = map[string]string{"appName": reports.Printable(l.Target.Name)}
		if l.Target.Version != "" {
			r.Environment["appVersion"] = reports.Printable(l.Target.Version)
		}
	}
	for i, c := range l.Cases {
		t := testOf(c)
		if t.Status == "other" && i == 0 {
			t.Status = "failed"
		}
		switch t.Status {
		case "passed":
			r.Summary.Passed++
		case "failed":
			r.Summary.Failed++
		case "skipped":
			r.Summary.Skipped++
		default:
			r.Summary.Other++
		}
		r.Tests = append(r.Tests, t)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(document{ReportFormat: "CTRF", SpecVersion: "1.0.0", GeneratedBy: reports.ToolName, Results: r})
}

func testOf(c junit.Testcase) test {
	t := test{Name: cmp.Or(c.Name, "(without a name)"), Status: "passed", RawStatus: c.Status, Duration: int64(c.Time * 1000)}
	if c.Classname != "" {
		t.Suite = []string{c.Classname}
	}
	switch {
	case c.Failure != nil:
		t.Status, t.Message, t.Trace = "failed", c.Failure.Message, c.Failure.Text
	case c.Error != nil:
		t.Status, t.Message, t.Trace = "other", c.Error.Message, c.Error.Text
	case c.Skipped != nil:
		t.Status, t.Message = "skipped", c.Skipped.Message
	}
	return t
}
