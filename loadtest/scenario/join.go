package scenario

import (
	"fmt"
	"slices"
	"time"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/threshold"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// Shardable reports whether several processes can share the scenario: its
// phases follow a plan that is known in advance.
func (s Scenario) Shardable() bool { return s.Kind == Steady || s.Kind == Spike || s.Kind == Soak }

// Share is the result of one shard of a scenario and the ceiling of its
// generator.
type Share struct {
	Outcome
	Ceiling float64 // requests per second, from its calibration
}

// Join merges the shares of a scenario, in the order of their shards, and
// judges the result. Inconsistent shares make it inconclusive.
func Join(s Scenario, shares []Share, thresholds []threshold.Threshold, baselines map[string]*threshold.Baseline, lagLimit time.Duration) Outcome {
	r := &runner{env: &Env{Thresholds: thresholds, Baselines: baselines, LagLimit: lagLimit}, scenario: s,
		figures: map[threshold.Metric]threshold.Figure{}, traffic: load.Traffic{Statuses: map[string]int64{}}}
	phases := len(shares[0].Recordings)
	for i, share := range shares {
		if len(share.Recordings) != phases {
			r.void("shard %d has %d phases, the first has %d", i+1, len(share.Recordings), phases)
			phases = 0
		}
		r.out.Notes = append(r.out.Notes, share.Notes...)
		r.out.Missing = append(r.out.Missing, share.Missing...)
		r.traffic = sum(r.traffic, share.Traffic)
		if n := share.Requests; n != nil {
			r.uses.WarmUp, r.uses.Beside = r.uses.WarmUp+n.WarmUp, r.uses.Beside+n.Beside
		}
		if share.Verdict == reports.Inconclusive && len(share.Recordings) == 0 {
			for _, reason := range share.Reasons {
				r.void("shard %d: %s", i+1, reason)
			}
		}
		if share.Cut != "" {
			r.cut = fmt.Sprintf("shard %d: %s", i+1, share.Cut)
			r.void("%s", r.cut)
		}
	}
	r.out.Notes, r.out.Missing = distinct(r.out.Notes), distinct(r.out.Missing)
	for p := range phases {
		r.joinPhase(p, shares)
	}
	r.joinFindings(shares)
	o := r.outcome()
	o.Started, o.Seconds = shares[0].Started, 0
	for _, share := range shares {
		o.Seconds = max(o.Seconds, share.Seconds)
	}
	return o
}

// joinPhase merges the recordings of one phase.
func (r *runner) joinPhase(p int, shares []Share) {
	var parts []measure.Recording
	limited := ""
	for i, share := range shares {
		parts = append(parts, share.Recordings[p])
		if near, why := (measure.Calibration{Ceiling: share.Ceiling}).Near(share.Recordings[p]); near {
			limited = fmt.Sprintf("shard %d: %s", i+1, why)
		}
	}
	rec, err := measure.Merge(parts...)
	if err != nil {
		r.void("%s", err)
		return
	}
	// Lag counts over all shards: the few late requests of one shard are few of
	// all.
	if late, why := measure.Late(rec); late && limited == "" && (r.env.LagLimit == 0 || rec.Lag.Quantile(0.99).Value > r.env.LagLimit) {
		limited = why
	}
	c := counted{recording: rec, limited: limited, cut: r.cut != "" && p == len(shares[0].Recordings)-1}
	r.keep(c)
	switch {
	case c.cut: // an aborted phase shows no drift
	case r.scenario.Kind == Spike:
		r.recovery(rec, r.scenario.Duration/3)
	case r.scenario.Kind == Soak:
		r.drift(c, memoryOf(shares[0]))
	}
}

func memoryOf(share Share) []load.MemoryPoint {
	if len(share.Memory) == 0 {
		return nil
	}
	return share.Memory[0].Points
}

// joinFindings adds up the findings of the shards.
func (r *runner) joinFindings(shares []Share) {
	r.ledger = judge.NewLedger(spec.Pairs())
	r.empty = slices.Clone(shares[0].Empty)
	for _, share := range shares {
		r.empty = slices.DeleteFunc(r.empty, func(id string) bool { return !slices.Contains(share.Empty, id) })
		for _, c := range share.Checks {
			pair := spec.Pair{Requirement: c.Requirement, Operation: c.Operation}
			if !spec.Has(pair) {
				r.void("a shard reports %s on %s, which this program does not know", c.Requirement, c.Operation)
				continue
			}
			r.ledger.Assessed(pair, c.Assessments)
			for _, v := range c.Violations {
				r.ledger.Violated(pair, v)
			}
			if more := c.ViolationCount - len(c.Violations); more > 0 {
				r.ledger.ViolatedAgain(pair, more)
			}
		}
		r.unread = r.unread.Add(share.Unread)
		if c := share.Coverage; c != nil {
			if r.out.Coverage == nil {
				r.out.Coverage = &load.Coverage{}
			}
			total := r.out.Coverage
			total.Answers += c.Answers
			total.Checked += c.Checked
			total.Memo += c.Memo
			total.Dropped += c.Dropped
			total.LeftOut += c.LeftOut
			if total.Answers > 0 {
				total.Share = float64(total.Checked+total.Memo) / float64(total.Answers)
			}
		}
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
