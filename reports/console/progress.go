package console

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/reports"
)

// redraw is the least time between two drawings of the live line.
const redraw = 100 * time.Millisecond

// ProgressOptions say how to show progress.
type ProgressOptions struct {
	// Live redraws one line, for terminals. Otherwise a line is printed
	// whenever another tenth of the work is done, for logs.
	Live bool
	// Color allows terminal colours.
	Color bool
	// Width is the number of columns of the live line; 0 means DefaultWidth.
	Width int
	// Requests counts the requests that were sent so far; nil shows none. It
	// must not call the Progress, nor wait for anyone who does.
	Requests func() int
	// One and Many name what Done counts; empty means violations.
	One, Many string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Progress shows how far a run has come. It starts no goroutine and is safe
// for concurrent use. What the writer refuses is lost: progress is no result.
type Progress struct {
	mu      sync.Mutex
	w       io.Writer
	o       ProgressOptions
	paint   paint
	started time.Time
	drawn   time.Time // when the live line was last drawn
	running bool
	shown   bool // the live line stands on the screen

	total, done, violations int
	name                    string
	tenths                  int // how many tenths have been printed
}

// NewProgress returns a Progress that writes to w once it is started.
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

// Start begins to show a run of total pieces of work, with all counts at zero.
func (p *Progress) Start(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.done, p.violations, p.name, p.tenths = total, 0, 0, "", 0
	p.started, p.drawn, p.running = p.o.Now(), time.Time{}, true
	if p.o.Live {
		p.draw()
	}
}

// Done says that the piece of work called name has ended, with so many
// violations, or whatever is counted, of its own.
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

// Refresh draws the live line again if it is due, so that the requests keep
// counting while one piece of work takes long. It may be called as often as
// one likes, for instance after every request.
func (p *Progress) Refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running && p.o.Live {
		p.draw()
	}
}

// Stop removes the live line. Whatever is said afterwards shows nothing, until
// the next Start.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = false
	if p.shown {
		io.WriteString(p.w, clearLine)
		p.shown = false
	}
}

// clearLine goes to the first column and empties the line.
const clearLine = "\r\x1b[2K"

func (p *Progress) draw() {
	now := p.o.Now()
	if now.Sub(p.drawn) < redraw {
		return
	}
	p.drawn, p.shown = now, true
	count := fmt.Sprintf("[%*d/%d]", len(fmt.Sprint(p.total)), p.done, p.total)
	facts := strings.Join(p.facts(), "  ")
	// One column stays free: a full line makes some terminals wrap.
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

// print writes a line when another tenth is done.
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

// facts are what there is to say beside the count.
func (p *Progress) facts() []string {
	var facts []string
	if p.o.Requests != nil {
		facts = append(facts, plural(p.o.Requests(), "request", "requests"))
	}
	return append(facts, plural(p.violations, p.o.One, p.o.Many))
}
