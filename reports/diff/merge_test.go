package diff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
)

// mergedCheck returns a mergedCheck of the operation with the outcome.
func mergedCheck(operation string, outcome reports.Outcome) reports.Check {
	c := reports.Check{Requirement: "SORT-DESC", Operation: operation, Group: "pages", Level: "stated", Outcome: outcome, Assessments: 2, Seconds: 1}
	switch outcome {
	case reports.Fail, reports.ExpectedFailure:
		c.Violations, c.ViolationCount = []reports.Violation{{Statement: "s", Section: "s", Pointer: "status", Expected: "200", Actual: "500"}}, 3
	case reports.NotAssessed:
		c.Missing = []string{"a row of " + operation}
	}
	if outcome == reports.ExpectedFailure {
		c.Waiver = &reports.Waiver{Reason: "known", Expires: "2026-12-31"}
	}
	return c
}

var runs = 0

// part returns the results of a run with these checks.
func part(checks ...reports.Check) diff.MergePart {
	runs++
	r := reports.Results{Version: reports.ModelVersion, Tool: reports.Tool{Name: "outreach-conformance", Version: "v1"},
		Target: reports.Target{Name: "server", Version: "1", Kind: "url", BaseURL: "http://127.0.0.1:8025"},
		Run: reports.Run{ID: fmt.Sprint("run ", runs), Started: time.Unix(int64(1000-runs), 0).UTC(), Seconds: 2, Seed: int64(runs), Profile: "full",
			Selection: fmt.Sprintf("--operation x%d", runs), Specs: 5},
		Checks:       checks,
		Observations: []reports.Observation{{OpenPoint: "SILENT-DIRECTION", Operation: "a.list", Value: "asc", Count: 1}},
		Traffic:      reports.Traffic{Requests: 10, Statuses: map[string]int{"200": 10}},
		Requests:     []reports.Requests{{Operation: "leads.move", Allowed: "200", Sent: 10, Accepted: 9}},
	}
	judge.Conclude(&r)
	return diff.MergePart{File: fmt.Sprintf("job-%d.json", runs), Results: r}
}

func merged(t *testing.T, parts ...diff.MergePart) (r reports.Results, contradictions []string) {
	t.Helper()
	r, err := diff.Merge(parts, judge.Minimum{})
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	body, err := jsonfile.Run.Encode(r)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = jsonfile.Run.Parse(body)
	g.Expect(err).NotTo(HaveOccurred())
	for _, reason := range r.Reasons {
		if strings.HasPrefix(reason, "contradiction: ") {
			contradictions = append(contradictions, reason)
		}
	}
	return r, contradictions
}

func TestPartsBecomeOneRun(t *testing.T) {
	g := NewWithT(t)
	a, b := part(mergedCheck(spec.ListPlacementTests, reports.Pass)), part(mergedCheck(spec.ListLeadLists, reports.Pass))
	r, contradictions := merged(t, a, b)
	g.Expect(contradictions).To(BeEmpty())
	g.Expect(r.Verdict).To(Equal(reports.Passed))
	g.Expect(r.Checks).To(HaveLen(2))
	g.Expect(r.Observations).To(ConsistOf(HaveField("Count", 2)))
	g.Expect(r.Traffic.Requests).To(Equal(20))
	g.Expect(r.Requests).To(Equal([]reports.Requests{{Operation: "leads.move", Allowed: "200", Sent: 20, Accepted: 18}}))
	g.Expect(r.Traffic.Statuses).To(Equal(map[string]int{"200": 20}))
	g.Expect(r.Run.Seconds).To(Equal(4.0))
	g.Expect(r.Run.Specs).To(Equal(10))
	g.Expect(r.Run.Started).To(Equal(b.Results.Run.Started), "the earliest")
	g.Expect(r.Run.Parts).To(HaveLen(2))
	g.Expect(r.Run.Parts[1].Seed).To(Equal(b.Results.Run.Seed))
	g.Expect(r.Run.Selection).To(Equal(a.Results.Run.Selection + " + " + b.Results.Run.Selection))
	g.Expect(r.Levels).NotTo(BeEmpty())
}

