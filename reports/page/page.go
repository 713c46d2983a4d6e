// Package page is what the HTML pages have in common: their style, their head and the
// form of verdicts. Its subpackages are the pages: of a run (runpage) and of a load run
// (loadpage). A page is one file. It fetches nothing, runs no script, and has a light
// and a dark theme and layouts for phones and for print.
//
// html/template escapes what a page shows. Pages call p on every string that a target
// can influence. The package imports the results model, and no page.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"sync"

	"outreach.example/conformance/internal/atomicfile"
	"outreach.example/conformance/reports"
)

var (
	//go:embed frame.html
	frame string
	//go:embed style.css
	style string
)

// shared are the functions of all pages.
var shared = template.FuncMap{
	"css":     func() template.CSS { return template.CSS(style) },
	"p":       reports.Printable,
	"whole":   whole,
	"size":    Size,
	"clock":   Clock,
	"seconds": Duration,
	"place":   reports.Violation.Place,
}

// Template returns the template of a page. The first call parses it, because most commands
// write no page and should start without it.
type Template func() *template.Template

// New returns the template of a page. The layout begins with the template "head" and
// ends with "foot"; functions are those that only this page needs.
func New(layout string, functions template.FuncMap) Template {
	return sync.OnceValue(func() *template.Template {
		all := maps.Clone(shared)
		maps.Copy(all, functions)
		t := template.Must(template.New("frame").Funcs(all).Parse(frame))
		return template.Must(t.New("page").Parse(layout))
	})
}

// Render returns the page of the data.
func Render(t Template, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := t().Execute(&b, data); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return b.Bytes(), nil
}

// Write replaces the file at path with the page, atomically. It creates missing
// directories.
func Write(path string, body []byte) error {
	return atomicfile.Write(path, body)
}
