// Package gitlab shows results as a code quality report of GitLab, which merge requests
// display. A failure that the owner of the target expects is not in it.
//
// It imports the results models and their list of findings, and judges nothing.
package gitlab

import (
	"encoding/json"
	"io"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/findings"
	"outreach.example/conformance/reports/load"
)

// issue is an entry of the report. GitLab needs all of its members.
type issue struct {
	Description string   `json:"description"`
	CheckName   string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"` // info, minor, major, critical or blocker
	Location    location `json:"location"`
}

type location struct {
	Path  string `json:"path"` // of the operation in the API
	Lines lines  `json:"lines"`
}

type lines struct {
	Begin int `json:"begin"`
}

// Write writes the report of a run to w.
func Write(w io.Writer, r reports.Results) error { return write(w, findings.Of(r)) }

// WriteLoad is Write for the results of a load run.
func WriteLoad(w io.Writer, r load.Results) error { return write(w, findings.OfLoad(r)) }

func write(w io.Writer, all []findings.Finding) error {
	issues := []issue{}
	for _, f := range all {
		if f.Waiver == nil {
			issues = append(issues, issue{
				Description: f.Statement + " " + f.Message, CheckName: f.Rule, Fingerprint: f.Fingerprint(),
				Severity: "major", Location: location{Path: f.Path, Lines: lines{Begin: 1}},
			})
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(issues)
}
