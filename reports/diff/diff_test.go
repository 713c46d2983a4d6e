package diff_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/schemas"
	"outreach.example/conformance/spec"
)

// check returns a check of the catalogue with the outcome.
func check(outcome reports.Outcome) reports.Check {
	c := reports.Check{Requirement: "SORT-DESC", Operation: spec.ListPlacementTests, Group: "pages", Level: "stated", Outcome: outcome, Assessments: 1}
	switch outcome {
	case reports.Fail, reports.ExpectedFailure:
		c.Violations, c.ViolationCount = []reports.Violation{{Statement: "s", Section: "s", Pointer: "status", Expected: "200", Actual: "500"}}, 1
	case reports.NotAssessed:
		c.Missing = []string{"a row"}
	}
	if outcome == reports.ExpectedFailure {
		c.Waiver = &reports.Waiver{Reason: "known", Expires: "2026-12-31"}
	}
	return c
}

// with returns results with one check that passes and these.
func with(checks ...reports.Check) reports.Results {
	always := check(reports.Pass) // of the operation whose observations are compared
	always.Requirement = "PAGE-ORDER"
	return reports.Results{Verdict: reports.Passed, Target: reports.Target{Name: "server", Kind: "embedded"}, Checks: append(checks, always)}
}

func compare(before, after reports.Results) diff.Part {
	return diff.Runs("old.json", before, "new.json", after)
}

func TestEachChangeOfAnOutcomeIsInItsList(t *testing.T) {
	const none = ""
	absent := reports.Outcome(diff.Absent)
	lists := func(p diff.Part) (all string) {
		for name, changes := range map[string][]diff.Change{"failing": p.NewlyFailing, "passing": p.NewlyPassing, "lost": p.LostCoverage, "other": p.Other} {
			if len(changes) > 0 {
				all += name
			}
		}
		return all
	}
	results := func(o reports.Outcome) reports.Results {
		if o == absent {
			return with()
		}
		return with(check(o))
	}
	for _, tc := range []struct {
		was, is reports.Outcome
		list    string
		outcome diff.Outcome
	}{
		{reports.Pass, reports.Pass, none, diff.Same},
		{reports.Fail, reports.Fail, none, diff.Same},
		{reports.NotAssessed, reports.NotAssessed, none, diff.Same},
		{reports.Pass, reports.Fail, "failing", diff.Worse},
		{reports.NotAssessed, reports.Fail, "failing", diff.Worse},
		{absent, reports.Fail, "failing", diff.Worse},
		{reports.Error, reports.Fail, "failing", diff.Worse},
		{reports.Fail, reports.Pass, "passing", diff.Different},
		{reports.ExpectedFailure, reports.Pass, "passing", diff.Different},
		{reports.Pass, reports.NotAssessed, "lost", diff.Worse},
		{reports.Pass, reports.Error, "lost", diff.Worse},
		{reports.Pass, absent, "lost", diff.Worse},
		{reports.Fail, reports.NotAssessed, "lost", diff.Worse},
		{reports.NotAssessed, reports.Pass, "other", diff.Different},
		{absent, reports.Pass, "other", diff.Different},
		{reports.Pass, reports.ExpectedFailure, "other", diff.Different},
		{reports.Fail, reports.ExpectedFailure, "other", diff.Different},
		{reports.ExpectedFailure, reports.Fail, "other", diff.Different},
		{reports.NotAssessed, reports.Error, none, diff.Same},
	} {
		p := compare(results(tc.was), results(tc.is))
		g, what := NewWithT(t), tc.was+" to "+tc.is
		g.Expect(lists(p)).To(Equal(tc.list), what)
		g.Expect(p.Outcome).To(Equal(tc.outcome), what)
		g.Expect(len(p.Reasons) > 0).To(Equal(tc.outcome == diff.Worse), what)
		g.Expect(tc.outcome.ExitCode()).To(Equal(map[diff.Outcome]int{diff.Worse: 1}[tc.outcome]))
	}

	// A requirement that the catalogue dropped is no lost coverage. The order makes no difference.
	g, gone := NewWithT(t), check(reports.Pass)
	gone.Requirement = "NO-LONGER-THERE"
	p := compare(with(gone), with())
	g.Expect(lists(p)).To(Equal("other"))
	g.Expect(p.Outcome).To(Equal(diff.Different))
	turned := sample.Full()
	slices.Reverse(turned.Checks)
	slices.Reverse(turned.Observations)
	g.Expect(compare(sample.Full(), turned).Outcome).To(Equal(diff.Same))
}

