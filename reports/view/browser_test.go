package view_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/view"
)

var keep = flag.String("keep", "", "directory in which screenshots are kept, to look at them")

const (
	tab, enter = "\t", "\r"
	arrowDown  = "\u0301"
)

func pageFile(t testing.TB, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(body), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// A page asks for nothing, runs nothing, fits the screen, and each text can be read.
func TestPagesInABrowser_long(t *testing.T) {
	b := startBrowser(t)
	views, hostile := view.Formats["html"], attacks[5]+attacks[10]+attacks[13]
	for name, body := range map[string]string{
		"full": shown(t, views.Run, sample.Full(), view.Options{}), "odd": shown(t, views.Run, odd(), view.Options{}),
		"empty": shown(t, views.Run, sample.Empty(), view.Options{}), "hostile": shown(t, views.Run, attack(few(), hostile, 0), view.Options{}),
		"load-full": shown(t, views.Load, sample.FullLoad(), view.Options{}), "load-odd": shown(t, views.Load, oddLoad(), view.Options{}),
		"load-empty": shown(t, views.Load, sample.EmptyLoad(), view.Options{}), "load-hostile": shown(t, views.Load, attack(whole(), hostile, 0), view.Options{}),
		"different": shown(t, views.Difference, different(), view.Options{}), "same": shown(t, views.Difference, same(), view.Options{}),
	} {
		file := pageFile(t, body)
		for _, screen := range []screenSize{{Width: 390, Height: 844}, {Width: 390, Height: 844, Dark: true}, {Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true}} {
			shown := fmt.Sprintf("%s %d dark=%t", name, screen.Width, screen.Dark)
			t.Run(shown, func(t *testing.T) {
				p := b.Open(file, screen)
				if pixels, what := overflow(p); pixels > 0 {
					t.Errorf("the page is %d pixels too wide: %q", pixels, what)
				}
				cells := "[aria-labelledby=accepted] :is(td, th, caption)"
				if name == "different" {
					cells = "td, th"
				}
				if off := valueOf[int](p, `[...document.querySelectorAll("`+cells+`")].filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 1 && e.getBoundingClientRect().right > innerWidth + 1).length`); off > 0 {
					t.Errorf("%d cells are off the screen", off)
				}
				if low, compared := lowContrast(p); len(low) > 0 || compared < 2 {
					t.Errorf("of %d pairs of colours these are hard to read: %q", compared, low)
				}
				if requests, said := p.Requests(), p.Said(); len(requests) != 1 || len(said) > 0 {
					t.Errorf("the page requests %q and the browser says %q", requests, said)
				}
				if *keep != "" {
					if err := os.WriteFile(filepath.Join(*keep, shown+".png"), p.Screenshot(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// A reader without a pointer goes from a cell of the matrix to its checks, and filters them.
func TestThePageWithoutAPointer_long(t *testing.T) {
	p := startBrowser(t).Open(pageFile(t, shown(t, view.Formats["html"].Run, sample.Full(), view.Options{})), screenSize{Width: 1280, Height: 900})
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
	p.Press(enter, 1)
	if !valueOf[bool](p, `document.querySelector(":target").matches(".cell.has-fail")`) {
		t.Error("a cell with a failure does not lead to its checks")
	}
	all, failed, unsure := visible(".cell"), visible(".cell.has-fail"), visible(".cell:is(.has-not-assessed, .has-error)")
	if failed == 0 || unsure == 0 || failed == all {
		t.Fatalf("%d of %d cells with failures", failed, all)
	}
	valueOf[bool](p, `(location.hash = "checks", document.activeElement.blur(), true)`)
	focus("#show-all")
	for _, f := range []struct{ presses, want int }{{1, failed}, {1, unsure}, {2, all}} {
		p.Press(arrowDown, f.presses)
		if got := visible(".cell"); got != f.want {
			t.Errorf("the filter shows %d cells, want %d", got, f.want)
		}
	}
}
