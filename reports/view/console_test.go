package view_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/reports/view"
)

// progress is one whose clock and output are those of a test.
type progress struct {
	*view.Progress
	now      time.Time
	requests int
	out      bytes.Buffer
}

func newProgress(o view.ProgressOptions) *progress {
	p := &progress{now: time.Date(2026, 3, 1, 10, 20, 30, 0, time.UTC)}
	o.Now, o.Requests = func() time.Time { return p.now }, func() int { return p.requests }
	p.Progress = view.NewProgress(&p.out, o)
	return p
}

// shown returns what is written since the last call.
func (p *progress) shown() string {
	defer p.out.Reset()
	return p.out.String()
}

const erase = "\r\x1b[2K"

// A terminal shows what the run does or waits for on one line, which is not drawn too often.
func TestLiveProgress(t *testing.T) {
	g, p := NewWithT(t), newProgress(view.ProgressOptions{Live: true, Width: 100})
	p.Tick()
	g.Expect(p.shown()).To(BeEmpty(), "nothing lasts long")
	p.now = p.now.Add(3 * time.Second)
	p.Tick()
	g.Expect(p.shown()).To(Equal(erase + "waiting for the first response  3 s"))

	p.Start(512)
	g.Expect(p.shown()).To(Equal(erase + "[  0/512] 0 requests  0 violations"))
	p.Done("leads.move  state", 1)
	p.Refresh()
	g.Expect(p.shown()).To(BeEmpty(), "drawn again too soon")
	p.now, p.requests = p.now.Add(100*time.Millisecond), 1204
	p.Done("list  pages", 1)
	g.Expect(p.shown()).To(Equal(erase + "[  2/512] list  pages  1,204 requests  2 violations"))

	p.Begin("second")
	p.Begin("first")
	p.End("second")
	p.now = p.now.Add(5 * time.Second)
	p.Begin("third")
	p.Refresh()
	g.Expect(p.shown()).To(Equal(erase + "[  2/512] waiting for first  1,204 requests  2 violations  5 s"))
	p.Wait("waiting 30 s: a limit", 30*time.Second)
	g.Expect(p.shown()).To(Equal(erase + "[  2/512] waiting 30 s: a limit  1,204 requests  2 violations  5 s"))
	p.now = p.now.Add(31 * time.Second)
	p.Tick()
	g.Expect(p.shown()).To(HavePrefix(erase + "[  2/512] waiting for first  "))

	p.Stop()
	p.Stop()
	p.Done("late", 1)
	p.Wait("late", time.Second)
	p.now = p.now.Add(time.Minute)
	p.Refresh()
	p.Tick()
	g.Expect(p.shown()).To(Equal(erase), "cleared once, and silent ever after")
}

func TestLiveProgressStaysOnItsLine(t *testing.T) {
	for _, columns := range []int{20, 40, 60, 100} {
		g, p := NewWithT(t), newProgress(view.ProgressOptions{Live: true, Width: columns})
		p.Start(1000)
		p.shown()
		p.now, p.requests = p.now.Add(time.Second), 123_456
		p.Done(strings.Repeat("name\n\x1b[A ", 30), 1)
		line := strings.TrimPrefix(p.shown(), erase)
		g.Expect(line).NotTo(Or(ContainSubstring("\n"), ContainSubstring("\x1b")))
		g.Expect(len([]rune(line))).To(BeNumerically("<", columns))
	}
	p := newProgress(view.ProgressOptions{Live: true, Color: true, Width: 80})
	p.Start(2)
	p.now = p.now.Add(time.Second / 2)
	p.Done("x", 3)
	NewWithT(t).Expect(p.shown()).To(HaveSuffix("\x1b[31mx  0 requests  3 violations\x1b[0m"))
}

// A log gets a line for each tenth, at least every 10 s, and at once for each wait.
func TestPlainProgress(t *testing.T) {
	g, p := NewWithT(t), newProgress(view.ProgressOptions{})
	pass := func(seconds int) string {
		for range seconds {
			p.now = p.now.Add(time.Second)
			p.Tick()
		}
		return p.shown()
	}
	g.Expect(pass(12)).To(Equal("elapsed 10 s  waiting for the first response\n"))
	p.Start(57)
	p.Begin("slow")
	g.Expect(pass(9)).To(BeEmpty())
	g.Expect(pass(11)).To(Equal("elapsed 10 s  0/57  0 requests  0 violations  waiting for slow\n" +
		"elapsed 20 s  0/57  0 requests  0 violations  waiting for slow\n"))
	p.Wait("waiting 30 s:\na limit", 30*time.Second)
	g.Expect(p.shown()).To(Equal("waiting 30 s:\\na limit\n"))
	g.Expect(pass(9)).To(BeEmpty(), "the last line is young")
	g.Expect(pass(1)).To(Equal("elapsed 30 s  0/57  0 requests  0 violations  waiting 30 s:\\na limit\n"))
	p.Start(57)
	for i := range 60 {
		p.now, p.requests = p.now.Add(time.Second/10), p.requests+20
		p.Done("name", i%2)
	}
	lines := strings.Split(p.shown(), "\n")
	g.Expect(lines).To(HaveLen(11))
	g.Expect(lines[0]).To(Equal(" 10 %  6/57  120 requests  3 violations  0.60 s"))
	g.Expect(lines[9]).To(Equal("100 %  57/57  1,140 requests  28 violations  5.70 s"))
	p.Stop()
	g.Expect(pass(60)).To(BeEmpty())

	p = newProgress(view.ProgressOptions{Noun: "problem"})
	p.Start(0)
	p.Start(2)
	p.Done("name", 1)
	g.Expect(p.shown()).To(Equal(" 50 %  1/2  0 requests  1 problem  0.00 s\n"))
}

