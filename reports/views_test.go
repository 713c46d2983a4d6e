package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/view"
	"outreach.example/conformance/schemas/schematest"
)

// attacks are strings that a hostile target sends.
var attacks = []string{"", "\n::error::forged", "%0A::x", "|", "</details><script>alert(1)</script>", `"><img src=x>`, "`*[x](y)",
	"[click](https://evil.example)", "](1)", "\x1b[31m", "\u202e", "&lt;"}

// attacked draws results and one of the attacks, and adds it to the texts of the target.
func attacked(t *rapid.T) reports.Results {
	attack := rapid.SampledFrom(attacks).Draw(t, "attack")
	r := random(t)
	r.Target.Name += attack
	for i := range r.Checks {
		r.Checks[i].Requirement += attack
		for j := range r.Checks[i].Violations {
			v := &r.Checks[i].Violations[j]
			v.Statement, v.Expected, v.Actual, v.Curl = v.Statement+attack, v.Expected+attack, v.Actual+attack, v.Curl+attack
		}
	}
	for i := range r.Observations {
		r.Observations[i].Value += attack
	}
	return r
}

// follows fails the test if the text does not follow the JSON Schema in the file.
func follows(t *testing.T, schema []byte) func(t *rapid.T, text []byte) {
	s := schematest.Compiled(t, schema)
	return func(t *rapid.T, text []byte) {
		if wrong := schematest.Findings(t, s, text); len(wrong) > 0 {
			t.Fatalf("%v", wrong)
		}
	}
}

// file returns what a view has written.
func file(t *rapid.T, write func(*bytes.Buffer) error) []byte {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func schemaIn(t *testing.T, path string) []byte {
	t.Helper()
	schema, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// For any strings of a target, the summary is printable and fits its width, except for
// curl commands and the last line, which has the verdict.
func TestSummaryOfAnything(t *testing.T) {
	text.OverrideRuneWidthEastAsianWidth(false) // line breaks must not depend on the locale
	rapid.Check(t, func(t *rapid.T) {
		r := random(t)
		for i := range r.Checks {
			for j := range r.Checks[i].Violations {
				v := &r.Checks[i].Violations[j]
				v.Curl = "curl"
				v.Actual = strings.Repeat(v.Actual, 30)
			}
		}
		o := view.Options{Width: rapid.IntRange(60, 200).Draw(t, "width"), Verbose: rapid.Bool().Draw(t, "verbose"), ExitCode: r.ExitCode()}
		page := file(t, func(b *bytes.Buffer) error { return view.Formats["console"].Run(b, r, o) })
		lines := strings.Split(strings.TrimSuffix(string(page), "\n"), "\n")
		for i, line := range lines {
			if printable.Text(line) != line {
				t.Fatalf("raw bytes in %q", line)
			}
			if w := text.StringWidthWithoutEscSequences(line); w > o.Width && i < len(lines)-1 {
				t.Fatalf("%d columns, not %d: %q", w, o.Width, line)
			}
			if strings.HasSuffix(line, " ") {
				t.Fatalf("blank at the end of %q", line)
			}
		}
		if last := lines[len(lines)-1]; !strings.Contains(last, fmt.Sprintf("exit %d · ", r.ExitCode())) {
			t.Fatalf("the last line is not the verdict: %q", last)
		}
	})
}

var (
	markup = regexp.MustCompile(`</?(details|summary)>`)
	cells  = regexp.MustCompile(`^\|([^|]*\|){2}$|^\|([^|]*\|){4,5}$`)
)

// No string of a target makes a command of GitHub, a cell, or HTML.
func TestGitHubOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := attacked(t)
		lines := file(t, func(b *bytes.Buffer) error {
			return view.Formats["github"].Run(b, r, view.Options{ExitCode: r.ExitCode()})
		})
		for line := range strings.Lines(string(lines)) {
			if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "::error title=") || strings.ContainsFunc(line, unicode.IsControl) {
				t.Fatalf("%q is not one annotation", line)
			}
		}
		summary := file(t, func(b *bytes.Buffer) error {
			return view.Formats["markdown"].Run(b, r, view.Options{ExitCode: r.ExitCode()})
		})
		for line := range strings.Lines(string(summary)) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case strings.ContainsFunc(line, unicode.IsControl):
				t.Fatalf("control characters in %q", line)
			case strings.HasPrefix(line, "    "): // shown as it is
			case strings.ContainsAny(markup.ReplaceAllString(line, ""), "<>`["):
				t.Fatalf("markup in %q", line)
			case strings.HasPrefix(line, "| ") && !cells.MatchString(line):
				t.Fatalf("cells in %q", line)
			}
		}
	})
}

