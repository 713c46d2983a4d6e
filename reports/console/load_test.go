package console_test

import (
	"bytes"
	"github.com/jedib0t/go-pretty/v6/text"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports/console"
)

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

// A percentile that is a lower bound is marked.
func TestLoadLineMarksLowerBounds(t *testing.T) {
	g := NewWithT(t)
	g.Expect(console.LoadLine(console.LoadFigures{P50MS: 7, P99MS: 1001, Open: true}, 80)).To(ContainSubstring("p50 7 p99 ≥1,001 ms"))
}
