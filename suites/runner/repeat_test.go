package runner

import (
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
)

const contentType = "CONTENT-TYPE"

// shouting declares no JSON in the responses of the operation with status 200 that fit.
func shouting(operation string, fits func(*http.Request) bool) roundTripper {
	return with(operation, func(answer *http.Response) {
		if answer.StatusCode == http.StatusOK && fits(answer.Request) {
			answer.Header.Set("Content-Type", "text/loud")
		}
	})
}

func all(*http.Request) bool { return true }

// A run with FailFast ends at its first failure, rolls back, and does not assess the
// rest. The failure may be that of a rule.
func TestFailFast(t *testing.T) {
	g, server := NewWithT(t), embedded(t)
	before := tests(t, server)
	results := judged(t, t.Context(), Config{Target: server, JournalDir: t.TempDir(), FailFast: true, Transport: shouting(spec.CreatePlacementTest, all)})
	g.Expect(results.Verdict).To(Equal(reports.Failed))
	g.Expect(of(results, reports.Fail)).To(Equal([]string{contentType + " on " + spec.CreatePlacementTest}))
	g.Expect(results.Troubles).To(BeEmpty())
	g.Expect(results.Run.Interrupted).To(BeFalse())
	g.Expect(results.Run.Specs).To(BeNumerically("<", len(suites.Tree.Specs())))
	g.Expect(results.Checks).To(ContainElement(HaveField("Missing", ContainElement(reports.NotReached))))
	g.Expect(tests(t, server)).To(ConsistOf(before))
}

// A failure that the profile expects does not end the run.
func TestFailFastObeysExpectedFailures(t *testing.T) {
	g := NewWithT(t)
	server := described(embedded(t), func(p *profile.Profile) {
		p.ExpectedFailures = []profile.ExpectedFailure{{Requirement: contentType, Operation: spec.ListLeadLists, Reason: "known", Expires: "2999-01-01"}}
	})
	results := judged(t, t.Context(), Config{Target: server, FailFast: true, Transport: shouting(spec.ListLeadLists, all), Selection: Selection{Operations: []string{spec.ListLeadLists}}})
	g.Expect(results.Verdict).To(Equal(reports.Passed), "%v", results.Reasons)
	g.Expect(of(results, reports.NotAssessed)).To(BeEmpty())
	g.Expect(results.ExpectedFailures).To(Equal(1))
}

// What failed is repeated by the specs that saw it fail: the spec of a rule would not
// see it.
func TestRepeatFailed(t *testing.T) {
	g := NewWithT(t)
	later := func(r *http.Request) bool { return r.URL.Query().Has("starting_after") }
	config := Config{Target: embedded(t), Transport: shouting(spec.ListLeadLists, later), Selection: Selection{Operations: []string{spec.ListLeadLists}}}
	first := judged(t, t.Context(), config)
	failed := []string{contentType + " on " + spec.ListLeadLists}
	g.Expect(of(first, reports.Fail)).To(Equal(failed))

	repeat, err := RepeatFailed("first.json", first)
	g.Expect(err).NotTo(HaveOccurred())
	config.Selection = Selection{Repeat: repeat}
	again := judged(t, t.Context(), config)
	g.Expect(of(again, reports.Fail)).To(Equal(failed))
	g.Expect(again.Checks).To(HaveLen(1))
	g.Expect(again.Run.Specs).To(BeNumerically("<", first.Run.Specs))
	g.Expect(again.Run.Selection).To(Equal("--only-failed first.json"))
	config.Transport = nil
	g.Expect(judged(t, t.Context(), config).Verdict).To(Equal(reports.Passed))
}

func TestRepeatFailedNeedsAFailureThatIsKnown(t *testing.T) {
	g := NewWithT(t)
	results := reports.Results{Verdict: reports.Inconclusive, Checks: []reports.Check{
		{Requirement: contentType, Operation: spec.ListLeadLists, Outcome: reports.Pass},
		{Requirement: contentType, Operation: spec.ListLeadLabels, Outcome: reports.ExpectedFailure},
	}}
	_, err := RepeatFailed("r.json", results)
	g.Expect(err).To(MatchError("r.json: no check failed or ended in an error, so there is nothing to repeat (verdict: inconclusive)"))
	results.Checks[0].Outcome = reports.Error
	repeat, err := RepeatFailed("r.json", results)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(repeat.Pairs).To(Equal([]spec.Pair{{Requirement: contentType, Operation: spec.ListLeadLists}}))
	results.Checks[1] = reports.Check{Requirement: "OF-ANOTHER-VERSION", Operation: spec.ListMembers, Outcome: reports.Fail}
	_, err = RepeatFailed("r.json", results)
	g.Expect(err).To(MatchError(ContainSubstring("this version has no check OF-ANOTHER-VERSION on workspace-members.list")))
}

// The results of a run that did not begin are valid, and say why.
func TestNotJudged(t *testing.T) {
	g := NewWithT(t)
	config := Config{Target: embedded(t), Selection: Selection{Groups: []string{"pages"}}, Version: "test", Seed: 1}
	results := NotJudged(config, time.Now(), Unjudged{Reason: "nobody is there", Missing: "a target that answers"})
	g.Expect(readable(results)).To(Succeed())
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(results.Reasons[0]).To(Equal("nobody is there"))
	g.Expect(results.Checks).To(HaveEach(And(HaveField("Outcome", reports.NotAssessed), HaveField("Missing", ConsistOf("a target that answers")))))
	config.Selection = Selection{Groups: []string{"rate"}, Requirements: []string{"PAGE-*"}}
	g.Expect(readable(NotJudged(config, time.Now(), Unjudged{Reason: "x", Missing: "x", Interrupted: true}))).To(Succeed(), "nothing is selected")
}
