package view_test

import (
	"os"
	"path/filepath"
	"testing"

	"outreach.example/conformance/reports/view"
)

// The page asks for nothing, runs nothing, fits the screen, and each text can be read.
func TestTheLoadPageInABrowser(t *testing.T) {
	b := startBrowser(t)
	for name, results := range loadSamples() {
		file := filepath.Join(t.TempDir(), "load.html")
		if err := view.Formats["html"].Load.Write(file, results); err != nil {
			t.Fatal(err)
		}
		for screen, size := range map[string]screenSize{
			"phone-light": {Width: 390, Height: 844}, "wide-dark": {Width: 1280, Height: 900, Dark: true},
		} {
			t.Run(name+" "+screen, func(t *testing.T) {
				p := b.Open(file, size)
				if pixels, what := overflow(p); pixels > 0 {
					t.Errorf("the page is %d pixels too wide: %q", pixels, what)
				}
				if low, compared := lowContrast(p); len(low) > 0 || compared < 3 {
					t.Errorf("of %d pairs of colours these are hard to read: %q", compared, low)
				}
				if requests := p.Requests(); len(requests) != 1 {
					t.Errorf("the page requests %q", requests)
				}
				if said := p.Said(); len(said) > 0 {
					t.Errorf("the browser complains: %q", said)
				}
				if *keep != "" {
					if err := os.WriteFile(filepath.Join(*keep, "load "+name+" "+screen+".png"), p.Screenshot(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}
