package console_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports/console"
)

// clock is a manual clock.
type clock struct{ now time.Time }

func newClock() *clock                    { return &clock{time.Date(2026, 3, 1, 10, 20, 30, 0, time.UTC)} }
func (c *clock) Now() time.Time           { return c.now }
func (c *clock) advance(by time.Duration) { c.now = c.now.Add(by) }

const erase = "\r\x1b[2K"

func TestLiveProgress(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	at, requests := newClock(), 0
	p := console.NewProgress(&out, console.ProgressOptions{Live: true, Width: 80, Now: at.Now, Requests: func() int { return requests }})

	p.Start(512)
	g.Expect(out.String()).To(Equal(erase + "[  0/512] 0 requests  0 violations"))

	out.Reset()
	p.Done("leads.move  state", 1)
	g.Expect(out.String()).To(BeEmpty(), "drawn again too soon")

	at.advance(100 * time.Millisecond)
	requests = 1204
	p.Done("inbox-placement-tests.list  pages", 1)
	g.Expect(out.String()).To(Equal(erase + "[  2/512] inbox-placement-tests.list  pages  1,204 requests  2 violations"))

	out.Reset()
	p.Refresh()
	g.Expect(out.String()).To(BeEmpty(), "drawn again too soon")
	at.advance(100 * time.Millisecond)
	requests = 1300
	p.Refresh()
	g.Expect(out.String()).To(ContainSubstring("1,300 requests"))

	out.Reset()
	p.Stop()
	p.Stop()
	p.Done("late", 1)
	at.advance(time.Second)
	p.Refresh()
	g.Expect(out.String()).To(Equal(erase), "cleared once, and silent ever after")
}

func TestLiveProgressStaysOnItsLine(t *testing.T) {
	for _, columns := range []int{20, 40, 60, 100} {
		g := NewWithT(t)
		var out bytes.Buffer
		at := newClock()
		p := console.NewProgress(&out, console.ProgressOptions{Live: true, Width: columns, Now: at.Now, Requests: func() int { return 123_456 }})
		p.Start(1000)
		at.advance(time.Second)
		out.Reset()
		p.Done(strings.Repeat("name\n\x1b[A ", 30), 1)
		line := strings.TrimPrefix(out.String(), erase)
		g.Expect(line).NotTo(Or(ContainSubstring("\n"), ContainSubstring("\x1b")))
		g.Expect(len([]rune(line))).To(BeNumerically("<", columns))
	}
}

func TestLiveProgressColors(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	at := newClock()
	p := console.NewProgress(&out, console.ProgressOptions{Live: true, Color: true, Width: 80, Now: at.Now})
	p.Start(2)
	at.advance(time.Second / 2)
	p.Done("x", 3)
	g.Expect(out.String()).To(HaveSuffix("\x1b[31mx  3 violations\x1b[0m"))
}

func TestPlainProgressPrintsTenths(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	at, requests := newClock(), 0
	p := console.NewProgress(&out, console.ProgressOptions{Now: at.Now, Requests: func() int { return requests }})
	p.Start(57)
	for i := range 57 {
		at.advance(time.Second / 10)
		requests += 20
		p.Done("name", i%2)
		p.Refresh()
	}
	p.Stop()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	g.Expect(lines).To(HaveLen(10))
	g.Expect(lines[0]).To(Equal("10 %  6/57  120 requests  3 violations  0.60 s"))
	g.Expect(lines[9]).To(Equal("100 %  57/57  1,140 requests  28 violations  5.70 s"))
	g.Expect(out.String()).NotTo(ContainSubstring("\x1b"))
}

// Progress shows no requests without a counter, and uses the given noun.
func TestProgressNamesWhatItCounts(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	p := console.NewProgress(&out, console.ProgressOptions{Now: newClock().Now, One: "problem", Many: "problems"})
	p.Start(2)
	p.Done("name", 1)
	p.Done("name", 1)
	g.Expect(out.String()).To(Equal(" 50 %  1/2  1 problem  0.00 s\n100 %  2/2  2 problems  0.00 s\n"))
}

func TestPlainProgressOfFewAndOfTooMany(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	p := console.NewProgress(&out, console.ProgressOptions{Now: newClock().Now})
	p.Start(3)
	for range 5 {
		p.Done("name", 0)
	}
	g.Expect(strings.Count(out.String(), "\n")).To(Equal(3))

	out.Reset()
	p.Start(0)
	p.Stop()
	g.Expect(out.String()).To(BeEmpty())
}

