package view_test

import (
	"bytes"
	"encoding/json"
	"os"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/schemas/schematest"
)

// sarifSchema is that of OASIS, which testdata/NOTICE is about.
var sarifSchema = sync.OnceValue(func() *gojsonschema.Schema {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		panic(err)
	}
	s, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	if err != nil {
		panic(err)
	}
	return s
})

// log is the part of a log that viewers show.
type log struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID string `json:"id"`
				} `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Invocations []struct {
			Successful bool `json:"executionSuccessful"`
			ExitCode   int  `json:"exitCode"`
		} `json:"invocations"`
		Results []found `json:"results"`
	} `json:"runs"`
}

type found struct {
	RuleID    string `json:"ruleId"`
	RuleIndex int    `json:"ruleIndex"`
	Message   struct {
		Text string `json:"text"`
	} `json:"message"`
	Locations []struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
	} `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Suppressions []struct {
		Justification string `json:"justification"`
	} `json:"suppressions"`
}

// read reads a log that follows the schema of SARIF 2.1.0.
func read(t testing.TB, text []byte) log {
	if wrong := schematest.Findings(t, sarifSchema(), text); len(wrong) > 0 {
		t.Fatalf("%v", wrong)
	}
	var l log
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatalf("%v", err)
	}
	return l
}

func sarifWritten(t testing.TB, r reports.Results) log {
	var b bytes.Buffer
	if err := view.Formats["sarif"].Run(&b, r, view.Options{ExitCode: r.ExitCode()}); err != nil {
		t.Fatalf("%v", err)
	}
	return read(t, b.Bytes())
}

func TestLogsFollowTheSchema(t *testing.T) {
	for _, r := range []reports.Results{sample.Full(), sample.Passed(), sample.Empty()} {
		sarifWritten(t, r)
	}
	for _, r := range []load.Results{sample.FullLoad(), sample.PassedLoad(), sample.EmptyLoad()} {
		var b bytes.Buffer
		NewWithT(t).Expect(view.Formats["sarif"].Load(&b, r, view.Options{ExitCode: r.ExitCode()})).To(Succeed())
		read(t, b.Bytes())
	}
}

func TestTheSchemaCanFail(t *testing.T) {
	var b bytes.Buffer
	g := NewWithT(t)
	g.Expect(view.Formats["sarif"].Run(&b, sample.Full(), view.Options{ExitCode: 1})).To(Succeed())
	wrong := bytes.Replace(b.Bytes(), []byte(`"level": "error"`), []byte(`"level": "dire"`), 1)
	g.Expect(schematest.Findings(t, sarifSchema(), wrong)).NotTo(BeEmpty())
	wrong = bytes.Replace(b.Bytes(), []byte(`"ruleIndex"`), []byte(`"index of the rule"`), 1)
	g.Expect(schematest.Findings(t, sarifSchema(), wrong)).NotTo(BeEmpty())
}

func TestResultsAreTheFailedChecks(t *testing.T) {
	g := NewWithT(t)
	r := sample.Full()
	failed := reports.Count(r.Checks).Fail
	run := sarifWritten(t, r).Runs[0]
	g.Expect(run.Results).To(HaveLen(failed))
	rules := run.Tool.Driver.Rules
	for _, found := range run.Results {
		g.Expect(rules[found.RuleIndex].ID).To(Equal(found.RuleID))
		g.Expect(found.Locations[0].Physical.Artifact.URI).NotTo(BeEmpty())
		g.Expect(found.Fingerprints).To(HaveLen(1))
	}
	g.Expect(run.Results[0].Message.Text).To(MatchRegexp(`at .*: expected .*, got .*\nrepeat: curl`))
	g.Expect(run.Invocations[0].ExitCode).To(Equal(1))

	for i := range r.Checks {
		if r.Checks[i].Outcome == reports.Fail {
			r.Checks[i].Outcome, r.Checks[i].Waiver = reports.ExpectedFailure, &reports.Waiver{Reason: "known", Link: "https://bugs.example/7", Expires: "2026-12-31"}
		}
	}
	for _, found := range sarifWritten(t, r).Runs[0].Results {
		if found.RuleID != "VERDICT" {
			g.Expect(found.Suppressions).To(HaveLen(1))
			g.Expect(found.Suppressions[0].Justification).To(Equal("known https://bugs.example/7 (until 2026-12-31)"))
		}
	}
}

func TestAnInconclusiveRunIsAResult(t *testing.T) {
	g := NewWithT(t)
	run := sarifWritten(t, sample.Empty()).Runs[0]
	g.Expect(run.Results).To(HaveLen(1))
	g.Expect(run.Results[0].RuleID).To(Equal("VERDICT"))
	g.Expect(run.Invocations[0].Successful).To(BeFalse())
	g.Expect(sarifWritten(t, sample.Passed()).Runs[0].Results).To(BeEmpty())
}
