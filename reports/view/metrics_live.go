package view

import (
	"strconv"
	"time"
)

// metricsType is the media type of OpenMetrics text.
const metricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// LiveMetrics returns the figures of a run that goes on as OpenMetrics text. A figure that
// the format of results also has keeps its name and labels. The names of all others begin with live_.
// The pairs of scenario, phase and warm-up must be unique.
func LiveMetrics(started time.Time, phases []LoadFigures) string {
	phases = clean(phases)
	e := exposition{byName: map[string]*family{}}
	e.gauge("run_start_timestamp_seconds", "When the run began.", float64(started.UnixMilli())/1000, nil)
	for i, p := range phases {
		of := labels{"scenario", p.Scenario, "phase", p.Phase, "warmup", strconv.FormatBool(p.Warmup)}
		e.counter("requests", requestsHelp, p.Planned, of.with("what", "planned"))
		e.counter("requests", requestsHelp, p.Sent, of.with("what", "sent"))
		for _, n := range []struct {
			class string
			count int64
		}{{"accepted", p.Accepted}, {"limited", p.Limited}, {"failed", p.Failed}} {
			e.counter("live_answers", "Responses so far, by class.", n.count, of.with("class", n.class))
		}
		e.gauge("live_phase_seconds", "Time since the start of the phase.", p.At.Seconds(), of)
		e.gauge("live_send_lag_p99_milliseconds", "Send lag since the start of the phase (p99).", p.LagP99MS, of)
		if i < len(phases)-1 {
			continue // what follows is of the last second
		}
		e.gauge("live_in_flight_requests", "Requests that wait for their response.", float64(p.InFlight), of)
		e.gauge("live_asked_per_second", "Requests that were due in the last second.", p.AskedPerSecond, of)
		e.gauge("live_answered_per_second", "Responses in the last second.", p.DonePerSecond, of)
		if p.P99MS > 0 {
			const help = "Time from when a request was due, of accepted responses in the last second. A slower failed request counts, with the time that it took."
			e.gauge("live_response_milliseconds", help, p.P50MS, of.with("quantile", "0.5"))
			e.gauge("live_response_milliseconds", help, p.P99MS, of.with("quantile", "0.99"))
		}
	}
	return e.text()
}