// What does not fit is left out whole, and what is not known is not said.
func TestLoadLineFits(t *testing.T) {
	g := NewWithT(t)
	f := view.LoadFigures{
		Number: 2, Of: 8, Scenario: "list-throughput", Phase: "500/s", At: 12300 * time.Millisecond, Lasts: 30 * time.Second, AskedPerSecond: 500, DonePerSecond: 498,
		P50MS: 3.12, P99MS: 1009, Open: true, Planned: 15000, Sent: 6150, Accepted: 6100, Limited: 40, Failed: 2, InFlight: 8, LagP99MS: 0.41,
	}
	g.Expect(view.LoadLine(f, 140)).To(Equal("[2/8] list-throughput 500/s  12.3/30 s  498/500/s  p50 3.12 p99 ≥1,009 ms  6,100 ok  40 429  2 failed  8 in flight  lag 0.41 ms"))
	g.Expect(view.LoadLine(f, 80)).To(Equal("[2/8] list-throughput 500/s  12.3/30 s  498/500/s  p50 3.12 p99 ≥1,009 ms"))
	quiet := view.LoadFigures{Scenario: "rate-limit", Phase: "probes", Step: "burst", At: 400 * time.Millisecond, Lasts: 40 * time.Second, Accepted: 20}
	g.Expect(view.LoadLine(quiet, 100)).To(Equal("rate-limit probes: burst  0.4/40 s  20 ok  0 failed"))
	rapid.Check(t, func(t *rapid.T) {
		f.Step = rapid.String().Draw(t, "step")
		f.Scenario, f.Phase = rapid.String().Draw(t, "scenario"), rapid.String().Draw(t, "phase")
		width := rapid.IntRange(20, 200).Draw(t, "width")
		line := view.LoadLine(f, width)
		if text.StringWidthWithoutEscSequences(line) > width || strings.ContainsAny(line, "\n\r\x1b") {
			t.Fatalf("in %d columns: %q", width, line)
		}
	})
}

// A terminal is drawn every 100 ms; a log has a line for each phase.
func TestLoadProgress(t *testing.T) {
	g, now := NewWithT(t), time.Unix(0, 0)
	var live, log bytes.Buffer
	onTerminal := view.NewLoadProgress(&live, view.ProgressOptions{Live: true, Width: 80, Now: func() time.Time { return now }})
	inLog := view.NewLoadProgress(&log, view.ProgressOptions{Width: 80})
	for i := range 40 {
		f := view.LoadFigures{Scenario: "soak", Phase: []string{"warm-up", "200/s"}[i/20], At: time.Duration(i%20) * 50 * time.Millisecond, Lasts: time.Second, Accepted: int64(i)}
		onTerminal.Show(f)
		inLog.Show(f)
		now = now.Add(50 * time.Millisecond)
	}
	onTerminal.Stop()
	inLog.Stop()
	g.Expect(strings.Count(live.String(), "\r")).To(Equal(20+1), "once to clear")
	g.Expect(live.String()).To(And(HaveSuffix(erase), Not(ContainSubstring("\n"))))
	g.Expect(log.String()).To(MatchRegexp(`\Asoak warm-up .* 19 ok .*\nsoak 200/s .* 39 ok .*\n\z`))
}

func TestWhatIsNoTerminal(t *testing.T) {
	g := NewWithT(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	for env, want := range map[[3]string]view.ProgressOptions{
		{}:               {Width: view.DefaultWidth},
		{"132", "1", ""}: {Width: 132, Color: true}, {"wide", "0", ""}: {Width: view.DefaultWidth}, {"", "1", "1"}: {Width: view.DefaultWidth},
	} {
		for i, name := range []string{"COLUMNS", "FORCE_COLOR", "NO_COLOR"} {
			t.Setenv(name, env[i])
		}
		g.Expect(view.On(f)).To(Equal(want), "%q", env)
	}
}
