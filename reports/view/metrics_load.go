package view

import (
	"maps"
	"slices"
	"strconv"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// run adds the figures of a run.
func (e *exposition) run(r load.Results) {
	e.gauge("run", "The run and its target; always 1.", 1, labels{
		"run", r.Run.ID, "target", r.Target.Name, "target_version", r.Target.Version, "vendor", r.Target.Vendor,
		"base_url", r.Target.BaseURL, "tool_version", r.Tool.Version,
	})
	e.gauge("run_start_timestamp_seconds", "When the run began.", float64(r.Run.Started.UnixMilli())/1000, nil)
	e.gauge("run_duration_seconds", "How long the run took.", r.Run.Seconds, nil)
	e.verdict("verdict", "1 for the verdict of the run.", r.Verdict, nil)
	if c := r.Calibration; c != nil {
		e.gauge("generator_ceiling_per_second", "Highest rate of the generator with a null server.", c.CeilingPerSecond, nil)
		e.gauge("generator_lag_p99_milliseconds", "Send lag of the generator (p99).", c.LagP99MS, nil)
		e.gauge("generator_cpu_per_request_microseconds", "CPU time of the generator per request.", c.CPUPerRequestUS, nil)
	}
	scenarios := uniqueNames{}
	for _, s := range r.Scenarios {
		e.scenario(s, labels{"scenario", scenarios.unique(s.Name)})
	}
	if r.Comparison != nil {
		figures := uniqueNames{}
		for _, f := range r.Comparison.Figures {
			of := labels{"figure", figures.unique(f.Name)}
			if f.Ratio > 0 {
				e.gauge("comparison_ratio", "B ÷ A.", f.Ratio, of.with("bound", "estimate"))
				e.gauge("comparison_ratio", "", f.RatioLow, of.with("bound", "low"))
				e.gauge("comparison_ratio", "", f.RatioHigh, of.with("bound", "high"))
			}
			e.gauge("comparison_p", "p value of the test that A and B are the same.", f.P, of)
		}
	}
}

func (e *exposition) verdict(name, help string, is reports.Verdict, of labels) {
	for _, v := range reports.Verdicts() {
		value := 0.0
		if v == is {
			value = 1
		}
		e.gauge(name, help, value, of.with("verdict", string(v)))
	}
}

func (e *exposition) scenario(s load.Scenario, of labels) {
	e.verdict("scenario_verdict", "1 for the verdict of the scenario.", s.Verdict, of)
	e.gauge("scenario_duration_seconds", "How long the scenario took.", s.Seconds, of)
	thresholds := uniqueNames{}
	for _, t := range s.Thresholds {
		e.gauge("threshold", "A threshold with its outcome; always 1.", 1,
			of.with("threshold", thresholds.unique(t.Text), "phase", t.Phase, "outcome", string(t.Outcome)))
	}
	for _, v := range s.Violations {
		e.counter("violations", "Violations of a requirement.", v.Count, of.with("requirement", v.Requirement, "operation", v.Operation))
	}
	if c := s.Coverage; c != nil {
		e.gauge("inspected_ratio", "Share of the responses that were checked.", c.Share, of)
	}
	if f := s.Sustained; f != nil {
		e.gauge("sustained_per_second", "The highest rate that meets the thresholds.", f.RatePerSecond, of)
		if f.SaturationPerSecond > 0 {
			e.gauge("saturation_per_second", "The highest throughput at the rates at which the queue grew.", f.SaturationPerSecond, of)
		}
	}
	if w := s.Walks; w != nil {
		e.counter("walked_rows", "Rows that clients walked over.", w.Rows, of)
		e.counter("walk_faults", "Missing, duplicate or misordered rows, and aborted walks.", w.Faults, of)
	}
	if s.Limiter != nil {
		e.limiter(*s.Limiter, of)
	}
	for _, d := range s.Depth {
		for _, at := range d.Points {
			place := of.with("operation", d.Operation, "page", strconv.FormatInt(at.Page, 10))
			e.gauge("page_milliseconds", "Response time by page number.", at.P50MS, place.with("quantile", "0.5"))
			e.gauge("page_milliseconds", "", at.P99MS, place.with("quantile", "0.99"))
		}
	}
	phases := uniqueNames{}
	for _, p := range s.Phases {
		e.phase(p, of.with("phase", phases.unique(p.Name), "warmup", strconv.FormatBool(p.Warmup)))
	}
}

// limiter adds the known figures of a limiter.
func (e *exposition) limiter(l load.Limiter, of labels) {
	for i, layer := range l.Layers {
		of := of.with("layer", strconv.Itoa(i+1), "kind", layer.Kind.Value)
		for _, f := range []struct {
			name, help string
			load.Finding
		}{
			{"limiter_limit_requests", "Requests accepted at once after a long pause.", layer.Limit},
			{"limiter_window_seconds", "Window of the limit.", layer.Window},
			{"limiter_rate_per_second", "Sustained rate of accepted requests.", layer.Rate},
		} {
			if f.Known {
				e.gauge(f.name, f.help, f.Value, of)
			}
		}
	}
	if l.Recovery.Known {
		e.gauge("limiter_recovery_seconds", "From a full limiter to the next accepted request.", l.Recovery.Value, of)
	}
	e.counter("limiter_probes", "Requests sent to probe the limiter.", l.Total.Requests, of)
}

const requestsHelp = "Requests of a phase: planned, sent, late (of those sent), dropped."

func (e *exposition) phase(p load.Phase, of labels) {
	for _, n := range []struct {
		what  string
		count int64
	}{{"planned", p.Planned}, {"sent", p.Sent}, {"late", p.Late}, {"dropped", p.Dropped}} {
		e.counter("requests", requestsHelp, n.count, of.with("what", n.what))
	}
	for _, status := range slices.Sorted(maps.Keys(p.Statuses)) {
		e.counter("answers", "Responses by HTTP status; none: no response.", p.Statuses[status], of.with("status", status))
	}
	e.counter("received_bytes", "Bytes of response bodies.", p.BytesReceived, of)
	if !p.ClosedLoop {
		e.gauge("asked_per_second", "The rate asked for.", p.RatePerSecond, of)
	}
	e.gauge("achieved_per_second", "The rate of accepted responses.", p.AchievedPerSecond, of)
	limited := 0.0
	if p.OtherLoad {
		limited = 1
	}
	e.gauge("other_load", "1 if the target got another load than the requested one.", limited, of)
	for _, c := range []struct {
		class             string
		response, service *load.Distribution
	}{
		{"accepted", p.Response.Accepted, p.Service.Accepted}, {"limited", p.Response.Limited, p.Service.Limited}, {"failed", p.Response.Failed, p.Service.Failed},
	} {
		e.summary("response_milliseconds", "Time from when a request was due. Accepted: a slower failed request counts, with the time that it took.", c.response, of.with("class", c.class))
		e.summary("service_milliseconds", "Time from when a request was sent.", c.service, of.with("class", c.class))
	}
	e.summary("send_lag_milliseconds", "Time from when a request was due to when it was sent.", p.Lag, of)
}