func TestAFailureWinsAndContradictionsAreReported(t *testing.T) {
	op := spec.ListPlacementTests
	for _, tc := range []struct {
		a, b, want     reports.Outcome
		verdict        reports.Verdict
		contradictions int
	}{
		{reports.Pass, reports.Pass, reports.Pass, reports.Passed, 0},
		{reports.Pass, reports.Fail, reports.Fail, reports.Failed, 1},
		{reports.Fail, reports.Fail, reports.Fail, reports.Failed, 0},
		{reports.NotAssessed, reports.Fail, reports.Fail, reports.Failed, 0},
		{reports.NotAssessed, reports.Pass, reports.Pass, reports.Passed, 0},
		{reports.NotAssessed, reports.NotAssessed, reports.NotAssessed, reports.Inconclusive, 0}, // one part judged nothing
		{reports.Error, reports.Pass, reports.Error, reports.Inconclusive, 0},
		{reports.ExpectedFailure, reports.Pass, reports.ExpectedFailure, reports.Passed, 1},
		{reports.ExpectedFailure, reports.Fail, reports.Fail, reports.Failed, 0},
	} {
		for _, pair := range [][2]reports.Outcome{{tc.a, tc.b}, {tc.b, tc.a}} {
			r, contradictions := merged(t, part(mergedCheck(op, pair[0]), mergedCheck(spec.ListLeadLists, reports.Pass)), part(mergedCheck(op, pair[1])))
			g := NewWithT(t)
			g.Expect(r.Checks[0].Outcome).To(Equal(tc.want), "%v", pair)
			g.Expect(r.Checks[0].Assessments).To(Equal(4))
			g.Expect(r.Verdict).To(Equal(tc.verdict), "%v", pair)
			g.Expect(contradictions).To(HaveLen(tc.contradictions), "%v", pair)
			if tc.contradictions > 0 {
				g.Expect(r.Reasons).To(ContainElement(MatchRegexp(`^contradiction: SORT-DESC on inbox-placement-tests.list passed in job-\d+.json and failed in job-\d+.json$`)))
			}
		}
	}
	flaky := mergedCheck(op, reports.ExpectedFailure)
	flaky.Waiver.Flaky = true
	_, contradictions := merged(t, part(flaky), part(mergedCheck(op, reports.Pass)))
	NewWithT(t).Expect(contradictions).To(BeEmpty(), "a flaky check may do both")

	one, other := part(flaky, mergedCheck(spec.ListLeadLists, reports.Pass)), part(flaky)
	one.Results.Flaky, other.Results.Flaky = &reports.Flaky{Failed: 1}, &reports.Flaky{Failed: 1}
	r, _ := merged(t, one, other)
	NewWithT(t).Expect(*r.Flaky).To(Equal(reports.Flaky{Failed: 1}), "one check, which both parts have")
}

func TestNoPassWithoutAWholePass(t *testing.T) {
	g := NewWithT(t)
	a, b := part(mergedCheck(spec.ListPlacementTests, reports.Pass)), part(mergedCheck(spec.ListLeadLists, reports.Pass))
	b.Results.Run.Interrupted = true
	r, _ := merged(t, a, b)
	g.Expect(r.Verdict).To(Equal(reports.Inconclusive))
	b.Results.Run.Interrupted = false
	b.Results.Troubles = []reports.Trouble{{Where: "x", What: "y"}}
	r, _ = merged(t, a, b)
	g.Expect(r.Verdict).To(Equal(reports.Inconclusive))
	r, err := diff.Merge([]diff.MergePart{a}, judge.Minimum{Assessed: 2})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Verdict).To(Equal(reports.Failed), "too little coverage")

	b.Results.Troubles = nil
	judge.Compared(&a.Results, []string{"no longer assessed: x"})
	judge.Compared(&b.Results, []string{"no longer assessed: x", "no longer assessed: y"})
	r, _ = merged(t, a, b)
	g.Expect(r.Verdict).To(Equal(reports.Failed), "worse than the baseline")
	g.Expect(r.Reasons).To(Equal([]string{"no longer assessed: x", "no longer assessed: y"}))
}

func TestOtherRunsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*reports.Results){
		`the target is "server" and "other"`:                                       func(r *reports.Results) { r.Target.Name = "other" },
		`the version of the target is "1" and "2"`:                                 func(r *reports.Results) { r.Target.Version = "2" },
		`the kind of target is "url" and "image"`:                                  func(r *reports.Results) { r.Target.Kind = "image" },
		`the address is "this machine" and "http`:                                  func(r *reports.Results) { r.Target.BaseURL = "http://staging.example" },
		`the version of the harness, and so of the specification is "v1" and "v2"`: func(r *reports.Results) { r.Tool.Version = "v2" },
		`the operations in the target profile is`:                                  func(r *reports.Results) { r.Run.Operations = []string{"a"} },
		`are the same run`:                                                         func(r *reports.Results) { r.Run.ID = "same" },
	} {
		a, b := part(mergedCheck(spec.ListPlacementTests, reports.Pass)), part(mergedCheck(spec.ListLeadLists, reports.Pass))
		parts := []diff.MergePart{a, b}
		if strings.Contains(want, "same run") {
			first := part(mergedCheck(spec.MoveLead, reports.Pass))
			a.Results.Run.ID = "same"
			parts = []diff.MergePart{first, a, b}
		}
		change(&parts[len(parts)-1].Results)
		_, err := diff.Merge(parts, judge.Minimum{})
		NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(want), HavePrefix(a.File+" and "+b.File))))
	}
	same := part(mergedCheck(spec.ListLeadLists, reports.Pass))
	same.Results.Target.BaseURL = "http://localhost:9000"
	_, err := diff.Merge([]diff.MergePart{part(mergedCheck(spec.ListPlacementTests, reports.Pass)), same}, judge.Minimum{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "each job has a loopback network of its own")
}

func TestPartsThatCoverTheCatalogueAreAFullRun(t *testing.T) {
	g := NewWithT(t)
	var checks []reports.Check
	for _, p := range spec.Pairs() {
		c := mergedCheck(p.Operation, reports.Pass)
		c.Requirement = p.Requirement
		checks = append(checks, c)
	}
	half := len(checks) / 2
	r, _ := merged(t, part(checks[:half]...), part(checks[half:]...))
	g.Expect(r.Run.Selection).To(BeEmpty())
	g.Expect(r.Run.Profile).To(Equal("full"))
	r, _ = merged(t, part(checks[:half]...), part(checks[half+1:]...))
	g.Expect(r.Run.Selection).NotTo(BeEmpty())
}
