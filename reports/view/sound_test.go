package view_test

import (
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/net/html"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/schemas"
)

const width = 100

// sound returns what is wrong with a text of each format, whatever it shows.
var sound = map[string]func(string) []string{
	"console": soundConsole, "json": soundJSON, "junit": soundJUnit, "html": soundPage, "markdown": soundMarkdown, "github": soundAnnotations,
	"gitlab": soundObjects("gitlab-schema.json"), "sarif": soundObjects("sarif-schema-2.1.0.json"), "openmetrics": soundMetrics,
}

// soundFormats shows the results in all formats that have a view of them.
func soundFormats[T any](t *testing.T, viewOf func(view.Format) view.View[T], all ...T) {
	t.Helper()
	for name, f := range view.Formats {
		for i, results := range all {
			if viewOf(f) == nil {
				continue
			}
			o := view.Options{Width: width, ExitCode: 1}
			body := shown(t, viewOf(f), results, o)
			if wrong := sound[name](body); len(wrong) > 0 {
				t.Errorf("%s of sample %d: %.3000q", name, i, wrong)
			}
			if shown(t, viewOf(f), results, o) != body {
				t.Errorf("%s of sample %d: equal results are shown in two ways", name, i)
			}
		}
	}
}

func runs(f view.Format) view.View[reports.Results]        { return f.Run }
func loads(f view.Format) view.View[load.Results]          { return f.Load }
func differences(f view.Format) view.View[diff.Difference] { return f.Difference }

func TestFormatsAreSound(t *testing.T) {
	soundFormats(t, runs, sample.Full(), sample.Passed(), sample.Empty(), odd(), interrupted())
	twice := sample.FullLoad()
	twice.Scenarios = append(twice.Scenarios, twice.Scenarios...)
	twice.Scenarios[0].Phases = append(twice.Scenarios[0].Phases, twice.Scenarios[0].Phases...)
	soundFormats(t, loads, twice, whole(), oddLoad(), sample.PassedLoad(), sample.EmptyLoad())
	soundFormats(t, differences, different(), same())
}

// Whatever texts and figures a target sends, they are no markup, no command and no control sequence.
func FuzzTextsOfATarget(f *testing.F) {
	for i, attack := range attacks {
		f.Add(attack, []float64{0, 1e-9, 0.001, 1, 999, 1e15}[i%6])
	}
	f.Fuzz(func(t *testing.T, text string, figure float64) {
		if figure < 0 || figure > 1e18 || math.IsNaN(figure) {
			return
		}
		run, loaded := attack(few(), text, figure), attack(whole(), text, figure)
		soundFormats(t, runs, run)
		soundFormats(t, loads, loaded)
		soundFormats(t, differences, attack(different(), text, figure))
	})
}

// The checks themselves can fail.
func TestUnsoundTextsAreFound(t *testing.T) {
	for name, texts := range map[string][]string{
		"console":     {"a\x1b[31m\nlast", strings.Repeat("x", width+1) + "\nlast", "blank \nlast"},
		"junit":       {`<testsuite time="1e-07"></testsuite>`, "<a>\x01</a>", `<a>`},
		"html":        {`<script>`, `<p onclick="x">`, `<a href="#nowhere">`, `<a href="http://x">`, `<p id="a"><p id="a">`, `<style>@import</style>`, "\u202e", `<circle cx="NaN">`},
		"markdown":    {"| a | b |\n|---|---|\n| 1 | 2 | 3 |", "a <b>", "[a](b)"},
		"github":      {"::error title=x::a\x07", "::warning::x"},
		"gitlab":      {`[{"description":"a"}]`},
		"sarif":       {`{"version":"2.1.0"}`, `{"runs":[{"results":[{"level":"dire"}]}]}`},
		"openmetrics": {"outreach_load_a 1\noutreach_load_a 1\n# EOF\n", "outreach_load_a 1\n", "other 1\n# EOF\n"},
	} {
		for _, text := range texts {
			if len(sound[name](text)) == 0 {
				t.Errorf("nothing is wrong with the %s %q", name, text)
			}
		}
	}
}

func soundConsole(body string) (wrong []string) {
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for i, line := range lines {
		long := text.StringWidthWithoutEscSequences(line) > width && i < len(lines)-1 && !strings.Contains(line, "repeat")
		if long || printable.Text(line) != line || strings.HasSuffix(line, " ") {
			wrong = append(wrong, line)
		}
	}
	return wrong
}

func soundJSON(body string) []string {
	if !json.Valid([]byte(body)) {
		return []string{"not JSON"}
	}
	return nil
}

func soundAnnotations(body string) (wrong []string) {
	for line := range strings.Lines(body) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "::error title=") || strings.ContainsFunc(line, unicode.IsControl) {
			wrong = append(wrong, line)
		}
	}
	return wrong
}

var markup = regexp.MustCompile(`</?(details|summary)>`)

