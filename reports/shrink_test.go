package reports_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
)

// Results shrink step by step until they fit, and each failed check keeps a violation.
func TestShrink(t *testing.T) {
	g := NewWithT(t)
	v := reports.Violation{Statement: "s", Section: "s", Pointer: "status", Expected: "200", Actual: "500", Curl: "curl", Body: "{}", Exchange: &reports.Exchange{}}
	whole := reports.Results{Checks: []reports.Check{{Outcome: reports.Fail, ViolationCount: 9, Violations: slices.Repeat([]reports.Violation{v}, 3)}}}
	for refusals, want := range []string{
		"curl {}+ curl {}+ curl {}+", "curl {}+ curl + curl +", "curl {} curl  curl ", "curl  curl  curl ", "curl     ", "curl ", " ", " ",
	} {
		asked := 0
		shrunk := reports.Shrink(whole, func(reports.Results) bool {
			asked++
			return asked > refusals
		})
		var shown []string
		for _, v := range shrunk.Checks[0].Violations {
			exchange := ""
			if v.Exchange != nil {
				exchange = "+"
			}
			shown = append(shown, v.Curl+" "+v.Body+exchange)
		}
		g.Expect(strings.Join(shown, " ")).To(Equal(want), "refused %d times", refusals)
		g.Expect(shrunk.Checks[0].ViolationCount).To(Equal(9))
	}
	g.Expect(whole.Checks[0].Violations[2]).To(Equal(v), "the given results are not changed")
}

// The JSON form of what a run returns is bounded.
func TestResultsThatFit_long(t *testing.T) {
	g := NewWithT(t)
	v := reports.Violation{Statement: "s", Section: "s", Pointer: "status", Expected: "200", Actual: "500", Body: strings.Repeat("x", 1<<20)}
	for _, tc := range []struct {
		checks int
		fits   bool
	}{{1, true}, {9, true}, {10, false}} {
		var r reports.Results
		for i := range tc.checks {
			r.Checks = append(r.Checks, reports.Check{Requirement: fmt.Sprint(i), Violations: []reports.Violation{v}})
		}
		g.Expect(jsonfile.Fits(r)).To(Equal(tc.fits), "%d MiB of bodies", tc.checks)
		text, err := jsonfile.Run.Encode(reports.Shrink(r, jsonfile.Fits))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(text)).To(BeNumerically("<=", reports.MaxWritten))
	}
	many := reports.Results{Observations: slices.Repeat([]reports.Observation{{Value: strings.Repeat("v", 400)}}, 30_000),
		Troubles: slices.Repeat([]reports.Trouble{{What: strings.Repeat("w", 4000)}}, 1000),
		Checks:   slices.Repeat([]reports.Check{{Missing: slices.Repeat([]string{strings.Repeat("m", 400)}, 10)}}, 2000)}
	text, err := jsonfile.Run.Encode(reports.Shrink(many, jsonfile.Fits))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(text)).To(And(BeNumerically("<=", reports.MaxWritten), BeNumerically(">", reports.MaxWritten/4)))
	g.Expect(many.Checks[0].Missing).To(HaveLen(10), "the given results are not changed")
}
