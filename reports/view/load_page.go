package view

import "outreach.example/conformance/reports/load"

// limitedOf is common for a page, which shows all; nil for nil.
func limitedOf(l *load.Limiter) *limiter {
	if l == nil {
		return nil
	}
	why, rest := l.Common()
	return &limiter{rest, why}
}

// distribution is one with a name, and with the quantiles of a table.
type distribution struct {
	Name string
	*load.Distribution
	Chosen []load.Quantile // p50, p95, p99, p99.9; 0 if unknown
}

// quantilesOf returns a row of the table of response times: of a phase or, with their numbers, of one kind of
// request in it. It leaves out the quantiles that too few requests were planned for.
func quantilesOf(p load.Phase, name string, d *load.Distribution, requests ...int64) distribution {
	if len(requests) > 0 {
		p.Planned = 0
	}
	for _, n := range requests {
		p.Planned += n
	}
	row := distribution{name, d, nil}
	for _, quantile := range []float64{0.5, 0.95, 0.99, 0.999} {
		chosen := load.Quantile{P: quantile}
		for _, q := range d.Quantiles {
			if q.P == quantile && p.Supports(quantile) {
				chosen = q
			}
		}
		row.Chosen = append(row.Chosen, chosen)
	}
	return row
}

// distributions returns the distributions of a phase, in the order of the table.
func distributions(p load.Phase) []distribution {
	var some []distribution
	for _, d := range []distribution{
		{"response, accepted", p.Response.Accepted, nil}, {"response, limited (429)", p.Response.Limited, nil}, {"response, failed", p.Response.Failed, nil},
		{"service, accepted", p.Service.Accepted, nil}, {"service, limited (429)", p.Service.Limited, nil}, {"service, failed", p.Service.Failed, nil},
		{"send lag", p.Lag, nil},
	} {
		if d.Distribution != nil {
			some = append(some, d)
		}
	}
	return some
}

// span is a sequence of probes of one phase of the probing.
type span struct {
	Phase                     string
	From, Until               float64
	Accepted, Limited, Failed int64
}

// maxSpans is the maximum number of spans listed.
const maxSpans = 40

func spans(probes []load.Probe) []span {
	var all []span
	for _, p := range probes {
		if len(all) == 0 || all[len(all)-1].Phase != p.Phase {
			if len(all) == maxSpans {
				break
			}
			all = append(all, span{Phase: p.Phase, From: p.Seconds})
		}
		last := &all[len(all)-1]
		last.Until = p.Seconds
		switch p.Verdict {
		case "accepted":
			last.Accepted++
		case "limited":
			last.Limited++
		default:
			last.Failed++
		}
	}
	return all
}
