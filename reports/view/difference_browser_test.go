package view_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

var keep = flag.String("keep", "", "directory in which pages and screenshots are kept, to look at them")

// different has every kind of list, and long texts.
func different() diff.Difference {
	p := diff.Runs("old.json", sample.Passed(), "new.json", sample.Full())
	p.Observations = []diff.Observation{{OpenPoint: "SILENT-DIRECTION", Operation: "leads.move", Was: []string{"asc"}, Is: []string{strings.Repeat("long", 60)}}}
	p.Figures = []diff.Figure{{Scenario: "mixed", Phase: "steady", Name: "response p99", Unit: "ms", Old: &load.Estimate{Value: 10, Low: 9, High: 11},
		New: &load.Estimate{Value: 20, Low: 19, High: 21}, Worse: &load.Estimate{Value: 100, Low: 72, High: 133}, Verdict: load.Worse}}
	p.Thresholds = []diff.Threshold{{Scenario: "mixed", Phase: "steady", Text: "worse<5%", Outcome: load.Missed, Why: "the change is 100 %"}}
	return diff.Join(reports.Tool{Name: "t"}, p)
}

// The page asks for nothing, runs nothing, fits the screen, and each text can be read.
func TestTheDifferencePageInABrowser(t *testing.T) {
	b := startBrowser(t)
	same := diff.Runs("a", sample.Passed(), "b", sample.Passed())
	for name, report := range map[string]diff.Difference{"different": different(), "same": diff.Join(reports.Tool{Name: "t"}, same)} {
		body, err := rendered(view.Formats["html"].Difference, report)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "diff.html")
		if err := os.WriteFile(file, body, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{390, 1280} {
			for _, dark := range []bool{false, true} {
				shown := fmt.Sprintf("%s %d dark=%t", name, width, dark)
				t.Run(shown, func(t *testing.T) {
					p := b.Open(file, screenSize{Width: width, Height: 1800, Dark: dark})
					if pixels, what := overflow(p); pixels > 0 {
						t.Errorf("the page is %d pixels too wide: %q", pixels, what)
					}
					if off := valueOf[int](p, `[...document.querySelectorAll("td, th")].filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1 && e.getBoundingClientRect().width > 1).length`); off > 0 {
						t.Errorf("%d cells are off the screen", off)
					}
					if low, compared := lowContrast(p); len(low) > 0 || compared < 2 {
						t.Errorf("of %d pairs of colours these are hard to read: %q", compared, low)
					}
					if requests, said := p.Requests(), p.Said(); len(requests) != 1 || len(said) > 0 {
						t.Errorf("the page requests %q and the browser says %q", requests, said)
					}
					if *keep != "" {
						if err := os.WriteFile(filepath.Join(*keep, "diff "+shown+".png"), p.Screenshot(), 0o666); err != nil {
							t.Fatal(err)
						}
					}
				})
			}
		}
	}
}