func TestProgressIsSafeForConcurrentUse(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	var requests atomic.Int64
	p := console.NewProgress(&out, console.ProgressOptions{Requests: func() int { return int(requests.Load()) }})
	const workers, each = 8, 50
	p.Start(workers * each)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for range each {
				requests.Add(1)
				p.Refresh()
				p.Done("name", 1)
			}
		})
	}
	wait.Wait()
	p.Stop()
	g.Expect(out.String()).To(ContainSubstring("400/400  400 requests  400 violations"))
}

// A terminal shows the elapsed time and what the run waits for, although nothing ends.
func TestLiveProgressShowsWhatItWaitsFor(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	at := newClock()
	p := console.NewProgress(&out, console.ProgressOptions{Live: true, Width: 100, Now: at.Now})
	p.Tick()
	g.Expect(out.String()).To(BeEmpty(), "nothing lasts long")
	at.advance(3 * time.Second)
	p.Tick()
	g.Expect(out.String()).To(Equal(erase + "waiting for the first response  3 s"))

	out.Reset()
	p.Start(9)
	p.Begin("second")
	p.Begin("first")
	p.End("second")
	p.Done("second", 0)
	at.advance(5 * time.Second)
	p.Begin("third")
	out.Reset()
	p.Tick()
	g.Expect(out.String()).To(Equal(erase + "[1/9] waiting for first  0 violations  5 s"))

	out.Reset()
	p.Wait("waiting 30 s: a limit", 30*time.Second)
	g.Expect(out.String()).To(Equal(erase + "[1/9] waiting 30 s: a limit  0 violations  5 s"))
	out.Reset()
	at.advance(31 * time.Second)
	p.Tick()
	g.Expect(out.String()).To(Equal(erase + "[1/9] waiting for first  0 violations  36 s"))

	p.Stop()
	out.Reset()
	p.Wait("late", time.Second)
	at.advance(time.Minute)
	p.Tick()
	g.Expect(out.String()).To(BeEmpty())
}

// A log gets a line at least every 10 s, and one at once for each wait.
func TestPlainProgressIsNeverSilent(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	at := newClock()
	p := console.NewProgress(&out, console.ProgressOptions{Now: at.Now, Requests: func() int { return 7 }})
	pass := func(seconds int) string {
		out.Reset()
		for range seconds {
			at.advance(time.Second)
			p.Tick()
		}
		return out.String()
	}
	g.Expect(pass(12)).To(Equal("elapsed 10 s  waiting for the first response\n"))
	p.Start(100)
	p.Begin("slow")
	g.Expect(pass(9)).To(BeEmpty())
	g.Expect(pass(11)).To(Equal("elapsed 10 s  0/100  7 requests  0 violations  waiting for slow\n" +
		"elapsed 20 s  0/100  7 requests  0 violations  waiting for slow\n"))
	out.Reset()
	p.Wait("waiting 30 s:\na limit", 30*time.Second)
	g.Expect(out.String()).To(Equal("waiting 30 s:\\na limit\n"))
	g.Expect(pass(9)).To(BeEmpty(), "the last line is young")
	g.Expect(pass(1)).To(Equal("elapsed 30 s  0/100  7 requests  0 violations  waiting 30 s:\\na limit\n"))
	for range 10 {
		p.Done("x", 0)
	}
	g.Expect(pass(9)).To(BeEmpty())
	p.Stop()
	g.Expect(pass(60)).To(BeEmpty())
}

func TestDetectOnWhatIsNoTerminal(t *testing.T) {
	g := NewWithT(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	g.Expect(console.Detect(f, getenv)).To(Equal(console.Options{Width: console.DefaultWidth}))
	env["COLUMNS"] = "132"
	g.Expect(console.Detect(f, getenv)).To(Equal(console.Options{Width: 132}))
	for value, colored := range map[string]bool{"1": true, "0": false, "": false} {
		env["FORCE_COLOR"] = value
		g.Expect(console.Detect(f, getenv).Color).To(Equal(colored), value)
	}
	env["FORCE_COLOR"], env["NO_COLOR"] = "1", "1"
	g.Expect(console.Detect(f, getenv).Color).To(BeFalse())
	g.Expect(console.Live(f, getenv)).To(BeFalse())
	env["COLUMNS"] = "wide"
	g.Expect(console.Detect(f, getenv)).To(Equal(console.Options{Width: console.DefaultWidth}))
}
