package judge

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// Only violations that the results show are formatted, and their texts are cut before.
func TestOnlyShownViolationsAreFormatted(t *testing.T) {
	g := NewWithT(t)
	l := NewLedger([]spec.Pair{listStatus})
	formatted, long := 0, strings.Repeat("é", 1<<20)
	for range 1000 {
		l.ViolatedAs(listStatus, reports.Violation{Pointer: "status", Expected: "200", Actual: long}, func(v reports.Violation) reports.Violation {
			formatted++
			g.Expect(utf8.RuneCountInString(v.Actual)).To(Equal(maxText + 1))
			return v
		})
	}
	g.Expect(formatted).To(Equal(1))
	g.Expect(only(t, l).ViolationCount).To(Equal(1000))
	g.Expect(only(t, l).Violations).To(HaveLen(1))
	g.Expect(only(t, l).Violations[0].Count).To(Equal(1000))
}

// Specs that see the same violations keep one example each, and as many of other forms
// as the results show.
func TestSpecsShareTheirExamples(t *testing.T) {
	g := NewWithT(t)
	shared, all := NewEvidence(), NewEvidence()
	kept := 0
	for i := range 20 {
		one := NewEvidenceBeside(shared)
		for k := range 10 {
			one.Violated(listStatus, reports.Violation{Pointer: "status", Expected: "200", Actual: strings.Repeat("x", 1+(i+k)%7)})
		}
		kept += len(one.Check(listStatus).Violations)
		all.Add(one)
	}
	g.Expect(kept).To(BeNumerically("<=", 20+maxViolations))
	g.Expect(all.Check(listStatus).ViolationCount).To(Equal(200))
	texts := map[string]bool{}
	for _, v := range all.Check(listStatus).Violations {
		texts[v.Actual] = true
	}
	g.Expect(texts).To(HaveLen(maxViolations), "different ones")
	g.Expect(all.Check(listStatus).Unlisted()).To(BeNumerically("~", 200*2/7, 2), "those of the other two kinds")
}

// What a target says differently each time is bounded in number and length.
func TestObservationsTroublesAndInputsAreBounded(t *testing.T) {
	g := NewWithT(t)
	l, sum := NewLedger([]spec.Pair{listStatus}), NewLedger([]spec.Pair{listStatus})
	for i := range 3000 {
		text := fmt.Sprint(i, strings.Repeat("x", 10_000))
		l.Observe(spec.OpenPointMessages, spec.ListLeadLists, text)
		l.Troubled("a spec", text)
		l.Missing(listStatus, text)
	}
	sum.Add(l)
	for _, l := range []*Ledger{l, sum} {
		seen, total := l.Observations(), 0
		for _, o := range seen {
			total += o.Count
			g.Expect(len(o.Value)).To(BeNumerically("<=", maxText+len("…")))
		}
		g.Expect(seen).To(HaveLen(maxObserved + 1))
		g.Expect(seen).To(ContainElement(HaveField("Value", moreValues)))
		g.Expect(total).To(Equal(3000))
		g.Expect(l.Troubles()).To(HaveLen(maxTroubles))
		g.Expect(len(l.Troubles()[0].What)).To(BeNumerically("<=", maxTrouble+len("…")))
		g.Expect(l.entries[listStatus].Missing).To(HaveLen(maxMissing))
	}
}
