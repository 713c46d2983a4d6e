// Package diffpage writes the difference between two runs as one self-contained HTML
// file.
//
// It judges nothing. It imports the model of the difference.
package diffpage

import (
	_ "embed"
	"html/template"
	"strings"

	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/page"
)

//go:embed diff.html
var layout string

var pageTemplate = page.New(layout, template.FuncMap{
	"grouped":  diff.Grouped,
	"observed": diff.GroupedObservations,
	"values":   diff.Values,
	"shown":    diff.Shown,
	"title":    title,
	"join":     func(all []string) string { return strings.Join(all, ", ") },
	"mark":     mark,
})

// Render returns the page of d.
func Render(d diff.Difference) ([]byte, error) { return page.Render(pageTemplate, d) }

func title(d diff.Difference) string { return "Difference: " + d.Outcome.In() }

// mark returns the class of an outcome in the style of the pages.
func mark(o diff.Outcome) string {
	switch o {
	case diff.Worse:
		return "fail"
	case diff.Inconclusive:
		return "inconclusive"
	default:
		return "pass"
	}
}
