package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"

	"outreach.example/conformance/loadtest/infer"
	"outreach.example/conformance/reports/load"
)

// Limiter converts an inferred limiter to the results model.
func Limiter(r infer.Result) *load.Limiter {
	l := &load.Limiter{
		Summary: summary(r), Verdict: load.Answer(r.Verdict), Scope: load.Answer(r.Scope),
		RetryAfter: load.RetryAfter{
			Present: load.Answer(r.RetryAfter.Present), Refused: int64(r.RetryAfter.Refused), With: int64(r.RetryAfter.With),
			Unreadable: int64(r.RetryAfter.Unreadable), Example: r.RetryAfter.Example,
			Honest: load.Finding(r.RetryAfter.Honest), Trials: int64(r.RetryAfter.Trials),
			Shortest: load.Finding(r.RetryAfter.Shortest), Promised: load.Finding(r.RetryAfter.Promised),
			Verdict: load.Answer(r.RetryAfter.Verdict),
		},
		Headers: load.HeaderClaims{
			Present: load.Answer(r.Headers.Present), Styles: r.Headers.Styles, Malformed: r.Headers.Malformed,
			Limit: load.Answer(r.Headers.Limit), Window: load.Answer(r.Headers.Window),
			Remaining: load.Answer(r.Headers.Remaining), Reset: load.Answer(r.Headers.Reset),
		},
		Recovery: load.Finding(r.Recovery), RoundTrip: load.Finding(r.RoundTrip),
		Inference: spentOf(r.Inference), Total: spentOf(r.Total), Notes: r.Notes,
	}
	for _, layer := range r.Layers {
		l.Layers = append(l.Layers, load.Layer{Kind: load.Answer(layer.Kind), Limit: load.Finding(layer.Limit),
			Window: load.Finding(layer.Window), Rate: load.Finding(layer.Rate), CountsRefused: load.Answer(layer.CountsRefused)})
	}
	if b := r.Beyond; b != nil {
		l.Beyond = &load.Beyond{Burst: int64(b.Burst), SustainedPerSecond: b.Sustained, Seconds: b.Seconds, Why: notMet(*b)}
	}
	if r.Concurrency != nil {
		at := load.Finding(*r.Concurrency)
		l.Concurrency = &at
	}
	for _, s := range r.Sharing {
		l.Sharing = append(l.Sharing, load.Sharing{Subject: string(s.Subject), Shared: load.Answer(s.Shared),
			Refused: int64(s.Refused), Sandwiches: int64(s.Sandwiches)})
	}
	for _, p := range r.Picture {
		l.Probes = append(l.Probes, load.Probe{Seconds: p.Sent, ReceivedSeconds: p.Received, Verdict: p.Verdict, Phase: p.Step, Subject: string(p.Subject)})
	}
	slices.SortStableFunc(l.Probes, func(a, b load.Probe) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return l
}

func spentOf(s infer.Spent) load.Spent {
	return load.Spent{Requests: int64(s.Requests), Refused: int64(s.Refused), Failed: int64(s.Failed), Seconds: s.Seconds, Stopped: s.Stopped}
}

// summary describes the limiter in words.
func summary(r infer.Result) string {
	var parts []string
	switch {
	case !r.Verdict.Known():
		return "inconclusive: " + r.Verdict.Why
	case r.Verdict.Value == infer.ConcurrencyLimited:
		return "no rate limit, but a concurrency limit" + aboutEstimate(r.Concurrency)
	case r.Verdict.Value != infer.RateLimited:
		parts = append(parts, r.Verdict.Value)
	}
	for _, layer := range r.Layers {
		parts = append(parts, layerInWords(layer))
	}
	if r.Scope.Known() {
		parts = append(parts, "counted per "+r.Scope.Value)
	}
	if v := r.RetryAfter.Verdict; v.Known() && v.Value != infer.Honest {
		parts = append(parts, "Retry-After is "+v.Value+": "+v.Why)
	}
	if r.Beyond != nil {
		parts = append(parts, notMet(*r.Beyond))
	}
	if r.Total.Stopped != "" {
		parts = append(parts, "stopped at "+r.Total.Stopped)
	}
	return strings.Join(parts, "; ")
}

// notMet describes what was tried without reaching a limit, which does not
// prove that there is none.
func notMet(b infer.Beyond) string {
	return b.Why + "; a higher or slower limit would need more probing (--duration, --probe-budget)"
}

func aboutEstimate(e *infer.Estimate) string {
	if e == nil || !e.Known {
		return ""
	}
	return fmt.Sprintf(" (%.0f)", e.Value)
}

func layerInWords(l infer.Layer) string {
	kind := answerInWords(l.Kind)
	switch {
	case l.Kind.Value == infer.TokenBucket && l.Rate.Known && l.Limit.Known:
		return fmt.Sprintf("%s of %s requests/s with a burst of %.0f", kind, printable.Figure(l.Rate.Value), l.Limit.Value)
	case l.Limit.Known && l.Window.Known:
		return fmt.Sprintf("%s of %.0f requests in %s s", kind, l.Limit.Value, printable.Figure(l.Window.Value))
	case l.Limit.Known:
		return fmt.Sprintf("%s of %.0f requests at once", kind, l.Limit.Value)
	default:
		return kind
	}
}

func answerInWords(a infer.Answer) string {
	switch {
	case a.Known():
		return a.Value
	case len(a.OneOf) > 0:
		return strings.Join(a.OneOf, " or ")
	default:
		return "a limiter of unknown kind"
	}
}
