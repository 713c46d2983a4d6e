package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/internal/printable"
)

const (
	redraw   = 100 * time.Millisecond // minimum time between two updates of the live line
	reminder = 10 * time.Second       // maximum time between two lines of a log
	longWork = time.Second            // from which a piece of work is named while it runs
)

// ProgressOptions say how to show progress.
type ProgressOptions struct {
	// Live redraws one line, for terminals. Otherwise Progress prints a line after
	// each tenth of the work, for logs.
	Live bool
	// Color allows terminal colours.
	Color bool
	// Width is the number of columns of the live line; 0 means DefaultWidth.
	Width int
	// Requests returns the number of requests so far; nil shows none. Progress calls
	// it with a lock held, so it must not call or wait for the Progress.
	Requests func() int
	// Noun is for one of what Done counts; empty means violation.
	Noun string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Progress shows the progress of a run. It starts no goroutine, so the caller calls Tick,
// and is safe for concurrent use. It ignores errors of the writer.
type Progress struct {
	mu      sync.Mutex
	w       io.Writer
	o       ProgressOptions
	paint   Paint
	started time.Time
	drawn   time.Time // when the live line was last drawn
	told    time.Time // when the last line of a log was written
	running bool
	stopped bool
	shown   bool // the live line is on the screen

	wait      string // what the run waits for
	waitUntil time.Time
	begun     map[string]time.Time // pieces of work that run

	total, done, violations int
	name                    string
	tenths                  int // tenths printed so far
}

// NewProgress returns a Progress that writes to w. Before Start it shows what the run
// waits for.
func NewProgress(w io.Writer, o ProgressOptions) *Progress {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Noun = cmp.Or(o.Noun, "violation")
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	now := o.Now()
	return &Progress{w: w, o: o, paint: Paint(o.Color), started: now, told: now, begun: map[string]time.Time{}}
}

// Start begins a run with total pieces of work and resets all counts.
func (p *Progress) Start(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.done, p.violations, p.name, p.tenths = total, 0, 0, "", 0
	p.started, p.drawn, p.running, p.stopped = p.o.Now(), time.Time{}, true, false
	p.told = p.started
	if p.o.Live {
		p.draw()
	}
}

// Done reports that a piece of work has ended, with the number of its violations, or
// of whatever One and Many name.
func (p *Progress) Done(name string, violations int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running {
		return
	}
	p.done++
	p.violations += violations
	p.name = name
	if p.o.Live {
		p.draw()
	} else {
		p.print()
	}
}

// Refresh redraws the live line if that is due, so that the number of requests is
// current during a long piece of work. It is cheap enough to call after every request.
func (p *Progress) Refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running && p.o.Live {
		p.draw()
	}
}

// Begin and End report that a piece of work runs. The one that has run longest is shown.
func (p *Progress) Begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun[name] = p.o.Now()
}

// End is described with Begin.
func (p *Progress) End(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.begun, name)
}

// Wait shows what the run waits for: in a log at once, on a terminal for the given time.
// 0 stands for an unknown time.
func (p *Progress) Wait(what string, atMost time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	if atMost <= 0 {
		atMost = reminder
	}
	what = printable.Text(what)
	p.wait, p.waitUntil = what, p.o.Now().Add(atMost)
	if p.o.Live {
		p.drawn = time.Time{}
		p.draw()
		return
	}
	io.WriteString(p.w, what+"\n")
	p.told = p.o.Now()
}

// Tick keeps the run from being silent. Call it every second. On a terminal it shows the
// elapsed time. In a log it writes a line if there was none for 10 s.
func (p *Progress) Tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch now := p.o.Now(); {
	case p.stopped:
	case p.o.Live && now.Sub(p.started) >= longWork:
		p.draw()
	case !p.o.Live && now.Sub(p.told) >= reminder:
		p.remind(now)
	}
}

// remind writes how far the run is and what it waits for.
func (p *Progress) remind(now time.Time) {
	p.told = now
	line := []string{"elapsed " + seconds(now.Sub(p.started))}
	if p.running {
		line = append(line, fmt.Sprintf("%d/%d", p.done, p.total))
		line = append(line, p.facts()...)
	}
	if what := p.what(now); what != "" {
		line = append(line, what)
	}
	io.WriteString(p.w, strings.Join(line, "  ")+"\n")
}

// what returns what the run does or waits for.
func (p *Progress) what(now time.Time) string {
	if now.Before(p.waitUntil) {
		return p.wait
	}
	if !p.running {
		return "waiting for the first response"
	}
	oldest, since := "", now.Add(-longWork)
	for name, begun := range p.begun {
		if begun.Before(since) || begun.Equal(since) && (oldest == "" || name < oldest) {
			oldest, since = name, begun
		}
	}
	if oldest != "" {
		return "waiting for " + printable.Text(oldest)
	}
	return printable.Text(p.name)
}

// seconds formats an elapsed time in whole seconds.
func seconds(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return Duration(d.Seconds())
}

// Stop removes the live line. Later calls show nothing until the next Start.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.stopped = false, true
	if p.shown {
		io.WriteString(p.w, clearLine)
		p.shown = false
	}
}

// clearLine moves to the first column and clears the line.
const clearLine = "\r\x1b[2K"

func (p *Progress) draw() {
	now := p.o.Now()
	if now.Sub(p.drawn) < redraw {
		return
	}
	p.drawn, p.shown = now, true
	count, facts := "", ""
	if p.running {
		count = fmt.Sprintf("[%*d/%d]", len(fmt.Sprint(p.total)), p.done, p.total)
		facts = strings.Join(p.facts(), "  ")
	}
	if elapsed := now.Sub(p.started); elapsed >= longWork {
		facts = strings.TrimPrefix(facts+"  "+seconds(elapsed), "  ")
	}
	// One column stays free, because some terminals wrap a full line.
	room := p.o.Width - 1 - Width(count) - 1
	if name := p.what(now); name != "" && room > Width(facts)+columnGap {
		facts = Cut(name, room-Width(facts)-columnGap) + strings.Repeat(" ", columnGap) + facts
	}
	facts = Cut(facts, room)
	if p.violations > 0 {
		facts = p.paint.red(facts)
	}
	io.WriteString(p.w, clearLine+strings.TrimPrefix(p.paint.dim(count)+" "+facts, " "))
}

// print writes a line if another tenth is done.
func (p *Progress) print() {
	tenths := 10
	if p.done < p.total {
		tenths = p.done * 10 / p.total
	}
	if tenths <= p.tenths {
		return
	}
	p.tenths, p.told = tenths, p.o.Now()
	elapsed := p.o.Now().Sub(p.started).Seconds()
	fmt.Fprintf(p.w, "%3d %%  %d/%d  %s  %s\n", tenths*10, p.done, p.total, strings.Join(p.facts(), "  "), Duration(elapsed))
}

// facts returns the figures beside the count.
func (p *Progress) facts() []string {
	var facts []string
	if p.o.Requests != nil {
		facts = append(facts, printable.Counted(p.o.Requests(), "request"))
	}
	return append(facts, printable.Counted(p.violations, p.o.Noun))
}
