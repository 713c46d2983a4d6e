package verdict

import (
	"fmt"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/loadtest/inspect"
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

// Join adds up the shares of a scenario, in the order of their shards, and
// judges the result. Inconsistent shares make it inconclusive.
func Join(s scenario.Scenario, shares []Share, terms Terms) Outcome {
	d := NewDraft(s, terms)
	ledger := judge.NewLedger(spec.Pairs())
	all := inspect.Result{Empty: shares[0].Inspected.Empty}
	phases, seconds := len(shares[0].Recordings), 0.0
	for i, share := range shares {
		if len(share.Recordings) != phases {
			d.Void("shard %d has %d phases, the first has %d", i+1, len(share.Recordings), phases)
			phases = 0
		}
		seconds = max(seconds, share.Seconds)
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
		d.addViolations(ledger, share.Violations)
		all = all.Add(share.Inspected)
	}
	d.Result.Notes, d.Result.Missing = distinct(d.Result.Notes), distinct(d.Result.Missing)
	for p := range phases {
		d.joinPhase(p, shares)
	}
	all.Checks = ledger.Checks()
	o := d.Conclude(all)
	o.Started, o.Seconds = shares[0].Started, seconds
	return o
}

// joinPhase merges the recordings of one phase.
func (d *Draft) joinPhase(n int, shares []Share) {
	var parts []measure.Recording
	near := ""
	for i, share := range shares {
		parts = append(parts, share.Recordings[n])
		if why := (measure.Calibration{Ceiling: share.Ceiling}).Near(share.Recordings[n]); why != "" {
			near = fmt.Sprintf("shard %d: %s", i+1, why)
		}
	}
	rec, err := measure.Merge(parts...)
	if err != nil {
		d.Void("%s", err)
		return
	}
	p := d.assess(rec)
	p.near, p.cut = near, d.cut != "" && n == len(shares[0].Recordings)-1
	d.keep(p)
	switch {
	case p.cut: // an aborted phase shows no drift
	case d.scenario.Kind == scenario.Spike:
		d.Recovery(rec, d.scenario.Duration/3)
	case d.scenario.Kind == scenario.Soak && len(shares[0].Memory) > 0:
		d.Drift(rec, shares[0].Memory[0].Points)
	case d.scenario.Kind == scenario.Soak:
		d.Drift(rec, nil)
	}
}

// addViolations adds those of a shard to the ledger.
func (d *Draft) addViolations(ledger *judge.Ledger, violations []load.Violation) {
	for _, v := range violations {
		pair := spec.Pair{Requirement: v.Requirement, Operation: v.Operation}
		if !spec.Has(pair) {
			d.Void("a shard reports %s on %s, which this program does not know", v.Requirement, v.Operation)
			continue
		}
		for _, example := range v.Examples {
			ledger.Violated(pair, example)
		}
		ledger.ViolatedAgain(pair, max(0, int(v.Count)-len(v.Examples)))
	}
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
