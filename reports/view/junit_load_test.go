package view_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

// ofLoad writes the results and returns the testcases by class and name.
func ofLoad(t *testing.T, r load.Results) (suites, map[string]testcase) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "load-junit.xml")
	if err := view.Formats["junit"].Load.Write(path, r); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(body) || strings.ContainsAny(string(body), "\x1b\x00") {
		t.Fatal("the file holds what XML or a terminal cannot bear")
	}
	var s suites
	if err := xml.Unmarshal(body, &s); err != nil {
		t.Fatal(err)
	}
	named := map[string]testcase{}
	for _, c := range s.Suites[0].Cases {
		named[c.Class+" "+c.Name] = c
	}
	return s, named
}

func TestLoadHasATestcaseForEachScenarioAndThreshold(t *testing.T) {
	g := NewWithT(t)
	s, cases := ofLoad(t, sample.FullLoad())
	g.Expect(s.Suites[0].Tests).To(Equal(15), "the run, 6 scenarios, 5 thresholds, 3 figures of the comparison")
	g.Expect(cases["outreach-conformance run"].Failure.Text).To(ContainSubstring("because: walk: PAGE-WALK-01 is broken on campaigns.list"))
	g.Expect(cases["walk Many clients, each walking whole lists, every page checked."].Failure.Text).To(And(
		ContainSubstring("PAGE-WALK-01 on campaigns.list, seen 3 times"), ContainSubstring("repeat    curl")))
	g.Expect(cases["page-depth What page 1, 10, 100, … cost."]).To(Equal(testcase{Class: "page-depth", Name: "What page 1, 10, 100, … cost.", Time: 12}), "it passed")
	g.Expect(cases["list-throughput p99<250ms@500/s in 500/s"].Failure).NotTo(BeNil())
	g.Expect(cases["list-throughput p50<20ms@500/s in 500/s"]).To(Equal(testcase{Class: "list-throughput", Name: "p50<20ms@500/s in 500/s"}), "it is met")
	g.Expect(cases["soak errors<0.1%"].Skipped.Message).To(ContainSubstring("8,000 responses are too few; about 20,000 needed"))
	g.Expect(cases["comparison response p99"].Failure).NotTo(BeNil())
	g.Expect(cases["comparison failed"].Skipped).NotTo(BeNil())
}

func TestLoadIsNeverGreenAboutNothing(t *testing.T) {
	g := NewWithT(t)
	_, cases := ofLoad(t, sample.EmptyLoad())
	g.Expect(cases["outreach-conformance run"].Error.Message).To(ContainSubstring("cannot be reached"))

	passed := sample.PassedLoad()
	s, _ := ofLoad(t, passed)
	g.Expect(s.Suites[0].Failures + s.Suites[0].Errors).To(BeZero())

	lacking := load.Scenario{Name: "rate-limit", About: "It lacks a key.", Verdict: reports.Inconclusive, Missing: []string{"a key"}}
	passed.Scenarios = append(passed.Scenarios, lacking)
	s, cases = ofLoad(t, passed)
	g.Expect(s.Suites[0].Failures + s.Suites[0].Errors).To(BeZero())
	g.Expect(cases["rate-limit It lacks a key."].Skipped.Message).To(ContainSubstring("missing: a key"))

	passed.Scenarios = []load.Scenario{lacking}
	_, cases = ofLoad(t, passed)
	g.Expect(cases["outreach-conformance run"].Error.Message).To(ContainSubstring("no scenario passed"))

	interrupted := sample.PassedLoad()
	interrupted.Run.Interrupted, interrupted.Verdict = true, reports.Inconclusive
	_, cases = ofLoad(t, interrupted)
	g.Expect(cases["outreach-conformance run"].Error.Message).To(ContainSubstring("interrupted"))
}

func TestLoadOfAHostileTarget(t *testing.T) { ofLoad(t, hostileLoad()) }
