package view_test

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	. "github.com/onsi/gomega"
	"golang.org/x/net/html"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/spec"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	flag.Parse()
	text.OverrideRuneWidthEastAsianWidth(false) // line breaks must not depend on the locale
	os.Exit(m.Run())
}

// shown returns what a view writes.
func shown[T any](t testing.TB, show view.View[T], results T, o view.Options) string {
	t.Helper()
	var b strings.Builder
	if err := show(&b, results, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each text that people or programs read stands in a golden file.
func TestGolden(t *testing.T) {
	run := func(format string, r reports.Results, o view.Options) string {
		if o.ExitCode == 0 {
			o.ExitCode = r.ExitCode()
		}
		return shown(t, view.Formats[format].Run, r, o)
	}
	loaded := func(format string, r load.Results, o view.Options) string {
		o.ExitCode = r.ExitCode()
		return shown(t, view.Formats[format].Load, r, o)
	}
	of := view.Options{}
	file := view.Options{Width: 80, ResultsPath: "results.json", ReportPath: "report.html"}
	for name, got := range map[string]string{
		"console/full":         run("console", sample.Full(), file),
		"console/full-color":   run("console", sample.Full(), view.Options{Width: 80, Color: true}),
		"console/full-verbose": run("console", few(), view.Options{Width: 140, Verbose: true}),
		"console/full-quiet":   run("console", sample.Full(), view.Options{Quiet: true}),
		"console/passed":       run("console", sample.Passed(), view.Options{Width: 60}),
		"console/passed-quiet": run("console", sample.Passed(), view.Options{Quiet: true}),
		"console/broken":       run("console", broken(), file),
		"console/empty":        run("console", sample.Empty(), of),
		"console/interrupted":  run("console", interrupted(), of),
		"console/odd":          run("console", odd(), view.Options{Width: 160, ExitCode: 2, ExpectedIn: func(c reports.Check) string { return c.Requirement + ".yaml" }}),
		"console/odd-quiet":    run("console", odd(), view.Options{Quiet: true}),
		"junit/full.xml":       run("junit", few(), of),
		"junit/odd.xml":        run("junit", odd(), of),
		"html/full":            outline(t, run("html", few(), of)),
		"html/odd":             outline(t, run("html", odd(), of)),
		"html/empty":           outline(t, run("html", sample.Empty(), of)),
		"markdown/full.md":     run("markdown", few(), of),
		"markdown/odd.md":      run("markdown", odd(), of),
		"markdown/passed.md":   run("markdown", sample.Passed(), of),
		"github/full":          run("github", few(), of),
		"github/odd":           run("github", odd(), of),
		"github/passed":        run("github", sample.Passed(), of),
		"gitlab/odd.json":      run("gitlab", odd(), of),
		"gitlab/empty.json":    run("gitlab", sample.Empty(), of),
		"sarif/odd.json":       run("sarif", odd(), of),
		"sarif/empty.json":     run("sarif", sample.Empty(), of),

		"console/load-full":         loaded("console", sample.FullLoad(), view.Options{ResultsPath: "load.json", ReportPath: "load.html"}),
		"console/load-full-color":   loaded("console", sample.FullLoad(), view.Options{Color: true}),
		"console/load-full-verbose": loaded("console", sample.FullLoad(), view.Options{Width: 140, Verbose: true}),
		"console/load-quiet":        loaded("console", whole(), view.Options{Quiet: true}),
		"console/load-passed":       loaded("console", sample.PassedLoad(), view.Options{Width: 60}),
		"console/load-empty":        loaded("console", sample.EmptyLoad(), of),
		"console/load-odd":          loaded("console", oddLoad(), view.Options{Width: 160}),
		"console/load-odd-verbose":  loaded("console", oddLoad(), view.Options{Width: 160, Verbose: true}),
		"junit/load-full.xml":       loaded("junit", sample.FullLoad(), of),
		"junit/load-odd.xml":        loaded("junit", oddLoad(), of),
		"html/load-full":            outline(t, loaded("html", sample.FullLoad(), of)),
		"html/load-odd":             outline(t, loaded("html", oddLoad(), of)),
		"html/load-empty":           outline(t, loaded("html", sample.EmptyLoad(), of)),
		"html/load-charts.svg":      charts(loaded("html", sample.PassedLoad(), of)),
		"markdown/load-full.md":     loaded("markdown", whole(), of),
		"markdown/load-shard.md":    loaded("markdown", sample.FullLoad(), of),
		"github/load-full":          loaded("github", whole(), of),
		"github/load-shard":         loaded("github", sample.FullLoad(), of),
		"github/load-empty":         loaded("github", sample.EmptyLoad(), of),
		"gitlab/load-full.json":     loaded("gitlab", sample.FullLoad(), of),
		"sarif/load-full.json":      loaded("sarif", sample.FullLoad(), of),
		"openmetrics/full":          loaded("openmetrics", sample.FullLoad(), of),
		"openmetrics/live":          view.LiveMetrics(time.Unix(1_700_000_000, 0), livePhases),

		"console/difference":     shown(t, view.Formats["console"].Difference, different(), of),
		"console/same":           shown(t, view.Formats["console"].Difference, same(), of),
		"html/difference":        outline(t, shown(t, view.Formats["html"].Difference, different(), of)),
		"html/same":              outline(t, shown(t, view.Formats["html"].Difference, same(), of)),
		"markdown/difference.md": shown(t, view.Formats["markdown"].Difference, different(), of),
		"github/difference":      shown(t, view.Formats["github"].Difference, different(), of),
		"catalogue/requirement":  catalogue(t, func(w io.Writer) error { return view.Requirement(w, explained) }),
		"catalogue/verbose": catalogue(t, func(w io.Writer) error {
			all := explained
			all.Verbose = true
			return view.Requirement(w, all)
		}),
		"catalogue/open-points": catalogue(t, view.OpenPoints),
		"catalogue/open-point":  catalogue(t, func(w io.Writer) error { return view.OpenPoint(w, spec.OpenPoints()[0]) }),
		"catalogue/list": catalogue(t, func(w io.Writer) error {
			pair := func(operation string) spec.Pair { return spec.Pair{Requirement: requirement.ID, Operation: operation} }
			pairs := []spec.Pair{pair(spec.ListLeadLists), pair(spec.ListLeadLabels)}
			return view.Requirements(w, pairs, map[spec.Pair][]string{pairs[0]: {"a spec"}}, 1, map[spec.Pair]string{pairs[1]: "a key"})
		}),

		"github/same": shown(t, view.Formats["github"].Difference, same(), of),
	} {
		t.Run(name, func(t *testing.T) {
			g, path := NewWithT(t), filepath.Join("testdata", "golden", name)
			if *update {
				g.Expect(os.MkdirAll(filepath.Dir(path), 0o777)).To(Succeed())
				g.Expect(os.WriteFile(path, []byte(got), 0o666)).To(Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(string(want)), "go test ./reports/view -update accepts the new text")
		})
	}
}

var requirement, _ = spec.FindRequirement("PAGE-ORDER")

// explained has more than fits on a screen.
var explained = view.Explanation{
	Requirement: requirement, Locations: []string{"suites/a.go:1", "suites/b.go:2", "suites/c.go:3", "suites/d.go:4"},
	Specs:  map[spec.Pair][]string{{Requirement: requirement.ID, Operation: spec.ListLeadLists}: {"a spec", "another"}},
	Proofs: map[string][]string{spec.ListLeadLists: {"1: it sorts up", "2: it does not sort"}, spec.ListLeadLabels: {"3: it sorts by name"}},
}

func catalogue(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	return shown(t, func(w io.Writer, _ any, _ view.Options) error { return write(w) }, nil, view.Options{})
}

// outline returns the texts of a page: a line for each block, and the labels of its charts.
func outline(t testing.TB, page string) string {
	t.Helper()
	document, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
			return
		case n.Data == "style":
			return
		case n.Data == "svg":
			b.WriteString("\nchart: " + attribute(n, "aria-label"))
			return
		case strings.Contains(" title p h1 h2 h3 h4 li dt dd tr caption summary section pre figcaption ", " "+n.Data+" "):
			b.WriteString("\n" + n.Data + ": ")
		case n.Data == "td" || n.Data == "th":
			b.WriteString(" | ")
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(document)
	var lines strings.Builder
	for line := range strings.Lines(b.String()) {
		if words := strings.Fields(line); len(words) > 0 {
			lines.WriteString(strings.Join(words, " ") + "\n")
		}
	}
	return lines.String()
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// charts returns the drawings of a page.
func charts(page string) (all string) {
	for page != "" {
		_, rest, _ := strings.Cut(page, "<svg")
		drawing, rest, found := strings.Cut(rest, "</svg>")
		if page = rest; found {
			all += "<svg" + drawing + "</svg>\n"
		}
	}
	return all
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Errors of a writer are returned. A file replaces another only as a whole.
func TestFailedWrites(t *testing.T) {
	g := NewWithT(t)
	for name, f := range view.Formats {
		if f.Run != nil {
			g.Expect(f.Run(brokenWriter{}, sample.Passed(), view.Options{})).To(MatchError(io.ErrShortWrite), name)
		}
	}
	dir := t.TempDir()
	g.Expect(view.Formats["junit"].Run.Write(dir, sample.Passed())).To(MatchError(ContainSubstring("not a regular file")))
	path := filepath.Join(dir, "made", "load.prom")
	g.Expect(view.Formats["openmetrics"].Load.Write(path, sample.PassedLoad())).To(Succeed())
	body, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(body)).To(Equal(shown(t, view.Formats["openmetrics"].Load, sample.PassedLoad(), view.Options{})))
}
