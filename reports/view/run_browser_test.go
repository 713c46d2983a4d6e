package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outreach.example/conformance/reports/view"
)

const (
	tab, enter = "\t", "\r"
	arrowDown  = "\u0301"
)

// screens are those on which people read the page.
var screens = map[string]screenSize{
	"phone, light": {Width: 390, Height: 844}, "phone, dark": {Width: 390, Height: 844, Dark: true},
	"wide, light": {Width: 1280, Height: 900}, "wide, dark": {Width: 1280, Height: 900, Dark: true},
}

func runPage(t testing.TB, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := view.Formats["html"].Run.Write(file, runSamples()[name]); err != nil {
		t.Fatal(err)
	}
	return file
}

// The page asks for nothing, runs nothing, fits the screen, and each text can be read.
func TestTheRunPageInABrowser(t *testing.T) {
	b := startBrowser(t)
	for _, name := range []string{"full", "waived", "hostile", "empty"} {
		file := runPage(t, name)
		for screen, size := range screens {
			t.Run(name+" "+screen, func(t *testing.T) {
				p := b.Open(file, size)
				if pixels, what := overflow(p); pixels > 0 {
					t.Errorf("the page is %d pixels too wide: %q", pixels, what)
				}
				if off := valueOf[int](p, `[...document.querySelectorAll("[aria-labelledby=accepted] :is(td, th, caption)")]
					.filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 1 && e.getBoundingClientRect().right > innerWidth).length`); off > 0 {
					t.Errorf("%d cells of the accepted requests are off the screen", off)
				}
				if name != "hostile" { // it has the same colours in many more texts
					low, compared := lowContrast(p)
					if len(low) > 0 || compared < 3 {
						t.Errorf("of %d pairs of colours these are hard to read: %q", compared, low)
					}
				}
				if requests := p.Requests(); len(requests) != 1 || requests[0] != "file://"+file {
					t.Errorf("the page requests %q", requests)
				}
				if said := p.Said(); len(said) > 0 {
					t.Errorf("the browser complains: %q", said)
				}
				if *keep != "" {
					shot := filepath.Join(*keep, strings.ReplaceAll(name+" "+screen, ", ", "-")+".png")
					if err := os.WriteFile(shot, p.Screenshot(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// A reader without a pointer goes from a cell of the matrix to its checks, and filters them.
func TestThePageWithoutAPointer(t *testing.T) {
	p := startBrowser(t).Open(runPage(t, "full"), screens["wide, light"])
	focus := func(selector string) {
		t.Helper()
		for range 600 {
			p.Press(tab, 1)
			if valueOf[bool](p, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
				return
			}
		}
		t.Fatalf("Tab does not lead to %s", selector)
	}
	visible := func(selector string) int {
		t.Helper()
		return valueOf[int](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].filter(e => e.checkVisibility()).length`, selector))
	}
	focus(".skip")
	focus(".matrix td.fail a")
	cell := valueOf[string](p, `document.activeElement.hash`)
	p.Press(enter, 1)
	if at := valueOf[string](p, `"#" + document.querySelector(":target").id`); at != cell || !valueOf[bool](p, `document.querySelector(":target").matches(".cell.has-fail")`) {
		t.Errorf("the link %s leads to %s", cell, at)
	}
	all, failed := visible(".cell"), visible(".cell.has-fail")
	if failed == 0 || failed == all {
		t.Fatalf("%d of %d cells with failures", failed, all)
	}
	valueOf[bool](p, `(location.hash = "checks", document.activeElement.blur(), true)`)
	focus("#show-all")
	p.Press(arrowDown, 1)
	if got := visible(".cell"); got != failed || visible(".cell:not(.has-fail)") != 0 {
		t.Errorf("the filter shows %d cells, want the %d with failures", got, failed)
	}
	p.Press(arrowDown, 1)
	if got, want := visible(".cell"), visible(".cell:is(.has-not-assessed, .has-error)"); got != want || got == 0 {
		t.Errorf("the filter shows %d cells, want the %d that are not assessed or in error", got, want)
	}
	p.Press(arrowDown, 2)
	if got := visible(".cell"); got != all {
		t.Errorf("without a filter, %d of %d cells", got, all)
	}
}

// BenchmarkOpen measures how long a browser takes to open the page of a large hostile run.
func BenchmarkOpen(b *testing.B) {
	file := filepath.Join(b.TempDir(), "report.html")
	if err := view.Formats["html"].Run.Write(file, hostile(5000, 20_000)); err != nil {
		b.Fatal(err)
	}
	chromium := startBrowser(b)
	var total float64
	for b.Loop() {
		p := chromium.Open(file, screens["wide, light"])
		total += valueOf[float64](p, `performance.getEntriesByType("navigation")[0].loadEventEnd`)
	}
	b.ReportMetric(total/float64(b.N), "ms/open")
}
