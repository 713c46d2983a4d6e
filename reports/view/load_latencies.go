package view

import (
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

// latencies are the response times of accepted requests: of a phase, or of one kind of
// request in it.
type latencies struct {
	Phase   string
	Request string // "" for all requests of the phase
	Count   int64
	Figures []shownQuantile // p50, p95, p99, p99.9
	Longest string
}

// shownQuantile is a figure of the table; Value is empty if it was not measured, or if too few
// requests were planned for it.
type shownQuantile struct {
	Value   string
	Bounds  string
	Flagged bool
}

// latencyColumns are the quantiles of the table.
var latencyColumns = []float64{0.5, 0.95, 0.99, 0.999}

// latenciesOf returns a row for each measured phase, and below it one for each kind of
// request if there are several.
func latenciesOf(phases []load.Phase) []latencies {
	var rows []latencies
	for _, p := range measuredPhases(phases) {
		rows = appendRow(rows, p, "", p.Response.Accepted)
		if len(p.Labels) < 2 {
			continue
		}
		for _, l := range p.Labels {
			of := p
			of.Planned = l.Accepted + l.Limited + l.Failed
			rows = appendRow(rows, of, l.Name, l.Response)
		}
	}
	return rows
}

// appendRow leaves out the quantiles that the phase plans too few requests for, as the
// console does.
func appendRow(rows []latencies, phase load.Phase, request string, d *load.Distribution) []latencies {
	if d == nil {
		return rows
	}
	row := latencies{Phase: phase.Name, Request: request, Count: d.Count, Longest: d.Longest()}
	for _, p := range latencyColumns {
		var figure shownQuantile
		for _, q := range d.Quantiles {
			if q.P == p && phase.Supports(p) {
				figure = shownQuantile{printable.Figure(q.ValueMS), between(q), q.Flagged}
			}
		}
		row.Figures = append(row.Figures, figure)
	}
	return append(rows, row)
}
