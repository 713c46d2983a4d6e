package view_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/view"
)

func loadSummary(r load.Results, o view.Options) string {
	var b bytes.Buffer
	o.ExitCode = r.ExitCode()
	if err := view.Formats["console"].Load(&b, r, o); err != nil {
		panic(err)
	}
	return b.String()
}

func TestLoadSummaryGolden(t *testing.T) {
	for name, c := range map[string]struct {
		results load.Results
		options view.Options
	}{
		"load-full-100":         {sample.FullLoad(), view.Options{Width: 100, ResultsPath: "conformance-results/load.json"}},
		"load-full-100-color":   {sample.FullLoad(), view.Options{Width: 100, Color: true}},
		"load-full-140-verbose": {sample.FullLoad(), view.Options{Width: 140, Verbose: true}},
		"load-passed-60":        {sample.PassedLoad(), view.Options{Width: 60}},
		"load-empty-100":        {sample.EmptyLoad(), view.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := loadSummary(c.results, c.options)
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				NewWithT(t).Expect(os.WriteFile(golden, []byte(got), 0o666)).To(Succeed())
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s; run with -update to see the change:\n%s", golden, got)
			}
		})
	}
}

// Lines fit the width, and strings of a target are escaped.
func TestLoadSummaryOfAHostileTarget(t *testing.T) {
	for line := range strings.Lines(loadSummary(hostileLoad(), view.Options{Width: 100, Verbose: true})) {
		line = strings.TrimSuffix(line, "\n")
		for _, char := range line {
			if !unicode.IsPrint(char) {
				t.Fatalf("the summary holds %U: %q", char, line)
			}
		}
		if text.StringWidthWithoutEscSequences(line) > 100 && !strings.Contains(line, "repeat") && !strings.Contains(line, "on ") {
			t.Errorf("%d columns: %s", text.StringWidthWithoutEscSequences(line), line)
		}
	}
}

// The most frequent kinds of failure have names. The others are one number.
func TestHowRequestsFailedIsTold(t *testing.T) {
	r := sample.PassedLoad()
	phase := &r.Scenarios[0].Phases[0]
	phase.Failures = map[string]int64{"refused": 40, "reset": 30}
	phase.Statuses = map[string]int64{"200": 1, "none": 70, "500": 20, "502": 10, "503": 5, "504": 4}
	if got := loadSummary(r, view.Options{Width: 120}); !strings.Contains(got, "\n  failed          connection refused: 40, connection broken: 30, status 500: 20, status 502: 10, in other ways: 9\n") {
		t.Error(got)
	}
}

// A reason that many figures of a limiter share is shown once.
func TestWhyALimiterCannotBeToldIsToldOnce(t *testing.T) {
	const why = "the key was in use by others"
	cannot := load.Answer{Why: why}
	for summary, unknown := range map[string]int{"cannot tell: " + why: 0, "cannot tell": 1} {
		r := sample.PassedLoad()
		r.Scenarios[0].Limiter = &load.Limiter{Summary: summary, Verdict: cannot, Scope: cannot, RetryAfter: load.RetryAfter{Present: cannot}, Recovery: load.Finding{Why: why}}
		got := loadSummary(r, view.Options{Width: 200})
		if strings.Count(got, why) != 1 || strings.Count(got, "\n  unknown ") != unknown || !strings.Contains(got, "\n  scope           cannot tell\n") {
			t.Error(got)
		}
	}
}

// The value of an invalid Retry-After is shown on one printable line.
func TestARetryAfterThatCannotBeRead(t *testing.T) {
	unread := load.RetryAfter{Present: load.Answer{Value: "always"}, Refused: 229, With: 229, Unreadable: 229, Example: "\"abc\u202e\"", Verdict: load.Answer{Why: "what it says cannot be read"}}
	r := sample.PassedLoad()
	r.Scenarios[0].Limiter = &load.Limiter{Summary: "20 requests in 1 s", RetryAfter: unread}
	if got, want := loadSummary(r, view.Options{Width: 200}), `present: always; unreadable in 229 of 229: "abc\u202e"; shortest sufficient wait`; !strings.Contains(got, want) {
		t.Errorf("%s\nlacks %s", got, want)
	}
	r.Scenarios[0].Limiter.RetryAfter = load.RetryAfter{Present: load.Answer{Value: "always"}, Refused: 229, With: 229}
	if got := loadSummary(r, view.Options{Width: 200}); strings.Contains(got, "unreadable") {
		t.Error(got)
	}
}

// Figures that only Verbose shows do not make a reason common.
func TestWhyIsNotSaidOfWhatIsNotShown(t *testing.T) {
	const why = "too few looks"
	cannot := load.Sharing{Subject: "other-key", Shared: load.Answer{Why: why}}
	r := sample.PassedLoad()
	r.Scenarios[0].Limiter = &load.Limiter{Summary: "20 requests in 1 s", Sharing: []load.Sharing{cannot, cannot, cannot}}
	if got := loadSummary(r, view.Options{Width: 200}); strings.Contains(got, why) {
		t.Error(got)
	}
	if got := loadSummary(r, view.Options{Width: 200, Verbose: true}); strings.Count(got, why) != 1 {
		t.Error(got)
	}
}

// A figure that is a lower bound is marked wherever it is shown.
func TestLowerBoundsAreMarked(t *testing.T) {
	g := NewWithT(t)
	shown := func(c load.ComparedFigure) string {
		c.Name, c.Unit, c.A, c.B, c.Verdict = "response p99", "ms", new(100.0), new(300.0), load.Worse
		c.Difference, c.Ratio, c.RatioLow, c.RatioHigh = &load.Estimate{Value: 200, Low: 190, High: 210}, 3, 2.9, 3.1
		r := sample.PassedLoad()
		r.Comparison = &load.Comparison{Figures: []load.ComparedFigure{c}}
		s := &r.Scenarios[0]
		s.Depth = []load.Depth{{Operation: "lead-lists.list", Ratio: 50, Open: true, Points: []load.DepthPoint{{Page: 1, P50MS: 20}, {Page: 100, P50MS: 1000, MedianOpen: true}}}}
		s.Sustained = &load.Sustained{RatePerSecond: 5, Knee: []load.KneePoint{{AskedPerSecond: 5, P50MS: 7, P99MS: 1001, Open: true}}}
		return loadSummary(r, view.Options{Width: 400, Verbose: true})
	}
	g.Expect(shown(load.ComparedFigure{BOpen: true})).To(And(ContainSubstring("A 100, B ≥300 ms, B − A ≥200 (190 to 210), B ÷ A ≥3 "),
		ContainSubstring("page 1: 20  page 100: ≥1,000  deepest ÷ first ≥50"), ContainSubstring("p50 7 ms, p99 ≥1,001 ms")))
	g.Expect(shown(load.ComparedFigure{AOpen: true})).To(ContainSubstring("A ≥100, B 300 ms, B − A ≤200 (190 to 210), B ÷ A ≤3 "))
}
