package verdict

import (
	"fmt"
	"slices"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// Share is the result of one shard of a scenario and the ceiling of its
// generator.
type Share struct {
	Outcome
	Ceiling float64 // requests per second, from its calibration
}

// Join merges the shares of a scenario, in the order of their shards, and
// judges the result. Inconsistent shares make it inconclusive.
func Join(s scenario.Scenario, shares []Share, terms Terms) Outcome {
	d := NewDraft(s, terms)
	phases := len(shares[0].Recordings)
	for i, share := range shares {
		if len(share.Recordings) != phases {
			d.Void("shard %d has %d phases, the first has %d", i+1, len(share.Recordings), phases)
			phases = 0
		}
		d.Result.Notes = append(d.Result.Notes, share.Notes...)
		d.Result.Missing = append(d.Result.Missing, share.Missing...)
		d.Traffic = sum(d.Traffic, share.Traffic)
		if n := share.Requests; n != nil {
			d.Uses.WarmUp, d.Uses.Beside = d.Uses.WarmUp+n.WarmUp, d.Uses.Beside+n.Beside
		}
		if share.Verdict == reports.Inconclusive && len(share.Recordings) == 0 {
			for _, reason := range share.Reasons {
				d.Void("shard %d: %s", i+1, reason)
			}
		}
		if share.Cut != "" {
			d.cut = fmt.Sprintf("shard %d: %s", i+1, share.Cut)
			d.Void("%s", d.cut)
		}
	}
	d.Result.Notes, d.Result.Missing = distinct(d.Result.Notes), distinct(d.Result.Missing)
	for p := range phases {
		d.joinPhase(p, shares)
	}
	o := d.Conclude(d.joinFindings(shares))
	o.Started, o.Seconds = shares[0].Started, 0
	for _, share := range shares {
		o.Seconds = max(o.Seconds, share.Seconds)
	}
	return o
}

// joinPhase merges the recordings of one phase.
func (d *Draft) joinPhase(n int, shares []Share) {
	var parts []measure.Recording
	near := ""
	for i, share := range shares {
		parts = append(parts, share.Recordings[n])
		if is, why := (measure.Calibration{Ceiling: share.Ceiling}).Near(share.Recordings[n]); is {
			near = fmt.Sprintf("shard %d: %s", i+1, why)
		}
	}
	rec, err := measure.Merge(parts...)
	if err != nil {
		d.Void("%s", err)
		return
	}
	p := d.Assess(rec)
	p.Near, p.Cut = near, d.cut != "" && n == len(shares[0].Recordings)-1
	d.Keep(p)
	switch {
	case p.Cut: // an aborted phase shows no drift
	case d.scenario.Kind == scenario.Spike:
		d.Recovery(rec, d.scenario.Duration/3)
	case d.scenario.Kind == scenario.Soak:
		d.Drift(p, memoryOf(shares[0]))
	}
}

func memoryOf(share Share) []load.MemoryPoint {
	if len(share.Memory) == 0 {
		return nil
	}
	return share.Memory[0].Points
}

// joinFindings adds up the findings of the shards.
func (d *Draft) joinFindings(shares []Share) Findings {
	ledger := judge.NewLedger(spec.Pairs())
	f := Findings{Empty: slices.Clone(shares[0].Empty)}
	for _, share := range shares {
		f.Empty = slices.DeleteFunc(f.Empty, func(id string) bool { return !slices.Contains(share.Empty, id) })
		for _, c := range share.Checks {
			pair := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
			if !spec.Has(pair) {
				d.Void("a shard reports %s on %s, which this program does not know", c.Requirement, c.Operation)
				continue
			}
			ledger.Assessed(pair, c.Assessments)
			for _, v := range c.Violations {
				ledger.Violated(pair, v)
			}
			if more := c.ViolationCount - len(c.Violations); more > 0 {
				ledger.ViolatedAgain(pair, more)
			}
		}
		f.Unread = f.Unread.Add(share.Unread)
		f.addCoverage(share.Coverage)
	}
	f.Checks = assessed(ledger)
	return f
}

// addCoverage adds the coverage of a shard.
func (f *Findings) addCoverage(c *load.Coverage) {
	if c == nil {
		return
	}
	if f.Coverage == nil {
		f.Coverage = &load.Coverage{}
	}
	total := f.Coverage
	total.Answers += c.Answers
	total.Checked += c.Checked
	total.Memo += c.Memo
	total.Dropped += c.Dropped
	total.LeftOut += c.LeftOut
	if total.Answers > 0 {
		total.Share = float64(total.Checked+total.Memo) / float64(total.Answers)
	}
}

// assessed returns the checks of a ledger that have evidence.
func assessed(l *judge.Ledger) []reports.Check {
	var checks []reports.Check
	for _, c := range l.Checks() {
		if c.Assessments > 0 || c.ViolationCount > 0 {
			checks = append(checks, c)
		}
	}
	return checks
}

func sum(a, b load.Traffic) load.Traffic {
	a.Planned += b.Planned
	a.Sent += b.Sent
	a.Late += b.Late
	a.Dropped += b.Dropped
	a.BytesReceived += b.BytesReceived
	for status, n := range b.Statuses {
		a.Statuses[status] += n
	}
	return a
}
