// Package verdict turns the measurements of a load run into verdicts: which phases
// say something about the target, which thresholds are met, how a run compares with an
// earlier run or a second target, and why.
//
// A Draft collects what a scenario measures and draws its verdict. Join does the same
// for the shards of a scenario, and ConcludeRun for the scenarios of a run. The package
// sends nothing. It must not import packages client and generate, nor the profile.
package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"

	"outreach.example/conformance/reports/load"
)

// leastSent is the share of the planned requests that must be sent.
const leastSent = 0.995

// Terms are what the scenarios of a run are judged by.
type Terms struct {
	Thresholds []measure.Threshold // of the profile and the command line
	// Baselines hold the figures for thresholds such as worse<5%, by the file that the
	// threshold names. The empty name is the run's own baseline.
	Baselines map[string]*Baseline
	// LagLimit is the send lag (p99) up to which the load counts as the requested one, and
	// the lag as the target's. 0 means that no lag is the target's.
	LagLimit    time.Duration `flag:"lag-limit" usage:"send lag (p99) that counts as the target's (default: none; thresholds allow for the lag)"`
	Calibration measure.Calibration
}

// phase is a recorded phase.
type phase struct {
	measure.Recording
	otherLoad string // how the load differed from the requested one; empty if it did not
	near      string // the rate was near the generator's ceiling, and which; empty if not
	cut       bool   // it did not run to its end
}

// Draft is the result of one scenario while it is measured.
type Draft struct {
	Result  load.Scenario // without what Conclude adds
	Uses    load.Requests // without the total
	Traffic load.Traffic

	Sharded  bool                  // it is a shard, which leaves to Join what only the whole shows
	InBlocks bool                  // its phases alternate with those of another target
	compared []load.ComparedFigure // of the second target with the first
	pairs    int                   // of blocks

	scenario scenario.Scenario
	terms    Terms
	started  time.Time
	phases   []phase // that thresholds are compared with
	figures  map[measure.Metric]measure.Figure
	first    []string // notes that come first, because the others may follow from them
	cut      string   // why the last phase did not run to its end; empty if it did
	unsure   string   // why a search could not confirm its highest rate, if the sample was too small

	fails, voids []reason
}

// NewDraft starts the clock of a scenario.
func NewDraft(s scenario.Scenario, terms Terms) *Draft {
	return &Draft{scenario: s, terms: terms, started: time.Now(), figures: map[measure.Metric]measure.Figure{},
		Traffic: load.Traffic{Statuses: map[string]int64{}}}
}

// Outcome is a scenario's result with its recordings, from which the shards of a
// scenario can be joined.
type Outcome struct {
	load.Scenario `json:"-"`          // it stands in the results of the shard
	Recordings    []measure.Recording // of the phases, in their order
	Traffic       load.Traffic        // all requests, including warm-ups
	Inspected     inspect.Result      // responses
	Cut           string              // why the last phase did not run to its end; empty if it did
}

// Note adds a note.
func (d *Draft) Note(format string, args ...any) {
	d.Result.Notes = append(d.Result.Notes, fmt.Sprintf(format, args...))
}

// NoteFirst adds notes before all others, because the others may follow from them.
func (d *Draft) NoteFirst(notes ...string) { d.first = append(d.first, notes...) }

// Missing records an input without which the scenario cannot run.
func (d *Draft) Missing(input string) { d.Result.Missing = append(d.Result.Missing, input) }

// Count counts what a phase sent as traffic. It is for every phase, warm-ups included.
func (d *Draft) Count(rec measure.Recording) {
	d.Traffic = sum(d.Traffic, load.Traffic{Planned: rec.Planned(), Sent: rec.Sent, Late: rec.Late(), Dropped: rec.Dropped(),
		BytesReceived: rec.Bytes, Statuses: statuses(rec.Statuses)})
}

// assess finds out whether the target got the requested load.
func (d *Draft) assess(rec measure.Recording) phase {
	p := phase{Recording: rec, near: d.terms.Calibration.Near(rec)}
	if !d.tolerates(rec) {
		p.otherLoad = rec.OtherLoad()
	}
	return p
}

// tolerates reports whether the lag of the recording is within the tolerated one.
func (d *Draft) tolerates(rec measure.Recording) bool {
	return d.terms.LagLimit > 0 && rec.Lag.Value(0.99) <= d.terms.LagLimit
}

// Keep adds a phase to the scenario's figures. The error says why it did not run to its
// end; such a phase is the scenario's last.
func (d *Draft) Keep(rec measure.Recording, cut error) {
	p := d.assess(rec)
	if cut != nil {
		p.cut, d.cut = true, cut.Error()
	}
	if p.cut && p.Sent == 0 {
		return
	}
	d.keep(p)
}

