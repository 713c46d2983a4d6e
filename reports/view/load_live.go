package view

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// LoadFigures are the live figures of the current phase.
type LoadFigures struct {
	Number, Of       int // the scenario's number in the run, from 1, and the number of scenarios; 0 shows neither
	Scenario, Phase  string
	Step             string // current step of the phase; empty if it has no steps
	Warmup           bool
	At, Lasts        time.Duration // time since the phase's start, and length of its schedule
	AskedPerSecond   float64       // in the last full second, as DonePerSecond, P50MS and P99MS are
	DonePerSecond    float64
	P50MS, P99MS     float64 // response time of accepted responses; 0 without any
	MedianOpen, Open bool    // P50MS or P99MS is a lower bound
	Planned, Sent    int64
	Accepted         int64
	Limited          int64
	Failed           int64
	InFlight         int64
	LagP99MS         float64 // send lag
}

// LoadLine returns f as one line of at most the given number of columns. It omits
// figures that do not fit, from the end.
func LoadLine(f LoadFigures, most int) string {
	parts := []string{fmt.Sprintf("%s/%s s", tenths(f.At), tenths(f.Lasts))}
	add := func(given bool, format string, args ...any) {
		if given {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(f.AskedPerSecond > 0, "%s/%s/s", printable.Figure(math.Round(f.DonePerSecond)), printable.Figure(math.Round(f.AskedPerSecond)))
	add(f.AskedPerSecond == 0 && f.DonePerSecond > 0, "%s/s", printable.Figure(math.Round(f.DonePerSecond))) // a closed loop requests no rate
	add(f.P50MS > 0, "p50 %s p99 %s ms", load.AtLeast(f.MedianOpen, f.P50MS), load.AtLeast(f.Open, f.P99MS))
	add(true, "%s ok", printable.Number(int(f.Accepted)))
	add(f.Limited > 0, "%s 429", printable.Number(int(f.Limited)))
	add(true, "%s failed", printable.Number(int(f.Failed)))
	add(f.InFlight > 0, "%s in flight", printable.Number(int(f.InFlight)))
	add(f.LagP99MS > 0, "lag %s ms", printable.Figure(f.LagP99MS))

	name := printable.Text(f.Scenario)
	if f.Phase != f.Scenario {
		name += " " + printable.Text(f.Phase)
	}
	if f.Warmup && f.Phase != "warm-up" {
		name += " (warm-up)"
	}
	if f.Step != "" {
		name += ": " + printable.Text(f.Step)
	}
	if f.Number > 0 {
		name = fmt.Sprintf("[%d/%d] ", f.Number, f.Of) + name
	}
	line := Cut(name, max(most/2, 10))
	for _, part := range parts {
		if Width(line)+columnGap+Width(part) > most {
			break
		}
		line += strings.Repeat(" ", columnGap) + part
	}
	return Cut(line, most)
}

// tenths formats seconds, with one decimal place at most.
func tenths(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64)
}

// LoadProgress shows the progress of a load run. It starts no goroutine and is safe for
// concurrent use. It ignores errors of the writer.
type LoadProgress struct {
	mu      sync.Mutex
	w       io.Writer
	o       ProgressOptions
	paint   Paint
	drawn   time.Time
	shown   bool
	last    LoadFigures
	present bool // last holds figures that have not been printed
}

// NewLoadProgress returns a LoadProgress that writes to w. Unless o.Live is set, it
// writes one line at the end of each phase.
func NewLoadProgress(w io.Writer, o ProgressOptions) *LoadProgress {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Width <= 0 {
		o.Width = DefaultWidth
	}
	return &LoadProgress{w: w, o: o, paint: Paint(o.Color)}
}

// Show shows the figures. It may be called at any rate.
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
	line := LoadLine(f, p.o.Width-1) // some terminals wrap a full line
	if f.Failed > 0 {
		line = p.paint.red(line)
	}
	_, _ = io.WriteString(p.w, clearLine+line)
}

// Say shows a message on a terminal, until there are figures. In a log it shows
// nothing.
func (p *LoadProgress) Say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.o.Live {
		p.shown = true
		_, _ = io.WriteString(p.w, clearLine+p.paint.dim(Cut(printable.Text(what), p.o.Width-1)))
	}
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
