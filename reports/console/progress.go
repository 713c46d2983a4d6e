package console

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/reports"
)

// redraw is the minimum time between two updates of the live line.
const redraw = 100 * time.Millisecond

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
	// One and Many are the noun for what Done counts; empty means violations.
	One, Many string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Progress shows the progress of a run. It starts no goroutine and is safe for
// concurrent use. It ignores errors of the writer.
type Progress struct {
	mu      sync.Mutex
	w       io.Writer
	o       ProgressOptions
	paint   paint
	started time.Time
	drawn   time.Time // when the live line was last drawn
	running bool
	shown   bool // the live line is on the screen

	total, done, violations int
	name                    string
	tenths                  int // tenths printed so far
}

// NewProgress returns a Progress that writes to w after Start.
func NewProgress(w io.Writer, o ProgressOptions) *Progress {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.One == "" || o.Many == "" {
		o.One, o.Many = "violation", "violations"
	}
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	return &Progress{w: w, o: o, paint: paint(o.Color)}
}

// Start begins a run with total pieces of work and resets all counts.
func (p *Progress) Start(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.done, p.violations, p.name, p.tenths = total, 0, 0, "", 0
	p.started, p.drawn, p.running = p.o.Now(), time.Time{}, true
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

// Stop removes the live line. Later calls show nothing until the next Start.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = false
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
	count := fmt.Sprintf("[%*d/%d]", len(fmt.Sprint(p.total)), p.done, p.total)
	facts := strings.Join(p.facts(), "  ")
	// One column stays free, because some terminals wrap a full line.
	room := p.o.Width - 1 - width(count) - 1
	if name := reports.Printable(p.name); name != "" && room > width(facts)+gap {
		facts = cut(name, room-width(facts)-gap) + strings.Repeat(" ", gap) + facts
	}
	facts = cut(facts, room)
	if p.violations > 0 {
		facts = p.paint.red(facts)
	}
	io.WriteString(p.w, clearLine+p.paint.dim(count)+" "+facts)
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
	p.tenths = tenths
	elapsed := p.o.Now().Sub(p.started).Seconds()
	fmt.Fprintf(p.w, "%3d %%  %d/%d  %s  %s\n", tenths*10, p.done, p.total, strings.Join(p.facts(), "  "), duration(elapsed))
}

// facts returns the figures beside the count.
func (p *Progress) facts() []string {
	var facts []string
	if p.o.Requests != nil {
		facts = append(facts, plural(p.o.Requests(), "request", "requests"))
	}
	return append(facts, plural(p.violations, p.o.One, p.o.Many))
}
