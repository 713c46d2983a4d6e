// Package runpage writes the results of a run as one self-contained HTML file: what was
// judged and the verdict, a matrix of operations and groups, the causes of the failures,
// and then everything else that a run found out.
//
// What a page shows is bounded, whatever a target sent; the page says what it leaves out.
// The package judges nothing. It imports the results model, the catalogue and the frame
// of the pages.
package runpage

import (
	_ "embed"
	"fmt"
	"html/template"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/page"
)

//go:embed report.html
var layout string

var pageTemplate = page.New(layout, template.FuncMap{"supply": supply, "diff": differ, "join": join})

// Render returns the page of r.
func Render(r reports.Results) ([]byte, error) { return page.Render(pageTemplate, viewOf(r)) }

// Write replaces the file at path with the page of r, atomically. It creates missing
// directories.
func Write(path string, r reports.Results) error {
	body, err := Render(r)
	if err != nil {
		return err
	}
	if err := page.Write(path, body); err != nil {
		return fmt.Errorf("write report page: %w", err)
	}
	return nil
}
