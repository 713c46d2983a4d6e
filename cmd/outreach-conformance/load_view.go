package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/reports/console"
)

// loadView shows the progress of a load run on the error stream.
type loadView struct {
	stderr   io.Writer
	progress *console.LoadProgress
	all      []string     // the scenarios of the run
	metrics  *liveMetrics // nil if nobody listens

	mu             sync.Mutex
	scenario, step string
}

func newLoadView(stderr io.Writer, scenarios []string) *loadView {
	var options console.ProgressOptions
	if file, ok := terminalOf(stderr); ok {
		detected := console.Detect(file, os.Getenv)
		options.Color, options.Width, options.Live = detected.Color, detected.Width, console.Live(file, os.Getenv)
	}
	v := &loadView{stderr: stderr, progress: console.NewLoadProgress(stderr, options), all: scenarios}
	v.progress.Say("measuring what this machine can send")
	return v
}

// begin notes that a phase, or a step of one, begins.
func (v *loadView) begin(scenario, step string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.scenario, v.step = scenario, step
}

// live shows the figures of the phase that runs.
func (v *loadView) live(l generate.Live) {
	v.mu.Lock()
	f := console.LoadFigures{Number: 1 + slices.Index(v.all, v.scenario), Of: len(v.all), Scenario: v.scenario}
	if v.step != l.Phase {
		f.Step = v.step
	}
	v.mu.Unlock()
	last := l.Last.Response[measure.Accepted]
	f.Phase, f.Warmup, f.At, f.Lasts = l.Phase, l.Warmup, l.At, l.Duration
	if passed := l.Lasted.Seconds(); passed > 0 {
		f.AskedPerSecond, f.DonePerSecond = float64(l.Last.Asked)/passed, float64(l.Last.Done)/passed
	}
	if last.Count() > 0 {
		f.P50MS, f.P99MS = inMS(last.Value(0.5)), inMS(last.Value(0.99))
		f.MedianOpen, f.Open = last.AtLeast(0.5), last.AtLeast(0.99)
	}
	f.Planned, f.Sent, f.InFlight, f.LagP99MS = l.Planned, l.Sent, l.InFlight, inMS(l.Lag)
	f.Accepted, f.Limited, f.Failed = l.Count[measure.Accepted], l.Count[measure.Limited], l.Count[measure.Failed]
	v.progress.Show(f)
	v.metrics.show(f)
}

// say writes what the run waits for on a line of its own, also into logs.
func (v *loadView) say(what string) {
	v.progress.Stop() // which ends the live line
	_, _ = fmt.Fprintf(v.stderr, "outreach-conformance: %s\n", printable.Text(what))
}

// puttingBack shows how many changes are left to roll back.
func (v *loadView) puttingBack(left int) {
	changes := "changes are"
	if left == 1 {
		changes = "change is"
	}
	v.progress.Say(fmt.Sprintf("rolling back changes: %d %s left", left, changes))
}

// worthTelling is how long a rollback takes before its time is shown. The summary has
// the time of the load alone.
const worthTelling = time.Second

// putBack shows how long the rollback took.
func (v *loadView) putBack(took time.Duration) {
	v.progress.Stop()
	if took >= worthTelling {
		v.say(fmt.Sprintf("rolled back changes in %.1f s", took.Seconds()))
	}
}

func (v *loadView) stop() { v.progress.Stop() }

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