func soundMarkdown(body string) (wrong []string) {
	cells := 0
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		switch row := strings.HasPrefix(line, "|"); {
		case strings.ContainsFunc(line, unicode.IsControl):
			wrong = append(wrong, line)
		case strings.HasPrefix(line, "    "): // shown as it is
		case strings.ContainsAny(markup.ReplaceAllString(line, ""), "<>`["), row && cells > 0 && strings.Count(line, "|") != cells:
			wrong = append(wrong, line)
		case row:
			cells = strings.Count(line, "|")
		default:
			cells = 0
		}
	}
	return wrong
}

// soundObjects checks JSON against the schema in a file. No message in it is a link, and no
// text has control characters.
func soundObjects(file string) func(string) []string {
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		panic(err)
	}
	schema, err := schemas.Compile(text)
	if err != nil {
		panic(err)
	}
	return func(body string) []string {
		wrong, err := schema.Findings([]byte(body))
		if err != nil {
			return []string{err.Error()}
		}
		var value any
		_ = json.Unmarshal([]byte(body), &value)
		var walk func(name string, value any)
		walk = func(name string, value any) {
			switch value := value.(type) {
			case string:
				if name == "text" && strings.Contains(value, "](") || strings.ContainsFunc(strings.ReplaceAll(value, "\n", ""), unicode.IsControl) {
					wrong = append(wrong, value)
				}
			case []any:
				for _, v := range value {
					walk(name, v)
				}
			case map[string]any:
				for key, v := range value {
					walk(key, v)
				}
			}
		}
		walk("", value)
		return wrong
	}
}

func parsedMetrics(body string) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(strings.NewReader(body)) // without its end mark, the text is valid for Prometheus too
}

func soundMetrics(body string) (wrong []string) {
	if _, err := parsedMetrics(body); err != nil || !strings.HasSuffix(body, "\n# EOF\n") {
		wrong = append(wrong, fmt.Sprint("no end, or ", err))
	}
	series := map[string]bool{}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		id := line[:strings.LastIndex(line, " ")]
		if series[id] || !strings.HasPrefix(id, "outreach_load_") {
			wrong = append(wrong, id)
		}
		series[id] = true
	}
	return wrong
}

var (
	elements = strings.Fields(`html head meta title style body a main header nav section article footer h1 h2 h3 h4 p b i br ul ol li dl dt dd div span time
		table caption thead tbody tr th td pre code del ins details summary fieldset legend label input figure figcaption svg g path text rect line polyline polygon circle`)
	attributes = strings.Fields(`class id lang charset name content http-equiv href style scope role tabindex open type checked datetime aria-hidden aria-label
		aria-labelledby viewBox transform d x y points width height cx cy r dy x1 x2 y1 y2`)
	fetches = regexp.MustCompile(`url\(|@import|evil`)
)

// soundPage checks that a page needs nothing else, runs nothing, and that its links lead somewhere.
func soundPage(body string) (wrong []string) {
	document, err := html.Parse(strings.NewReader(body))
	if err != nil {
		return []string{err.Error()}
	}
	ids := map[string]int{}
	for n := range document.Descendants() {
		if n.Type == html.ElementNode && !slices.Contains(elements, n.Data) || n.Type == html.TextNode && n.Parent.Data == "style" && fetches.MatchString(n.Data) {
			wrong = append(wrong, n.Data)
		}
		for _, a := range n.Attr {
			drawn := n.Namespace == "svg" && a.Key != "aria-label" || n.Data == "circle"
			if !slices.Contains(attributes, a.Key) || a.Key == "style" && fetches.MatchString(a.Val) || drawn && (strings.Contains(a.Val, "NaN") || strings.Contains(a.Val, "Inf")) {
				wrong = append(wrong, n.Data+" "+a.Key+"="+a.Val)
			}
		}
		if id := attribute(n, "id"); id != "" {
			if ids[id]++; ids[id] == 2 {
				wrong = append(wrong, "twice: "+id)
			}
		}
	}
	for n := range document.Descendants() {
		for _, link := range []string{attribute(n, "href"), "#" + attribute(n, "aria-labelledby")} {
			if to, within := strings.CutPrefix(link, "#"); !within && link != "" || to != "" && ids[to] == 0 {
				wrong = append(wrong, "a link to "+link)
			}
		}
	}
	if strings.ContainsFunc(body, func(r rune) bool { return r != '\n' && r != '\t' && r != '\u2002' && !unicode.IsPrint(r) }) || strings.Contains(body, "user:secret") {
		wrong = append(wrong, "a control character or a password")
	}
	return wrong
}

// soundJUnit checks that a file is XML and printable. The golden files show its elements and attributes, which
// public schemas restrict (see junitSuite).
func soundJUnit(document string) (wrong []string) {
	if strings.ContainsFunc(document, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
		wrong = append(wrong, "control characters")
	}
	for d := xml.NewDecoder(strings.NewReader(document)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return wrong
		}
		if err != nil {
			return append(wrong, err.Error())
		}
		if element, is := token.(xml.StartElement); is {
			for _, a := range element.Attr {
				if a.Name.Local == "time" && !decimal.MatchString(a.Value) {
					wrong = append(wrong, "time="+a.Value)
				}
			}
		}
	}
}

var decimal = regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`)
