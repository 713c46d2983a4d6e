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
	"unicode/utf8"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
)

// An HTML page is one file. It fetches nothing, runs no script, and has a light and a dark
// theme and layouts for phones and for print. html/template escapes what it shows.
//
//go:embed *.html *.css
var layouts embed.FS

// newTemplate returns what reads the template of a page. The first call parses it, because
// most commands write no page and should start without it.
func newTemplate(file string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		css, err := layouts.ReadFile("style.css")
		if err != nil {
			panic(err) // it is embedded
		}
		all := newScreen(Options{}, textTemplates()).functions()
		maps.Copy(all, map[string]any{
			"css":      func() template.CSS { return template.CSS(css) },
			"bodyNote": bodyNote, "supply": supply, "diff": differ, "accepted": acceptedOf,
			"figures": phaseCharts, "knee": kneeCharts, "depths": depthCharts, "memory": memoryCharts, "compared": comparedCharts, "chief": chief,
			"statuses": statusCounts[int], "spans": spans, "comparedInWords": comparedInWords, "stretches": stretchesOf, "distributions": distributions,
			"quantiles": quantilesOf, "limited": limitedOf,
		})
		return template.Must(template.New(file).Funcs(all).ParseFS(layouts, "frame.html", file))
	})
}

// showPage writes a page of the data, once it is complete.
func showPage(w io.Writer, page func() *template.Template, data any) error {
	var b bytes.Buffer
	if err := page().Execute(&b, data); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}

// page returns the view that shows results whose texts are printable and bounded.
func page[T any](show View[T]) View[T] {
	return func(w io.Writer, results T, o Options) error {
		return show(w, cleanWith(results, bounded), o)
	}
}

// Bounds of a text, in characters as the page shows them.
const (
	mostText    = 600  // of a value or a sentence
	mostCommand = 4000 // of a command
	mostBody    = 4000 // of a body
	mostHead    = 300  // of a header
)

// bounded returns a printable text that says if it is cut. An address loses the user and the password.
func bounded(field, text string) string {
	most, form := mostText, printable.Text
	switch field {
	case "BaseURL":
		text = withoutUser(text)
	case "Curl":
		most = mostCommand
	case "Headers":
		most = mostHead
	case "Body", "RequestBody", "What":
		most, form = mostBody, printable.Lines
	}
	shown := form(text[:min(len(text), utf8.UTFMax*(most+1))]) // so that no more of a long one is made printable
	return cutTo(shown, most)
}

// cutTo returns at most so many characters of a printable text, and says if it is cut.
func cutTo(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i] + "… (cut)"
		}
	}
	return text
}

// withoutUser returns an address without a user and a password.
func withoutUser(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return address
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	return scheme + "://" + rest[strings.LastIndexByte(authority, '@')+1:]
}

var (
	loadTemplate       = newTemplate("load.html")
	differenceTemplate = newTemplate("difference.html")
)

func pageOfLoad(w io.Writer, r load.Results, _ Options) error { return showPage(w, loadTemplate, r) }

func pageOfDifference(w io.Writer, d diff.Difference, _ Options) error {
	return showPage(w, differenceTemplate, d)
}
