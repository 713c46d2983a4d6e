package verdict

import (
	"fmt"
	"strings"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// Join adds up the outcomes of the shards of a scenario, in their order, and
// judges the result. Inconsistent shards make it inconclusive.
func Join(s scenario.Scenario, shards []Outcome, terms Terms) Outcome {
	d := NewDraft(s, terms)
	ledger := judge.NewLedger(spec.Pairs())
	var all inspect.Result
	phases, seconds := len(shards[0].Recordings), 0.0
	var cut error
	for i, shard := range shards {
		if len(shard.Recordings) != phases {
			d.Void("shard %d has %d phases, the first has %d", i+1, len(shard.Recordings), phases)
			phases = 0
		}
		seconds = max(seconds, shard.Seconds)
		d.Result.Notes = append(d.Result.Notes, shard.Notes...)
		d.Result.Missing = append(d.Result.Missing, shard.Missing...)
		d.Traffic = sum(d.Traffic, shard.Traffic)
		if n := shard.Requests; n != nil {
			d.Uses.WarmUp, d.Uses.Beside = d.Uses.WarmUp+n.WarmUp, d.Uses.Beside+n.Beside
		}
		if ran := len(shard.Recordings); ran < s.Phases() && shard.Cut == "" {
			d.Void("shard %d ran %d of %d phases: %s", i+1, ran, s.Phases(), strings.Join(shard.Reasons, "; "))
		}
		if shard.Cut != "" {
			cut = fmt.Errorf("shard %d: %s", i+1, shard.Cut)
			d.Void("%s", cut)
		}
		d.addViolations(ledger, shard.Violations)
		all = all.Add(shard.Inspected)
	}
	d.Result.Notes, d.Result.Missing = distinct(d.Result.Notes), distinct(d.Result.Missing)
	for n := range phases {
		var parts []measure.Recording
		for _, shard := range shards {
			parts = append(parts, shard.Recordings[n])
		}
		rec, err := measure.Merge(parts...)
		switch {
		case err != nil:
			d.Void("%s", err)
		case cut != nil && n == phases-1: // an aborted phase shows no trend
			d.Keep(rec, cut)
		default:
			d.Keep(rec, nil)
			d.trend(rec)
		}
	}
	all.Checks = ledger.Checks()
	o := d.Conclude(all)
	o.Started, o.Seconds = shards[0].Started, seconds
	return o
}

// trend judges how the target changed during the only phase of a spike or a soak.
func (d *Draft) trend(rec measure.Recording) {
	switch d.scenario.Kind {
	case scenario.Spike:
		d.Recovery(rec, d.scenario.Duration/3)
	case scenario.Soak:
		d.Drift(rec)
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
