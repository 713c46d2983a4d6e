package view_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/view"
)

func runSamples() map[string]reports.Results {
	return map[string]reports.Results{"full": sample.Full(), "passed": sample.Passed(), "empty": sample.Empty(), "waived": waived(), "hostile": hostile(50, 200)}
}

// waived is a run with an expected failure.
func waived() reports.Results {
	r := sample.Full()
	for i, c := range r.Checks {
		if c.Outcome == reports.Fail {
			r.Checks[i].Outcome = reports.ExpectedFailure
			r.Checks[i].Waiver = &reports.Waiver{Reason: "<b>known</b>: fixed in 2.5", Link: "https://acme.example/issues/1", Expires: "2026-12-01"}
			r.ExpectedFailures = 1
			break
		}
	}
	return r
}

func renderRun(t testing.TB, name string, r reports.Results) string {
	t.Helper()
	body, err := rendered(view.Formats["html"].Run, r)
	if err != nil {
		t.Fatal(err)
	}
	if *keep != "" {
		if err := os.WriteFile(filepath.Join(*keep, name+".html"), body, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return string(body)
}

func parsedPage(t testing.TB, body string) *html.Node {
	t.Helper()
	document, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// said returns the texts of the page.
func said(t testing.TB, body string) string {
	t.Helper()
	var all []string
	for n := range parsedPage(t, body).Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "style" {
			all = append(all, strings.Fields(n.Data)...)
		}
	}
	return strings.Join(all, " ")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func TestThePageIsHarmlessAndNeedsNothing(t *testing.T) {
	attributes := map[string]bool{}
	for _, name := range strings.Fields("class id lang charset name content http-equiv href scope role tabindex open type checked datetime aria-hidden aria-label aria-labelledby") {
		attributes[name] = true
	}
	elements := map[string]bool{}
	for _, name := range strings.Fields("html head meta title style body a main header nav section article footer h1 h2 h3 h4 p b br ul ol li dl dt dd div span time table caption thead tbody tr th td pre code del ins details summary fieldset legend label input") {
		elements[name] = true
	}
	for name, r := range runSamples() {
		t.Run(name, func(t *testing.T) {
			body := renderRun(t, name, r)
			for n := range parsedPage(t, body).Descendants() {
				if n.Type == html.ElementNode && !elements[n.Data] {
					t.Errorf("an element <%s>", n.Data)
				}
				for _, a := range n.Attr {
					if !attributes[a.Key] {
						t.Errorf("<%s> has an attribute %s", n.Data, a.Key)
					}
				}
				if n.Type == html.TextNode && n.Parent.Data == "style" && regexp.MustCompile(`url\(|@import|evil`).MatchString(n.Data) {
					t.Error("the style sheet fetches")
				}
			}
			for _, char := range body {
				if char != '\n' && char != '\t' && !unicode.IsPrint(char) {
					t.Fatalf("the page holds the character %U", char)
				}
			}
			if strings.Contains(body, "secret") {
				t.Error("the page shows the password in the address")
			}
		})
	}
}

// Each link leads to an element of the page, and each id occurs once.
func TestLinksLeadSomewhere(t *testing.T) {
	for name, r := range runSamples() {
		t.Run(name, func(t *testing.T) {
			ids, links := map[string]int{}, 0
			document := parsedPage(t, renderRun(t, name, r))
			for n := range document.Descendants() {
				if id := attribute(n, "id"); id != "" {
					ids[id]++
				}
			}
			for id, n := range ids {
				if n > 1 {
					t.Errorf("the id %s occurs %d times", id, n)
				}
			}
			for n := range document.Descendants() {
				for _, name := range []string{"href", "aria-labelledby"} {
					to := attribute(n, name)
					if to == "" {
						continue
					}
					links++
					if ids[strings.TrimPrefix(to, "#")] == 0 {
						t.Errorf("%s=%s leads nowhere", name, to)
					}
				}
			}
			if links < 3 {
				t.Errorf("%d links", links)
			}
		})
	}
}

// The page says all, in the order in which a reader asks.
func TestThePageSaysAll(t *testing.T) {
	text, from := said(t, renderRun(t, "full", sample.Full())), 0
	for _, part := range []string{
		"FAIL: Acme Outreach", "✗ FAIL Acme Outreach 2.4.1, by Acme Mail Works", "18 of 18 operations · ", " not assessed",
		"some checks failed", "address https://staging.acme.example/outreach (url)", "when 2026-03-01 10:20:30 UTC", "harness outreach-conformance 1.4.0", "seed 42",
		"Levels ✓ shape: conforms ? read: 60 of 68 assessed ✗ scopes: 2 of 17 failed",
		"Operations and groups of requirements", "inbox-placement-tests.list", "1 failed, 11 passed",
		"Causes 21 failed checks with 4 probable causes",
		"✗ ERROR-BODY-02 on", "The field statusCode of an error body equals the HTTP status of the response.", `in “Errors”`, "explains 17 failed checks",
		"At /statusCode expected − 404 actual + \"404\", a string", "Repeat it curl -sS", "What else was seen (1)",
		`"2026-03-01 \x1b[31m10:20\x1b[0m ]]> \u202e{{red}}\xff"`,
		"✗ PAGE-WALK-04 on inbox-placement-tests.list", "seen 9× in 12 assessments",
		"The exchange Request GET /api/v2/inbox-placement-tests?limit=100", "Authorization: Bearer $OUTREACH_KEY_MAIN", "Response 200 OK Content-Type: application/json", `{"items":[{"id":`,
		"Not assessed", "what would change that", "a revoked key", "Add such a key under keys in the target profile.",
		"Accepted requests", "valid requests (200 is right)", "to be refused (4xx is right)", "400 of 400", "0 of 20",
		"Fingerprint", "SILENT-DEFAULT-LIMIT", "10",
		"Traffic and time", "23,041 in 12.3 s", "200: 21,702", "no response: 6",
		"Troubles", "one placement test of this run is still there", "All checks", "cells with failures", "PAGE-WALK-04",
	} {
		at := strings.Index(text[from:], part)
		if at < 0 {
			t.Fatalf("after %q the page does not say %q", text[max(0, from-80):from], part)
		}
		from += at
	}
	text = said(t, renderRun(t, "waived", waived()))
	if want := "<b>known</b>: fixed in 2.5 https://acme.example/issues/1 until 2026-12-01"; !strings.Contains(text, want) {
		t.Errorf("the page does not say %s", want)
	}
}

func TestAnEmptyRunIsNotDressedUp(t *testing.T) {
	text := said(t, renderRun(t, "empty", sample.Empty()))
	for _, part := range []string{"? INCONCLUSIVE (without a name)", "0 of 18 operations", "connection refused"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page does not say %q: %s", part, text)
		}
	}
	if strings.Contains(text, "Causes") || strings.Contains(text, "All checks") {
		t.Errorf("the page shows parts without content: %s", text)
	}
}

// Bounds of a page. A browser opens a page within them in less than a second (BenchmarkOpen).
const (
	mostBytes    = 2_500_000
	mostElements = 15_000
)

// A page stays within its bounds, whatever a target sent, and says what it leaves out.
func TestALargeHostileRunIsBounded_long(t *testing.T) {
	body := renderRun(t, "large", hostile(2000, 3000))
	elements := 0
	for n := range parsedPage(t, body).Descendants() {
		if n.Type == html.ElementNode {
			elements++
		}
	}
	t.Logf("%d bytes, %d elements", len(body), elements)
	if len(body) > mostBytes || elements > mostElements {
		t.Errorf("%d bytes and %d elements, want at most %d and %d", len(body), elements, mostBytes, mostElements)
	}
	text := said(t, body)
	for _, part := range []string{"3,000 failed checks with", "more, which this page leaves out", "(cut)", "the beginning of a body of 8,388,608 bytes"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page does not say %q", part)
		}
	}
	if longest := longestText(t, body); longest > 8000 {
		t.Errorf("a text of %d characters", longest)
	}
}

func longestText(t testing.TB, body string) int {
	most := 0
	for n := range parsedPage(t, body).Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "style" {
			most = max(most, len([]rune(n.Data)))
		}
	}
	return most
}
