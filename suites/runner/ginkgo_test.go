package runner

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

// Without Ginkgo's report there are no results.
func TestResultsComeFromGinkgosReport(t *testing.T) {
	g := NewWithT(t)
	subject := embedded(t)
	env, err := NewEnv(Config{Target: subject, Seed: 1})
	g.Expect(err).NotTo(HaveOccurred())
	defer env.Client.Close()
	outcome, err := suites.Tree.Run(t.Context(), env, tree.Plan{Selects: func(s api.Spec) bool {
		return slices.ContainsFunc(s.Pairs, func(p spec.Pair) bool { return strings.HasPrefix(p.Requirement, "AUTH-") })
	}})
	g.Expect(err).NotTo(HaveOccurred())

	passed := func(report types.Report) int {
		ledger, err := tree.Evidence(report, spec.Pairs())
		g.Expect(err).NotTo(HaveOccurred())
		return reports.Count(ledger.Checks()).Pass
	}
	g.Expect(passed(outcome.Report)).To(BeNumerically(">=", 5*len(spec.Operations())))
	g.Expect(passed(types.Report{})).To(BeZero())
	for i := range outcome.Report.SpecReports {
		outcome.Report.SpecReports[i].ReportEntries = nil
	}
	g.Expect(passed(outcome.Report)).To(BeZero(), "specs that passed show nothing without their entries")
}

// What Ginkgo would end the process for is an error instead.
func TestWhatEndsGinkgoIsAnError(t *testing.T) {
	g := NewWithT(t)
	env, err := NewEnv(Config{Target: embedded(t), Seed: 1, Rules: &judge.Rules{}})
	g.Expect(err).NotTo(HaveOccurred())
	defer env.Client.Close()
	here, err := os.Getwd()
	g.Expect(err).NotTo(HaveOccurred())
	gone := filepath.Join(t.TempDir(), "gone")
	g.Expect(os.Mkdir(gone, 0o700)).To(Succeed())
	t.Chdir(gone)
	g.Expect(os.Remove(gone)).To(Succeed())
	_, err = suites.Tree.Run(t.Context(), env, tree.Plan{})
	g.Expect(err).To(MatchError(ContainSubstring("no working directory")))
	g.Expect(os.Chdir(here)).To(Succeed())
}

// A selection of the command line selects the specs of its pairs, and no spec that only observes.
func TestSelectionSelectsTheSpecsOfItsPairs(t *testing.T) {
	g := NewWithT(t)
	for _, s := range []Selection{
		{Operations: []string{"lead-*.list"}}, {Requirements: []string{"PAGE-WALK-*", "SORT-?SC"}}, {Requirements: []string{"SHAPE-LEAD-EMAIL-TYPE"}},
		{Groups: []string{"isolation"}}, {Profiles: []spec.Profile{spec.ProfileBilling}}, {Operations: []string{"leads.move"}, Groups: []string{"state", "[ai]*"}},
	} {
		pairs, err := s.Pairs()
		g.Expect(err).NotTo(HaveOccurred())
		selects, some := s.Plan(pairs).Selects, 0
		for _, one := range suites.Tree.Specs() {
			judges := slices.ContainsFunc(one.Pairs, func(p spec.Pair) bool { return slices.Contains(pairs, p) })
			g.Expect(selects(one)).To(Equal(judges), "%+v: %s", s, one.Name())
			if judges {
				some++
			}
		}
		g.Expect(some).To(And(BeNumerically(">", 0), BeNumerically("<", len(suites.Tree.Specs())/2)), "%+v", s)
	}
	g.Expect(Selection{}.Plan(spec.Pairs()).Selects).To(BeNil(), "everything")
}

// Ginkgo ends the process, without a word on the muted console, when go test repeats its
// tests. A run says so instead.
func TestRepeatedGoTestsAreRefused(t *testing.T) {
	g := NewWithT(t)
	count := flag.Lookup("test.count").Value
	before := count.String()
	g.Expect(flag.Set("test.count", "2")).To(Succeed())
	defer func() { _ = count.Set(before) }()
	_, err := Run(t.Context(), Config{Target: embedded(t), Seed: 1})
	g.Expect(err).To(MatchError(ContainSubstring("Ginkgo refuses to run there (leave the flags out)")))
}
