package console

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/reports"
)

// LoadFigures are what a live view shows of a phase that runs.
type LoadFigures struct {
	Scenario, Phase string
	Warmup          bool
	At, Lasts       time.Duration // since the phase's start, and of its schedule
	AskedPerSecond  float64       // of the last whole second, as all below up to P99MS
	DonePerSecond   float64
	P50MS, P99MS    float64 // response time of accepted answers; 0 if there were none
	Planned, Sent   int64
	Accepted        int64
	Limited         int64
	Failed          int64
	InFlight        int64
	LagP99MS        float64 // how late the generator sends
}

// LoadLine writes f as one line of at most width columns; what does not fit is
// left out from the end.
func LoadLine(f LoadFigures, width int) string {
	warm := ""
	if f.Warmup {
		warm = " (warm-up)"
	}
	parts := []string{
		fmt.Sprintf("%.1f/%.0f s", f.At.Seconds(), f.Lasts.Seconds()),
		fmt.Sprintf("%.0f/%.0f/s", f.DonePerSecond, f.AskedPerSecond),
		fmt.Sprintf("p50 %s p99 %s ms", short(f.P50MS), short(f.P99MS)),
		fmt.Sprintf("%s ok", number(int(f.Accepted))),
		fmt.Sprintf("%s 429", number(int(f.Limited))),
		fmt.Sprintf("%s failed", number(int(f.Failed))),
		fmt.Sprintf("%s in flight", number(int(f.InFlight))),
		fmt.Sprintf("lag %s ms", short(f.LagP99MS)),
	}
	name := cut(reports.Printable(f.Scenario)+" "+reports.Printable(f.Phase)+warm, max(width/3, 10))
	return cut(name+strings.Repeat(" ", gap)+strings.Join(parts, "  "), width)
}

// LoadProgress shows how far a load run has come. It starts no goroutine and is
// safe for concurrent use. What the writer refuses is lost: progress is no result.
type LoadProgress struct {
	mu      sync.Mutex
	w       io.Writer
	o       ProgressOptions
	paint   paint
	drawn   time.Time
	shown   bool
	last    LoadFigures
	present bool // last holds figures that have not been printed
}

// NewLoadProgress returns a LoadProgress that writes to w. Where o.Live is not
// set, it writes one line for each phase when the phase is over.
func NewLoadProgress(w io.Writer, o ProgressOptions) *LoadProgress {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	return &LoadProgress{w: w, o: o, paint: paint(o.Color)}
}

// Show is told the figures as often as one likes.
func (p *LoadProgress) Show(f LoadFigures) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.o.Live {
		if p.present && (f.Scenario != p.last.Scenario || f.Phase != p.last.Phase || f.At < p.last.At) {
			p.print()
		}
		p.last, p.present = f, true
		return
	}
	now := p.o.Now()
	if now.Sub(p.drawn) < redraw {
		return
	}
	p.drawn, p.shown = now, true
	line := LoadLine(f, p.o.Width-1) // a full line makes some terminals wrap
	if f.Failed > 0 {
		line = p.paint.red(line)
	}
	_, _ = io.WriteString(p.w, clearLine+line)
}

// Stop removes the live line, or prints the figures of the last phase.
func (p *LoadProgress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		_, _ = io.WriteString(p.w, clearLine)
		p.shown = false
	}
	if p.present {
		p.print()
	}
}

func (p *LoadProgress) print() {
	_, _ = io.WriteString(p.w, LoadLine(p.last, p.o.Width)+"\n")
	p.present = false
}
