package gitlab_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/gitlab"
	"outreach.example/conformance/reports/internal/loadsample"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/schemas/schematest"
)

// schema says what GitLab needs: it ignores a report in which a member is missing.
const schema = `{
 "type": "array",
 "items": {
  "type": "object",
  "required": ["description", "check_name", "fingerprint", "severity", "location"],
  "properties": {
   "description": {"type": "string", "minLength": 1},
   "check_name": {"type": "string", "minLength": 1},
   "fingerprint": {"type": "string", "minLength": 1},
   "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
   "location": {
    "type": "object",
    "required": ["path", "lines"],
    "properties": {
     "path": {"type": "string", "pattern": "^[^./][^:*?\"<>|]*$"},
     "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}}
    }
   }
  }
 }
}`

type issue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Location    struct {
		Path string `json:"path"`
	} `json:"location"`
}

type fataler interface{ Fatalf(string, ...any) }

func written(t fataler, r reports.Results) ([]byte, []issue) {
	var b bytes.Buffer
	var issues []issue
	if err := gitlab.Write(&b, r); err != nil {
		t.Fatalf("%v", err)
	}
	if err := json.Unmarshal(b.Bytes(), &issues); err != nil {
		t.Fatalf("%v", err)
	}
	return b.Bytes(), issues
}

func TestReportsHaveWhatGitLabNeeds(t *testing.T) {
	s := schematest.Compiled(t, []byte(schema))
	rapid.Check(t, func(t *rapid.T) {
		text, issues := written(t, sample.Random(t))
		if found := schematest.Findings(t, s, text); len(found) > 0 {
			t.Fatalf("%v", found)
		}
		for _, i := range issues {
			if strings.ContainsFunc(i.Description, unicode.IsControl) {
				t.Fatalf("control characters in %q", i.Description)
			}
		}
	})
	text, _ := written(t, sample.Full())
	g := NewWithT(t)
	g.Expect(schematest.Findings(t, s, bytes.Replace(text, []byte("fingerprint"), []byte("finger"), 1))).NotTo(BeEmpty(), "the schema can fail")
	var b bytes.Buffer
	g.Expect(gitlab.WriteLoad(&b, loadsample.Full())).To(Succeed())
	g.Expect(schematest.Findings(t, s, b.Bytes())).To(BeEmpty())
	g.Expect(b.String()).To(ContainSubstring(`"THRESHOLD"`))
}

func TestIssuesAreTheFailedChecks(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	_, issues := written(t, r)
	g.Expect(issues).To(HaveLen(reports.Count(r.Checks).Fail))
	seen := map[string]bool{}
	for _, i := range issues {
		g.Expect(seen[i.Fingerprint]).To(BeFalse(), "%s occurs twice", i.Fingerprint)
		seen[i.Fingerprint] = true
	}
	_, again := written(t, r)
	g.Expect(again).To(Equal(issues), "fingerprints are stable")

	for i := range r.Checks {
		if r.Checks[i].Outcome == reports.Fail {
			r.Checks[i].Outcome, r.Checks[i].Waiver = reports.ExpectedFailure, &reports.Waiver{Reason: "known", Expires: "2026-12-31"}
		}
	}
	r.Verdict = reports.Passed
	_, issues = written(t, r)
	g.Expect(issues).To(BeEmpty())
}

func TestAnInconclusiveRunIsAnIssue(t *testing.T) {
	g := NewWithT(t)
	_, issues := written(t, sample.Empty())
	g.Expect(issues).To(HaveLen(1))
	g.Expect(issues[0].CheckName).To(Equal("VERDICT"))
	g.Expect(issues[0].Description).To(ContainSubstring("INCONCLUSIVE: no response"))
	_, issues = written(t, sample.Passed())
	g.Expect(issues).To(BeEmpty())
}