func TestNothingInCommonIsInconclusive(t *testing.T) {
	g := NewWithT(t)
	p := compare(sample.Empty(), sample.Empty())
	g.Expect(p.Outcome).To(Equal(diff.Inconclusive))
	g.Expect(p.Outcome.ExitCode()).To(Equal(3))
	g.Expect(p.Reasons).To(ConsistOf("the runs have assessed nothing in common"))
	g.Expect(diff.Join(reports.Tool{Name: "t"}, p, compare(with(), with())).Outcome).To(Equal(diff.Inconclusive))
	g.Expect(diff.Join(reports.Tool{Name: "t"}, p, compare(with(check(reports.Pass)), with(check(reports.Fail)))).Outcome).To(Equal(diff.Worse))
}

func TestSettingsThatDifferAreNoted(t *testing.T) {
	g := NewWithT(t)
	before, after := with(), with()
	before.Target = reports.Target{Name: "server", Version: "1.4.0", BaseURL: "http://a", Kind: "url"}
	after.Target = reports.Target{Name: "server", Version: "1.5.0", BaseURL: "http://b", Kind: "url"}
	after.Run.Selection, after.Run.Interrupted = "--operation x", true
	g.Expect(compare(before, after).Notes).To(ConsistOf("version of the target: was 1.4.0, is 1.5.0", "address: was http://a, is http://b",
		"selection: was (none), is --operation x", "the new run was interrupted"))
	before.Target.Kind, after.Target.Kind, after.Target.Version = "image", "image", "1.4.0"
	g.Expect(compare(before, after).Notes).To(HaveLen(2), "the port of a container is drawn")
}

func TestObservationsAreComparedByTheirForm(t *testing.T) {
	for _, tc := range []struct {
		openPoint, was, is string
		changed            bool
	}{
		{"SILENT-DIRECTION", "asc", "desc", true},
		{"SILENT-DEFAULT-LIMIT", "10 items", "20 items", true},
		{"SILENT-MESSAGES", "404: lead 01941f29-7c00-75a5-ad3c-4e22def4fc02", "404: lead 01941f29-7c00-75a5-ad3c-4e22def4fc03", false},
		{"SILENT-MESSAGES", "404: lead x", "404: row x", true},
		{"SILENT-RETRY-AFTER", `Retry-After: "1"`, `Retry-After: "17"`, false},
		{"SILENT-VISIBILITY", "a move: at once", "a move: within 500ms", false},
		{"SILENT-VISIBILITY", "a move: at once", "a deletion: at once", true},
	} {
		before, after := with(), with()
		before.Observations = []reports.Observation{{OpenPoint: tc.openPoint, Operation: spec.ListPlacementTests, Value: tc.was, Count: 1}}
		after.Observations = []reports.Observation{{OpenPoint: tc.openPoint, Operation: spec.ListPlacementTests, Value: tc.is, Count: 9}}
		p := compare(before, after)
		g := NewWithT(t)
		g.Expect(len(p.Observations) > 0).To(Equal(tc.changed), "%s and %s", tc.was, tc.is)
		g.Expect(p.Outcome.ExitCode()).To(Equal(0), "an observation judges nothing")
		g.Expect(p.Outcome == diff.Different).To(Equal(tc.changed))
	}
}

// A run with filters observes less.
func TestWhatOneRunCannotObserveIsNotCompared(t *testing.T) {
	g := NewWithT(t)
	before, after := with(), with()
	before.Observations = []reports.Observation{{OpenPoint: "SILENT-DIRECTION", Operation: spec.ListLeadLists, Value: "asc", Count: 1}, {OpenPoint: "SILENT-ESP-OPTIONS", Value: "200", Count: 1}}
	g.Expect(compare(before, after).Observations).To(ConsistOf(HaveField("OpenPoint", "SILENT-ESP-OPTIONS")))
	merged := after
	merged.Run.Parts = []reports.RunPart{{ID: "1", Profile: "full"}}
	g.Expect(compare(before, merged).Observations).To(BeEmpty())
	after.Run.Selection = "--group pages"
	g.Expect(compare(before, after).Observations).To(BeEmpty())
	after.Observations = []reports.Observation{{OpenPoint: "SILENT-ESP-OPTIONS", Value: "404", Count: 1}}
	g.Expect(compare(before, after).Observations).To(HaveLen(1))
}

