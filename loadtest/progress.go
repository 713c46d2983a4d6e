package loadtest

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"

	"outreach.example/conformance/reports/view"
)

// Progress shows how a run goes on, on the error stream of a command.
type Progress struct {
	stderr   io.Writer
	progress *view.LoadProgress
	all      []string            // the scenarios of the run
	metrics  *view.MetricsServer // nil if nobody listens

	mu             sync.Mutex
	scenario, step string
}

// NewProgress returns the progress of a run of the scenarios. Metrics may be nil.
func NewProgress(stderr io.Writer, scenarios []string, metrics *view.MetricsServer) *Progress {
	v := &Progress{stderr: stderr, progress: view.NewLoadProgress(stderr, view.On(stderr)), all: scenarios, metrics: metrics}
	v.progress.Say("measuring what this machine can send")
	if metrics != nil {
		v.Say("live metrics at " + metrics.Address)
	}
	return v
}

// Begin notes that a phase, or a step of one, begins.
func (v *Progress) Begin(scenario, step string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.scenario, v.step = scenario, step
}

// Show shows the figures of the phase that runs.
func (v *Progress) Show(l generate.Live) {
	v.mu.Lock()
	f := view.LoadFigures{Number: 1 + slices.Index(v.all, v.scenario), Of: len(v.all), Scenario: v.scenario}
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
	v.metrics.Show(f)
}

// Say writes what the run waits for on a line of its own, also into logs.
func (v *Progress) Say(what string) {
	v.progress.Stop() // which ends the live line
	_, _ = fmt.Fprintf(v.stderr, "outreach-conformance: %s\n", printable.Text(what))
}

// PuttingBack shows how many changes are left to roll back.
func (v *Progress) PuttingBack(left int) {
	changes := "changes are"
	if left == 1 {
		changes = "change is"
	}
	v.progress.Say(fmt.Sprintf("rolling back changes: %d %s left", left, changes))
}

// worthTelling is how long a rollback takes before its time is shown. The summary has
// the time of the load alone.
const worthTelling = time.Second

// PutBack shows how long the rollback took.
func (v *Progress) PutBack(took time.Duration) {
	v.progress.Stop()
	if took >= worthTelling {
		v.Say(fmt.Sprintf("rolled back changes in %.1f s", took.Seconds()))
	}
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Stop ends the live line.
func (v *Progress) Stop() { v.progress.Stop() }
