package ctrf_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports/ctrf"
	"outreach.example/conformance/reports/internal/loadsample"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/junit"
	"outreach.example/conformance/schemas/schematest"
)

// schema is that of CTRF, with its licence beside it.
func schema(t *testing.T) *gojsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/ctrf.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schematest.Compiled(t, text)
}

type report struct {
	Results struct {
		Summary struct{ Tests, Passed, Failed, Skipped, Other int }
		Tests   []struct {
			Name, Status, Message, Trace string
			Suite                        []string
		}
	}
}

func written(t fataler, l junit.List) ([]byte, report) {
	var b bytes.Buffer
	if err := ctrf.Write(&b, l); err != nil {
		t.Fatalf("%v", err)
	}
	var r report
	if err := json.Unmarshal(b.Bytes(), &r); err != nil {
		t.Fatalf("%v", err)
	}
	return b.Bytes(), r
}

type fataler interface{ Fatalf(string, ...any) }

func TestReportsFollowTheSchemaOfCTRF(t *testing.T) {
	s := schema(t)
	for name, l := range map[string]junit.List{
		"full": junit.Cases(sample.Full()), "passed": junit.Cases(sample.Passed()), "empty": junit.Cases(sample.Empty()),
		"load": junit.LoadCases(loadsample.Full()), "empty load": junit.LoadCases(loadsample.Empty()),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			text, r := written(t, l)
			g.Expect(schematest.Findings(t, s, text)).To(BeEmpty())
			g.Expect(r.Results.Tests).To(HaveLen(len(l.Cases)))
			sum := r.Results.Summary
			g.Expect(sum.Passed + sum.Failed + sum.Skipped + sum.Other).To(Equal(sum.Tests))
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		text, _ := written(t, junit.Cases(sample.Random(t)))
		if found := schematest.Findings(t, s, text); len(found) > 0 {
			t.Fatalf("%v", found)
		}
	})
}

// The schema of CTRF finds mistakes: a report without a status is one.
func TestTheSchemaCanFail(t *testing.T) {
	text, _ := written(t, junit.Cases(sample.Passed()))
	wrong := bytes.Replace(text, []byte(`"status"`), []byte(`"state"`), 1)
	NewWithT(t).Expect(schematest.Findings(t, schema(t), wrong)).NotTo(BeEmpty())
}

func TestARunThatJudgedNothingIsNoPass(t *testing.T) {
	g := NewWithT(t)
	_, r := written(t, junit.Cases(sample.Empty()))
	g.Expect(r.Results.Tests).To(HaveLen(1))
	g.Expect(r.Results.Tests[0].Status).To(Equal("failed"))
	g.Expect(r.Results.Tests[0].Message).To(ContainSubstring("connection refused"))
	_, r = written(t, junit.Cases(sample.Full()))
	g.Expect(r.Results.Summary.Failed).To(BeNumerically(">", 1))
	g.Expect(r.Results.Summary.Skipped).To(BeNumerically(">", 0))
}