func (d *Draft) keep(p phase) {
	d.Uses.Counted += p.Sent
	d.phases = append(d.phases, p)
}

// Conclude draws the verdict and returns the result. f is what the check of the responses
// yielded.
func (d *Draft) Conclude(f inspect.Result) Outcome {
	o := &d.Result
	o.Name, o.About = d.scenario.Name, d.scenario.About
	o.Started, o.Seconds = d.started.UTC().Truncate(time.Millisecond), time.Since(d.started).Seconds()
	var recordings []measure.Recording
	for _, p := range d.phases {
		recordings = append(recordings, p.Recording)
		o.Phases = append(o.Phases, phaseOf(p))
		d.missedRate(p)
		d.noteThroughput(p)
		d.noteGenerator(p)
	}
	o.Requests = d.requests()
	if len(o.Missing) == 0 {
		d.holdAgainstThresholds()
	}
	d.judgeFindings(f)
	d.conclude()
	o.Notes = slices.Concat(distinct(d.first), o.Notes)
	return Outcome{Scenario: *o, Recordings: recordings, Traffic: d.Traffic, Inspected: f, Cut: d.cut}
}

// requests returns what was sent by purpose; nil if nothing was.
func (d *Draft) requests() *load.Requests {
	all := d.Uses
	all.Total = all.Counted + all.WarmUp + all.Searched + all.Beside
	if all.Total == 0 {
		return nil
	}
	return &all
}

// missedRate makes the scenario inconclusive if the phase says nothing about
// the target.
func (d *Draft) missedRate(p phase) {
	switch {
	case p.cut: // the reason is already recorded
	case p.Sent == 0:
		d.voidPhase(p.Name, "nothing sent", "no request was sent")
	case p.Count(measure.Accepted) == 0:
		d.voidPhase(p.Name, "nothing accepted", "none of %s requests was accepted (%s)", printable.Number(p.Sent), Endings(p.Recording))
	case p.Count(measure.Limited) > p.Count(measure.Accepted):
		d.voidPhase(p.Name, "limited", "%s of %s requests got 429, more than were accepted (lower the rate or use an unlimited key)",
			printable.Number(p.Count(measure.Limited)), printable.Number(p.Sent))
	case !p.ClosedLoop() && float64(p.Sent) < leastSent*float64(p.Planned()):
		d.voidPhase(p.Name, "rate missed", "rate not reached: %s of %s requests were sent", printable.Number(p.Sent), printable.Number(p.Planned()))
	case p.otherLoad != "":
		d.voidPhase(p.Name, "other load", "another load than requested: %s", p.otherLoad)
	}
}

// noteGenerator notes what the generator adds to the figures of the phase.
func (d *Draft) noteGenerator(p phase) {
	if p.near != "" {
		d.Note("%s: %s", p.Name, p.near)
	}
	if p.SentLate() != "" {
		judged := "thresholds allow for it"
		if d.tolerates(p.Recording) {
			judged = "it is within --lag-limit"
		}
		d.Note("%s: requests were sent up to %s late (p99); response times include the lag, and %s", p.Name,
			printable.Milliseconds(p.Lag.Value(0.99)), judged)
	}
}

// noteThroughput notes a phase in which the target served less than requested.
// Thresholds on response times and errors need not show that.
func (d *Draft) noteThroughput(p phase) {
	if behind := fallsBehind(p.Recording); behind != "" && p.otherLoad == "" && !p.cut {
		d.NoteFirst(p.Name + ": " + behind)
	}
	if limited := p.Count(measure.Limited); float64(limited) > mostRefused*float64(p.Sent) && limited <= p.Count(measure.Accepted) {
		d.NoteFirst(fmt.Sprintf("%s: %s of %s requests got 429: the key is rate-limited, and the figures cover only what passed (lower the rate, or add a threshold such as limited<1%%)",
			p.Name, printable.Number(limited), printable.Number(p.Sent)))
	}
}

// Endings counts the requests that were not accepted, by failure and status.
func Endings(rec measure.Recording) string {
	var parts []string
	for _, failure := range slices.Sorted(maps.Keys(rec.Failures)) {
		parts = append(parts, load.FailureInWords(failure)+": "+printable.Number(rec.Failures[failure]))
	}
	for _, status := range slices.Sorted(maps.Keys(rec.Statuses)) {
		if status != 0 {
			parts = append(parts, fmt.Sprintf("status %d: %s", status, printable.Number(rec.Statuses[status])))
		}
	}
	return strings.Join(parts, ", ")
}
