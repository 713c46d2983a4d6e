package diffpage_test

import (
	"strings"
	"testing"
	"unicode"

	. "github.com/onsi/gomega"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/page/diffpage"
)

func TestThePageShowsEveryChange(t *testing.T) {
	g := NewWithT(t)
	p := diff.Runs("old.json", sample.Passed(), "new.json", sample.Full())
	p.Observations = []diff.Observation{{OpenPoint: "SILENT-DIRECTION", Operation: "leads.move", Was: []string{"asc"}, Is: []string{"desc"}}}
	p.Figures = []diff.Figure{{Scenario: "mixed", Phase: "steady", Name: "response p99", Unit: "ms", Old: &load.Estimate{Value: 10, Low: 9, High: 11},
		New: &load.Estimate{Value: 20, Low: 19, High: 21}, Worse: &load.Estimate{Value: 100, Low: 72, High: 133}, Verdict: load.Worse}}
	p.Thresholds = []diff.Threshold{{Scenario: "mixed", Phase: "steady", Text: "worse<5%", Outcome: load.Missed, Why: "the change is 100 %"}}
	body, err := diffpage.Render(diff.Join(reports.Tool{Name: "t"}, p))
	g.Expect(err).NotTo(HaveOccurred())
	text := string(body)
	for _, group := range diff.Grouped(p.NewlyFailing) {
		g.Expect(text).To(ContainSubstring(">" + group.Name() + "<"))
	}
	g.Expect(text).To(And(ContainSubstring("10 ms (9 to 11)"), ContainSubstring("100 % (72 to 133) worse"), ContainSubstring("worse&lt;5%"), ContainSubstring("SILENT-")))
	g.Expect(text).NotTo(Or(ContainSubstring("<script"), ContainSubstring(" href=\"http"), ContainSubstring(" src=")))
}

// No text of a target is an element, an attribute or a control character.
func TestHostileStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hostile := rapid.SampledFrom([]string{"<script>alert(1)</script>", `"><img src=x>`, "\x1b[31m", "\u202e", "&lt;"}).Draw(t, "hostile")
		before, after := sample.Random(t), sample.Random(t)
		after.Target.Name += hostile
		for i := range after.Checks {
			for j := range after.Checks[i].Violations {
				after.Checks[i].Violations[j].Actual += hostile
			}
		}
		for i := range after.Observations {
			after.Observations[i].Value += hostile
		}
		body, err := diffpage.Render(diff.Join(reports.Tool{Name: "t"}, diff.Runs("a", before, "b", after)))
		if err != nil {
			t.Fatal(err)
		}
		tokens := html.NewTokenizer(strings.NewReader(string(body)))
		for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
			if token := tokens.Token(); kind == html.StartTagToken && (token.Data == "script" || token.Data == "img") {
				t.Fatalf("the page has the element %s", token)
			}
		}
		if strings.ContainsFunc(string(body), func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }) {
			t.Fatal("the page has a control character")
		}
	})
}

func TestNoDifference(t *testing.T) {
	g := NewWithT(t)
	r := sample.Passed()
	r.Verdict = reports.Passed
	body, err := diffpage.Render(diff.Join(reports.Tool{Name: "t"}, diff.Runs("a", r, "b", r)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(body)).To(ContainSubstring(`<span class="verdict pass">no difference</span>`))
}