// Reports have what GitLab needs, and no string of a target has control characters there.
func TestGitLabOfAnything(t *testing.T) {
	valid := follows(t, schemaIn(t, "view/testdata/gitlab-schema.json"))
	rapid.Check(t, func(t *rapid.T) {
		r := attacked(t)
		body := file(t, func(b *bytes.Buffer) error { return view.Formats["gitlab"].Run(b, r, view.Options{}) })
		valid(t, body)
		var issues []struct{ Description string }
		if err := json.Unmarshal(body, &issues); err != nil {
			t.Fatal(err)
		}
		for _, i := range issues {
			if strings.ContainsFunc(i.Description, unicode.IsControl) {
				t.Fatalf("control characters in %q", i.Description)
			}
		}
	})
}

// Logs follow the schema of SARIF. No string of a target is a link there, and no line has
// control characters.
func TestSARIFOfAnything(t *testing.T) {
	valid := follows(t, schemaIn(t, "view/testdata/sarif-schema-2.1.0.json"))
	rapid.Check(t, func(t *rapid.T) {
		r := attacked(t)
		body := file(t, func(b *bytes.Buffer) error {
			return view.Formats["sarif"].Run(b, r, view.Options{ExitCode: r.ExitCode()})
		})
		valid(t, body)
		var log struct {
			Runs []struct {
				Results []struct{ Message struct{ Text string } }
			}
		}
		if err := json.Unmarshal(body, &log); err != nil {
			t.Fatal(err)
		}
		for _, found := range log.Runs[0].Results {
			if text := found.Message.Text; strings.Contains(text, "](") || strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl) {
				t.Fatalf("%q", text)
			}
		}
	})
}

// The order of checks and observations makes no difference.
func TestARunIsNotDifferentFromItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := random(t)
		shuffled := r
		shuffled.Checks = rapid.Permutation(r.Checks).Draw(t, "checks")
		shuffled.Observations = rapid.Permutation(r.Observations).Draw(t, "observations")
		p := diff.Runs("old.json", r, "new.json", shuffled)
		if o := p.Outcome; o != diff.Same && o != diff.Inconclusive || len(p.Lists())+len(p.Observations) > 0 {
			t.Fatalf("%s: %+v", o, p)
		}
	})
}

// Differences follow their schema. No text of a target is an element, an attribute or a
// control character on their page.
func TestDifferencesOfAnything(t *testing.T) {
	valid := follows(t, diff.Schema())
	rapid.Check(t, func(t *rapid.T) {
		d := diff.Join(reports.Tool{Name: "t"}, diff.Runs("a", random(t), "b", attacked(t)))
		body, err := diff.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, body)
		page := file(t, func(b *bytes.Buffer) error { return view.Formats["html"].Difference(b, d, view.Options{}) })
		tokens := html.NewTokenizer(bytes.NewReader(page))
		for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
			if token := tokens.Token(); kind == html.StartTagToken && (token.Data == "script" || token.Data == "img") {
				t.Fatalf("the page has the element %s", token)
			}
		}
		if strings.ContainsFunc(string(page), func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }) {
			t.Fatal("the page has a control character")
		}
	})
}
