package certify

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"

	"outreach.example/conformance/reports/bundle"
)

//go:embed page.html
var pageText string

//go:embed badge.svg
var badgeText string

var (
	pageTemplate  = template.Must(template.New("page").Parse(pageText))
	badgeTemplate = template.Must(template.New("badge").Parse(badgeText))
)

// shown is what the page and the badge show.
type shown struct {
	Decision
	bundle.Manifest
	Title, Badge, Color, Resemblance string
	Checks, Ordinary                 int // of the level; the number of the run that looks like an ordinary client
	Timed                            int
}

// show returns the page and the badge. They follow from the decision, the manifest and the
// resemblance to the reference server.
func show(d Decision, m bundle.Manifest, resemblance float64) (page, badge []byte, err error) {
	s := shown{Decision: d, Manifest: m, Checks: checksOf(d.Level), Badge: "not certified", Color: "#9a3412", Timed: len(timed())}
	s.Title = "Not a certificate"
	if d.Certifies() {
		s.Title, s.Badge, s.Color = "Certificate of conformance", "certified "+d.Level, "#166534"
		if d.Level != "full" {
			s.Title = fmt.Sprintf("Certificate of conformance, only of the level %s", d.Level)
		}
	}
	for i, r := range m.Runs {
		if r.Settings["ordinary"] == true {
			s.Ordinary = i + 1
		}
	}
	if resemblance >= resembles {
		s.Resemblance = fmt.Sprintf("%.0f %%", 100*resemblance)
	}
	var pageOut, badgeOut bytes.Buffer
	if err = pageTemplate.Execute(&pageOut, s); err == nil {
		err = badgeTemplate.Execute(&badgeOut, s)
	}
	return pageOut.Bytes(), badgeOut.Bytes(), err
}
