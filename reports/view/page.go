package view

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
)

// An HTML page is one file. It fetches nothing, runs no script, and has a light and a dark
// theme and layouts for phones and for print. html/template escapes what it shows, and the
// templates call p on every string that a target can influence.
//
//go:embed *.html *.css
var layouts embed.FS

// newTemplate returns what reads the template of a page. The first call parses it, because
// most commands write no page and should start without it.
func newTemplate(file string, functions template.FuncMap) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		css, err := layouts.ReadFile("style.css")
		if err != nil {
			panic(err) // it is embedded
		}
		all := template.FuncMap{
			"css": func() template.CSS { return template.CSS(css) }, "p": printable.Text, "whole": wholeNumber, "size": byteSize,
			"clock": clock, "seconds": pageDuration, "place": reports.Violation.Place,
		}
		maps.Copy(all, functions)
		return template.Must(template.New(file).Funcs(all).ParseFS(layouts, "frame.html", file))
	})
}

// render writes a page of the data, once it is complete.
func render(w io.Writer, page func() *template.Template, data any) error {
	var b bytes.Buffer
	if err := page().Execute(&b, data); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}

// clock formats a time, in UTC.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// wholeNumber formats an integer of a template.
func wholeNumber(n any) (string, error) {
	switch n := n.(type) {
	case int:
		return printable.Number(n), nil
	case int64:
		return printable.Number(n), nil
	}
	return "", fmt.Errorf("%T is no integer", n)
}

// targetName returns the name of the target, printable.
func targetName(t reports.Target) string {
	if t.Name == "" {
		return "a target without a name"
	}
	return printable.Text(t.Name)
}

// addressOf returns the address of the target, without a user and a password.
func addressOf(t reports.Target) string {
	scheme, rest, found := strings.Cut(t.BaseURL, "://")
	if !found {
		return t.BaseURL
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	return scheme + "://" + rest[strings.LastIndexByte(authority, '@')+1:]
}

// pageDuration formats seconds.
func pageDuration(seconds float64) string {
	if seconds < 120 {
		return printable.Figure(seconds) + " s"
	}
	return (time.Duration(seconds) * time.Second).String()
}

// byteSize formats a number of bytes.
func byteSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, unit := float64(n), 0
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return printable.Figure(v) + " " + units[unit]
}

var differenceTemplate = newTemplate("difference.html", template.FuncMap{
	"grouped":  diff.Grouped,
	"observed": diff.GroupedObservations,
	"values":   diff.Values,
	"shown":    diff.Shown,
	"title":    func(d diff.Difference) string { return "Difference: " + d.Outcome.In() },
	"join":     func(all []string) string { return strings.Join(all, ", ") },
	"mark": func(o diff.Outcome) string { // the class of an outcome
		switch o {
		case diff.Worse:
			return "fail"
		case diff.Inconclusive:
			return "inconclusive"
		default:
			return "pass"
		}
	},
})

func pageOfDifference(w io.Writer, d diff.Difference, _ Options) error {
	return render(w, differenceTemplate, d)
}
