package console_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/load"
)

func loadSummary(r load.Results, o console.Options) string {
	var b bytes.Buffer
	o.ExitCode = r.ExitCode()
	if err := console.LoadSummary(&b, r, o); err != nil {
		panic(err)
	}
	return b.String()
}

func TestLoadSummaryGolden(t *testing.T) {
	for name, c := range map[string]struct {
		results load.Results
		options console.Options
	}{
		"load-full-100":         {sample.FullLoad(), console.Options{Width: 100, ResultsPath: "conformance-results/load.json"}},
		"load-full-100-color":   {sample.FullLoad(), console.Options{Width: 100, Color: true}},
		"load-full-140-verbose": {sample.FullLoad(), console.Options{Width: 140, Verbose: true}},
		"load-passed-60":        {sample.PassedLoad(), console.Options{Width: 60}},
		"load-empty-100":        {sample.EmptyLoad(), console.Options{}},
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
	for line := range strings.Lines(loadSummary(sample.HostileLoad(), console.Options{Width: 100, Verbose: true})) {
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

func TestLoadLineFits(t *testing.T) {
	f := console.LoadFigures{
		Number: 2, Of: 8, Scenario: "list-throughput", Phase: "500/s", At: 12300 * time.Millisecond, Lasts: 30 * time.Second, AskedPerSecond: 500, DonePerSecond: 498,
		P50MS: 3.12, P99MS: 9.81, Planned: 15000, Sent: 6150, Accepted: 6100, Limited: 40, Failed: 2, InFlight: 8, LagP99MS: 0.41,
	}
	if got, want := console.LoadLine(f, 140), "[2/8] list-throughput 500/s  12.3/30 s  498/500/s  p50 3.12 p99 9.81 ms  6,100 ok  40 429  2 failed  8 in flight  lag 0.41 ms"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := console.LoadLine(f, 80), "[2/8] list-throughput 500/s  12.3/30 s  498/500/s  p50 3.12 p99 9.81 ms"; got != want {
		t.Errorf("what does not fit is to be left out whole:\ngot  %s\nwant %s", got, want)
	}
	quiet := console.LoadFigures{Scenario: "rate-limit", Phase: "probes", Step: "burst", At: 400 * time.Millisecond, Lasts: 40 * time.Second, Accepted: 20}
	if got, want := console.LoadLine(quiet, 100), "rate-limit probes: burst  0.4/40 s  20 ok  0 failed"; got != want {
		t.Errorf("what is not known is to be left out:\ngot  %s\nwant %s", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		f.Step = rapid.String().Draw(t, "step")
		f.Scenario, f.Phase = rapid.String().Draw(t, "scenario"), rapid.String().Draw(t, "phase")
		width := rapid.IntRange(20, 200).Draw(t, "width")
		line := console.LoadLine(f, width)
		if text.StringWidthWithoutEscSequences(line) > width || strings.ContainsAny(line, "\n\r\x1b") {
			t.Fatalf("in %d columns: %q", width, line)
		}
	})
}

func TestLoadProgress(t *testing.T) {
	now := time.Unix(0, 0)
	var live, log bytes.Buffer
	onTerminal := console.NewLoadProgress(&live, console.ProgressOptions{Live: true, Width: 80, Now: func() time.Time { return now }})
	inLog := console.NewLoadProgress(&log, console.ProgressOptions{Width: 80})
	for i := range 40 {
		f := console.LoadFigures{Scenario: "soak", Phase: []string{"warm-up", "200/s"}[i/20], At: time.Duration(i%20) * 50 * time.Millisecond, Lasts: time.Second, Accepted: int64(i)}
		onTerminal.Show(f)
		inLog.Show(f)
		now = now.Add(50 * time.Millisecond)
	}
	onTerminal.Stop()
	inLog.Stop()
	if drawn := strings.Count(live.String(), "\r"); drawn != 21 || !strings.HasSuffix(live.String(), "\r\x1b[2K") || strings.Contains(live.String(), "\n") {
		t.Errorf("drawn %d times, want every 100 ms and once to clear: %q", drawn, live.String())
	}
	if lines := strings.Split(log.String(), "\n"); len(lines) != 3 || !strings.Contains(lines[0], "warm-up") || !strings.Contains(lines[0], "19 ok") || !strings.Contains(lines[1], "39 ok") {
		t.Errorf("one line a phase is wanted: %q", lines)
	}
}

// The most frequent kinds of failure have names. The others are one number.
func TestHowRequestsFailedIsTold(t *testing.T) {
	r := sample.PassedLoad()
	phase := &r.Scenarios[0].Phases[0]
	phase.Failures = map[string]int64{"refused": 40, "reset": 30}
	phase.Statuses = map[string]int64{"200": 1, "none": 70, "500": 20, "502": 10, "503": 5, "504": 4}
	if got := loadSummary(r, console.Options{Width: 120}); !strings.Contains(got, "\n  failed          connection refused: 40, connection broken: 30, status 500: 20, status 502: 10, in other ways: 9\n") {
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
		got := loadSummary(r, console.Options{Width: 200})
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
	if got, want := loadSummary(r, console.Options{Width: 200}), `present: always; unreadable in 229 of 229: "abc\u202e"; shortest sufficient wait`; !strings.Contains(got, want) {
		t.Errorf("%s\nlacks %s", got, want)
	}
	r.Scenarios[0].Limiter.RetryAfter = load.RetryAfter{Present: load.Answer{Value: "always"}, Refused: 229, With: 229}
	if got := loadSummary(r, console.Options{Width: 200}); strings.Contains(got, "unreadable") {
		t.Error(got)
	}
}

// Figures that only Verbose shows do not make a reason common.
func TestWhyIsNotSaidOfWhatIsNotShown(t *testing.T) {
	const why = "too few looks"
	cannot := load.Sharing{Subject: "other-key", Shared: load.Answer{Why: why}}
	r := sample.PassedLoad()
	r.Scenarios[0].Limiter = &load.Limiter{Summary: "20 requests in 1 s", Sharing: []load.Sharing{cannot, cannot, cannot}}
	if got := loadSummary(r, console.Options{Width: 200}); strings.Contains(got, why) {
		t.Error(got)
	}
	if got := loadSummary(r, console.Options{Width: 200, Verbose: true}); strings.Count(got, why) != 1 {
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
		return loadSummary(r, console.Options{Width: 400, Verbose: true})
	}
	g.Expect(shown(load.ComparedFigure{BOpen: true})).To(And(ContainSubstring("A 100, B ≥300 ms, B − A ≥200 (190 to 210), B ÷ A ≥3 "),
		ContainSubstring("page 1: 20  page 100: ≥1,000  deepest ÷ first ≥50"), ContainSubstring("p50 7 ms, p99 ≥1,001 ms")))
	g.Expect(shown(load.ComparedFigure{AOpen: true})).To(ContainSubstring("A ≥100, B 300 ms, B − A ≤200 (190 to 210), B ÷ A ≤3 "))
	g.Expect(console.LoadLine(console.LoadFigures{P50MS: 7, P99MS: 1001, Open: true}, 80)).To(ContainSubstring("p50 7 p99 ≥1,001 ms"))
}
