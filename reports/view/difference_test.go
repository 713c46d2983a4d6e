package view_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

func TestThePageShowsEveryChange(t *testing.T) {
	g := NewWithT(t)
	p := diff.Runs("old.json", sample.Passed(), "new.json", sample.Full())
	p.Observations = []diff.Observation{{OpenPoint: "SILENT-DIRECTION", Operation: "leads.move", Was: []string{"asc"}, Is: []string{"desc"}}}
	p.Figures = []diff.Figure{{Scenario: "mixed", Phase: "steady", Name: "response p99", Unit: "ms", Old: &load.Estimate{Value: 10, Low: 9, High: 11},
		New: &load.Estimate{Value: 20, Low: 19, High: 21}, Worse: &load.Estimate{Value: 100, Low: 72, High: 133}, Verdict: load.Worse}}
	p.Thresholds = []diff.Threshold{{Scenario: "mixed", Phase: "steady", Text: "worse<5%", Outcome: load.Missed, Why: "the change is 100 %"}}
	body, err := rendered(view.Formats["html"].Difference, diff.Join(reports.Tool{Name: "t"}, p))
	g.Expect(err).NotTo(HaveOccurred())
	text := string(body)
	for _, group := range diff.Grouped(p.NewlyFailing) {
		g.Expect(text).To(ContainSubstring(">" + group.Name() + "<"))
	}
	g.Expect(text).To(And(ContainSubstring("10 ms (9 to 11)"), ContainSubstring("100 % (72 to 133) worse"), ContainSubstring("worse&lt;5%"), ContainSubstring("SILENT-")))
	g.Expect(text).NotTo(Or(ContainSubstring("<script"), ContainSubstring(" href=\"http"), ContainSubstring(" src=")))
}

func TestNoDifference(t *testing.T) {
	g := NewWithT(t)
	r := sample.Passed()
	r.Verdict = reports.Passed
	body, err := rendered(view.Formats["html"].Difference, diff.Join(reports.Tool{Name: "t"}, diff.Runs("a", r, "b", r)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(body)).To(ContainSubstring(`<span class="verdict pass">no difference</span>`))
}
