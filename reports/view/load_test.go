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
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

func loadSamples() map[string]load.Results {
	return map[string]load.Results{"full": sample.FullLoad(), "hostile": hostileLoad(), "passed": sample.PassedLoad(), "empty": sample.EmptyLoad()}
}

func render(t *testing.T, name string, r load.Results) string {
	t.Helper()
	body, err := rendered(view.Formats["html"].Load, r)
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

func TestTheLoadPageIsHarmlessAndNeedsNothing(t *testing.T) {
	attribute := map[string]bool{"class": true, "id": true, "lang": true, "charset": true, "name": true, "content": true, "http-equiv": true,
		"style": true, "open": true, "scope": true, "role": true, "aria-label": true, "href": true,
		"viewbox": true, "transform": true, "d": true, "x": true, "y": true, "points": true, "width": true, "height": true, "cx": true, "cy": true, "r": true, "dy": true, "x1": true, "x2": true, "y1": true, "y2": true}
	element := map[string]bool{}
	for _, name := range strings.Fields("html head meta title style body main header footer section h1 h2 h3 p b caption thead th br i ul li dl dt dd a div span table tbody tr th td pre figure figcaption details summary svg g path text rect line polyline polygon circle") {
		element[name] = true
	}
	for name, r := range loadSamples() {
		t.Run(name, func(t *testing.T) {
			body := render(t, name, r)
			document, err := html.Parse(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for n := range document.Descendants() {
				if n.Type == html.ElementNode && !element[n.Data] {
					t.Errorf("an element <%s>", n.Data)
				}
				for _, a := range n.Attr {
					if !attribute[strings.ToLower(a.Key)] {
						t.Errorf("<%s> has an attribute %s", n.Data, a.Key)
					}
					if a.Key == "href" && a.Val != "#content" && !strings.HasPrefix(a.Val, "#scenario-") {
						t.Errorf("a link to %s", a.Val)
					}
					if strings.Contains(a.Val, "url(") {
						t.Errorf("<%s> fetches: %s", n.Data, a.Val)
					}
				}
				if n.Type == html.TextNode && n.Parent.Data == "style" && regexp.MustCompile(`url\(|@import|evil`).MatchString(n.Data) {
					t.Error("the style sheet fetches")
				}
			}
			for _, char := range body {
				if char != '\n' && char != '\t' && !unicode.IsPrint(char) && char != '\u2002' {
					t.Fatalf("the page holds the character %U", char)
				}
			}
		})
	}
}

// The page shows the value of an invalid Retry-After.
func TestTheLoadPageShowsARetryAfterThatCannotBeRead(t *testing.T) {
	r := sample.PassedLoad()
	r.Scenarios[0].Limiter = &load.Limiter{Summary: "20 requests in 1 s", RetryAfter: load.RetryAfter{
		Present: load.Answer{Value: "always"}, Refused: 229, With: 229, Unreadable: 228, Example: "\"<b>\u202e\""}}
	said := words(t, render(t, "unread", r))
	if want := `present: always; 229 of 229 refusals; unreadable in 228 of 229: "<b>\u202e" Retry-After honest`; !strings.Contains(said, want) {
		t.Errorf("%s\nlacks %s", said, want)
	}
}

// words returns the page's text without the numbers in charts.
func words(t *testing.T, body string) string {
	t.Helper()
	document, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for n := range document.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "style" {
			all = append(all, strings.Fields(n.Data)...)
		}
	}
	return strings.Join(all, " ")
}

func TestTheLoadPageSaysAll(t *testing.T) {
	body := render(t, "full", sample.FullLoad())
	said := words(t, body)
	from := 0
	for _, part := range []string{ // in this order
		"FAIL: load on Example Outreach", "✗ FAIL Load on Example Outreach 2.8.1, by Example GmbH",
		"list-throughput: p99<250ms@500/s is missed", "address https://api.example.test (url)", "shard 3 of 8", "21 late, 9 dropped",
		"Comparison of A and B", "response p99 is worse (1.51 times A)", "B ÷ A of each figure, with its interval", "2.9.0-rc1, https://next.example.test", "B is better or worse in a figure only if p, corrected for the 3 figures, is at most 0.01.", "response p99, ms worse A 61.2 B 92.4 B − A 31.2 (20.5 to 44.7) B ÷ A 1.51 (1.34 to 1.73)", "failed, % inconclusive A — B — B − A — B ÷ A — p — a block of pair 6 has no such figure",
		"p99<250ms@500/s missed 1,902 ms (1,861 to 1,940) list-throughput, 500/s", "errors<0.1% inconclusive 0.025 % (0.003 to 0.11) soak",
		"✗ FAIL list-throughput 500/s served", "Latency by second: p99 is worst in second", "Response times", "phase and request", "warm-up, not measured", "15,300 responses: 1,530 checked, 13,240 identical to a checked one (96.53 % covered)",
		"Latency by second: p99 is worst in second", "Latency distribution: slowest response 2,003 ms",
		"Rate by second: 500/s asked, 500/s achieved", "Responses by second: 0 % limited, 0 % failed", "response, accepted 15,000", "send lag 15,000",
		"webhook-events.list limit=100 7,489 0 11", "820/s (810 to 840) sustained; the knee: it serves 838/s at most", "Served by rate tried: 820/s sustained", "Latency at each rate tried", "1,200 838 900 2,700 p99<250ms", "Cost of deep pages", "the deepest page takes 9.5 times as long as the first",
		"PAGE-WALK-01 on campaigns.list, seen 3 times", "returns each row once", "at /items/0/id", `curl -i -H "Authorization: Bearer $OUTREACH_KEY_MAIN"`,
		"400 walks by 50 clients", "closed loop another load than requested", "response p50 drifts 3 ms (2.9 to 3.1)", "Memory over time", "reference server: heap",
		"100 requests in any window of 1 s", "Probes accepted over time", "not reached no slower layer was met while 100 requests/s were sustained for 61 s; a limit that takes longer", "412 of 412 refusals", "1 s (0.997 to 1.004)", "cannot tell: token-bucket or sliding-log, the budget ended before the second refill", "cannot tell, at least 55 s, no whole window was seen",
		"other-workspace separate",
		"ceiling 11,842 requests/s",
	} {
		at := strings.Index(said[from:], part)
		if at < 0 {
			t.Fatalf("after %q the page does not say %q", said[max(0, from-80):from], part)
		}
		from += at
	}
	if !strings.Contains(said, "⚑ it sits on a jump") {
		t.Error("the page does not say why a quantile is flagged")
	}
}

// A figure that is a lower bound is marked wherever the page has it.
func TestThePageMarksLowerBounds(t *testing.T) {
	r := sample.FullLoad()
	for i := range r.Comparison.Figures {
		r.Comparison.Figures[i].BOpen = true
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		for d := range s.Depth {
			s.Depth[d].Open = true
		}
		if s.Sustained != nil {
			for k := range s.Sustained.Knee {
				s.Sustained.Knee[k].MedianOpen = true
			}
		}
		for _, p := range s.Phases {
			if p.Response.Accepted != nil {
				p.Response.Accepted.MeanOpen = true
			}
		}
	}
	said := words(t, render(t, "open", r))
	for _, part := range []string{"response p99 is worse (≥1.51 times A)", "A 61.2 B ≥92.4 B − A ≥31.2 (20.5 to 44.7) B ÷ A ≥1.51 (", "1,200 838 ≥900 2,700 p99<250ms",
		"takes ≥9.5 times as long as the first"} {
		if !strings.Contains(said, part) {
			t.Errorf("the page does not say %q", part)
		}
	}
	if strings.Contains(said, "takes 9.5 times") {
		t.Error("a ratio has no mark")
	}
	if mean := regexp.MustCompile(`response, accepted [0-9,]+ [0-9.,]+ ≥[0-9.,]+ `); !mean.MatchString(said) {
		t.Error("the mean has no mark")
	}
}

func TestAnEmptyLoadRunIsNotDressedUp(t *testing.T) {
	said := words(t, render(t, "empty", sample.EmptyLoad()))
	for _, part := range []string{"? INCONCLUSIVE", "the target cannot be reached", "No scenario could be judged.", "Not calibrated: "} {
		if !strings.Contains(said, part) {
			t.Errorf("the page does not say %q: %s", part, said)
		}
	}
}

func TestChartsAreDrawnInThePagesColours(t *testing.T) {
	body := render(t, "full", sample.FullLoad())
	charts := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(body, -1)
	if len(charts) < 20 {
		t.Errorf("%d charts", len(charts))
	}
	for _, chart := range charts {
		if !strings.Contains(chart, `<g class="blue">`) {
			t.Error("a chart without a series")
		}
		if left := regexp.MustCompile(`#[0-9A-F]{6}|NaN|Inf`).FindString(chart); left != "" {
			t.Errorf("a chart holds %s", left)
		}
	}
}

// A run that only probed a limiter has no schedule, but it sent requests.
func TestAPageOfProbesAlone(t *testing.T) {
	r := sample.EmptyLoad()
	r.Scenarios = []load.Scenario{{Name: "rate-limit", About: "It probes.", Verdict: reports.Passed, Requests: &load.Requests{Total: 1234, Beside: 1234}}}
	body, err := rendered(view.Formats["html"].Load, r)
	if err != nil {
		t.Fatal(err)
	}
	if shown := string(body); strings.Contains(shown, "0 planned") || !strings.Contains(shown, "1,234 in all") {
		t.Error("the page counts no requests, or planned ones")
	}
	if strings.Contains(string(body), `<th scope="col">threshold</th>`) {
		t.Error("the page has a table of thresholds, of which there are none")
	}
	if body, err = rendered(view.Formats["html"].Load, sample.FullLoad()); err != nil || !strings.Contains(string(body), " planned, ") || !strings.Contains(string(body), `<th scope="col">threshold</th>`) {
		t.Errorf("the page of a run with phases does not say what was planned, or shows no thresholds: %v", err)
	}
}

// A last second that is cut short is no drop.
func TestTheLastSecond(t *testing.T) {
	r := sample.PassedLoad()
	phase := load.Phase{Name: "p", Seconds: 2.4, IntervalSeconds: 1, RatePerSecond: 100, AchievedPerSecond: 100}
	for i := range 3 {
		phase.Series = append(phase.Series, load.Interval{T: int64(i), Asked: 100, Sent: 100, Done: 100, Accepted: 100})
	}
	draw := func(last load.Interval) string {
		phase.Series[2] = last
		r.Scenarios[0].Phases = []load.Phase{phase}
		return render(t, "last", r)
	}
	steady := draw(load.Interval{T: 2, Asked: 40, Sent: 40, Done: 40, Accepted: 40})
	ended := draw(load.Interval{T: 2, Done: 1, Accepted: 1})
	phase.Seconds = 3
	dropped := draw(load.Interval{T: 2, Asked: 40, Sent: 40, Done: 40, Accepted: 40})
	levels := func(body string) int {
		seen := map[string]bool{}
		for _, chart := range regexp.MustCompile(`(?s)aria-label="Rate by second.*?</svg>`).FindAllString(body, 1) {
			for _, line := range regexp.MustCompile(`class="dashed" points="([^"]*)"`).FindAllStringSubmatch(chart, -1) {
				for _, y := range regexp.MustCompile(`,([0-9.]+)`).FindAllStringSubmatch(line[1], -1) {
					seen[y[1]] = true
				}
			}
		}
		return len(seen)
	}
	if levels(steady) != 1 || levels(ended) != 1 || levels(dropped) < 2 {
		t.Errorf("the asked rate has %d levels if the last interval is short, %d if nothing was due in it, %d if it dropped; want 1, 1 and 2", levels(steady), levels(ended), levels(dropped))
	}
}