func TestLoads(t *testing.T) {
	g := NewWithT(t)
	p := diff.Loads("a", sample.PassedLoad(), "b", sample.PassedLoad(), nil, nil)
	g.Expect(p.Outcome).To(Equal(diff.Same))
	failing := sample.PassedLoad()
	failing.Scenarios[0].Verdict, failing.Scenarios[0].Reasons = reports.Failed, []string{"p99 missed"}
	failing.Scenarios[0].Violations = []load.Violation{{Requirement: "STATUS-200", Operation: "a.list", Count: 1,
		Examples: []reports.Violation{{Pointer: "status", Expected: "200", Actual: "500"}}}}
	p = diff.Loads("a", sample.PassedLoad(), "b", failing, nil, nil)
	g.Expect(p.NewlyFailing).To(HaveLen(2))
	g.Expect(p.NewlyFailing[0].Why).To(Equal("p99 missed"))
	g.Expect(p.NewlyFailing[1].Why).To(ContainSubstring("expected 200, got 500"))
	g.Expect(diff.Loads("a", failing, "b", failing, nil, nil).Outcome).To(Equal(diff.Same))
	g.Expect(diff.Loads("a", failing, "b", sample.PassedLoad(), nil, nil).NewlyPassing).To(HaveLen(2))
	void := sample.PassedLoad()
	void.Scenarios[0].Verdict = reports.Inconclusive
	g.Expect(diff.Loads("a", sample.PassedLoad(), "b", void, nil, nil).LostCoverage).To(HaveLen(1))
	void.Scenarios = nil
	p = diff.Loads("a", sample.PassedLoad(), "b", void, nil, nil)
	g.Expect(p.LostCoverage).To(ConsistOf(HaveField("Why", "outside the selection of the new run")))

	figure := diff.Figure{Scenario: "s", Name: "response p99", Unit: "ms", Verdict: load.Worse}
	g.Expect(diff.Loads("a", sample.PassedLoad(), "b", sample.PassedLoad(), []diff.Figure{figure}, nil).Outcome).To(Equal(diff.Different), "only thresholds decide")
	for outcome, want := range map[load.Outcome]diff.Outcome{load.Met: diff.Same, load.Missed: diff.Worse, load.Inconclusive: diff.Inconclusive} {
		held := []diff.Threshold{{Scenario: "s", Text: "worse<5%", Outcome: outcome, Why: "w"}}
		g.Expect(diff.Loads("a", sample.PassedLoad(), "b", sample.PassedLoad(), nil, held).Outcome).To(Equal(want))
	}
}

func TestTheJSONFormFollowsItsSchema(t *testing.T) {
	g := NewWithT(t)
	schema, err := schemas.Compile(diff.Schema())
	g.Expect(err).NotTo(HaveOccurred())
	text, err := diff.Encode(diff.Join(reports.Tool{Name: "t"}, compare(sample.Passed(), sample.Full())))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(schema.Findings(text)).To(BeEmpty())
	g.Expect(schema.Findings(bytes.Replace(text, []byte(`"outcome"`), []byte(`"result"`), 1))).NotTo(BeEmpty())
}

// The reasons of a run that is worse than its baseline name the checks, and say why.
func TestRegressionsNameTheChecks(t *testing.T) {
	g := NewWithT(t)
	failed, passed := check(reports.Fail), check(reports.Pass)
	g.Expect(compare(with(passed), with(failed)).Regressions()).To(Equal([]string{
		"newly failing, unlike in the baseline old.json: SORT-DESC on inbox-placement-tests.list (at HTTP status: expected 200, got 500)"}))
	g.Expect(compare(with(failed), with(passed)).Regressions()).To(BeEmpty())

	var before, after []reports.Check
	for i, operation := range spec.Operations()[:8] {
		was, is := check(reports.Pass), check(reports.NotAssessed)
		was.Operation, is.Operation = operation.ID, operation.ID
		if i == 7 {
			is.Missing = []string{"a key"}
		}
		before, after = append(before, was), append(after, is)
	}
	g.Expect(compare(with(before...), with(after...)).Regressions()).To(HaveExactElements(
		MatchRegexp(`^no longer assessed, unlike in the baseline old.json: 8 checks: SORT-DESC on ([a-z.-]+, ){5}[a-z.-]+ and 2 more \(missing: a row\)$`)))

	before, after = nil, nil
	for i := range 16 {
		is := check(reports.NotAssessed)
		is.Requirement, is.Missing = fmt.Sprint("SORT-", i), []string{fmt.Sprint("row ", i)}
		was := is
		was.Outcome, was.Missing = reports.Pass, nil
		before, after = append(before, was), append(after, is)
	}
	all := compare(with(before...), with(after...)).Regressions()
	g.Expect(all).To(HaveLen(11))
	g.Expect(all[10]).To(Equal("no longer assessed, unlike in the baseline old.json: 6 more"))
}
