package view_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/schemas/schematest"
)

// gitlabSchema says what GitLab needs: it ignores a report in which a member is missing.
//
//go:embed testdata/gitlab-schema.json
var gitlabSchema []byte

type issue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Location    struct {
		Path string `json:"path"`
	} `json:"location"`
}

func quality(t testing.TB, r reports.Results) ([]byte, []issue) {
	var b bytes.Buffer
	var issues []issue
	if err := view.Formats["gitlab"].Run(&b, r, view.Options{}); err != nil {
		t.Fatalf("%v", err)
	}
	if err := json.Unmarshal(b.Bytes(), &issues); err != nil {
		t.Fatalf("%v", err)
	}
	return b.Bytes(), issues
}

func TestReportsHaveWhatGitLabNeeds(t *testing.T) {
	s := schematest.Compiled(t, gitlabSchema)
	text, _ := quality(t, sample.Full())
	g := NewWithT(t)
	g.Expect(schematest.Findings(t, s, text)).To(BeEmpty())
	g.Expect(schematest.Findings(t, s, bytes.Replace(text, []byte("fingerprint"), []byte("finger"), 1))).NotTo(BeEmpty(), "the schema can fail")
	var b bytes.Buffer
	g.Expect(view.Formats["gitlab"].Load(&b, sample.FullLoad(), view.Options{})).To(Succeed())
	g.Expect(schematest.Findings(t, s, b.Bytes())).To(BeEmpty())
	g.Expect(b.String()).To(ContainSubstring(`"THRESHOLD"`))
}

func TestIssuesAreTheFailedChecks(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	_, issues := quality(t, r)
	g.Expect(issues).To(HaveLen(reports.Count(r.Checks).Fail))
	seen := map[string]bool{}
	for _, i := range issues {
		g.Expect(seen[i.Fingerprint]).To(BeFalse(), "%s occurs twice", i.Fingerprint)
		seen[i.Fingerprint] = true
	}
	_, again := quality(t, r)
	g.Expect(again).To(Equal(issues), "fingerprints are stable")

	for i := range r.Checks {
		if r.Checks[i].Outcome == reports.Fail {
			r.Checks[i].Outcome, r.Checks[i].Waiver = reports.ExpectedFailure, &reports.Waiver{Reason: "known", Expires: "2026-12-31"}
		}
	}
	r.Verdict = reports.Passed
	_, issues = quality(t, r)
	g.Expect(issues).To(BeEmpty())
}

func TestAnInconclusiveRunIsAnIssue(t *testing.T) {
	g := NewWithT(t)
	_, issues := quality(t, sample.Empty())
	g.Expect(issues).To(HaveLen(1))
	g.Expect(issues[0].CheckName).To(Equal("VERDICT"))
	g.Expect(issues[0].Description).To(ContainSubstring("INCONCLUSIVE: no response"))
	_, issues = quality(t, sample.Passed())
	g.Expect(issues).To(BeEmpty())
}
