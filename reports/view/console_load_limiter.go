package view

import (
	"fmt"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/console"
	"outreach.example/conformance/reports/load"
)

// limiter shows the inferred rate limiter.
func (p *page) limiter(l load.Limiter) {
	show := p.fact
	show("limiter", p.paint.Bold(printable.Text(l.Summary)))
	if !p.Verbose {
		l.Sharing, l.Headers = nil, load.HeaderClaims{}
	}
	why, l := l.Common()
	if why != "" && !strings.Contains(l.Summary, why) {
		show("unknown", "where no reason is given: "+printable.Text(why))
	}
	for _, layer := range l.Layers {
		show("layer", fmt.Sprintf("%s; limit %s; window %s; rate %s; refused requests count: %s",
			answer(layer.Kind), finding(layer.Limit), finding(layer.Window), finding(layer.Rate), answer(layer.CountsRefused)))
	}
	show("scope", answer(l.Scope))
	show("Retry-After", fmt.Sprintf("present: %s%s%s; shortest sufficient wait %s, promised %s", answer(l.RetryAfter.Present), unread(l.RetryAfter), honesty(l.RetryAfter), finding(l.RetryAfter.Shortest), finding(l.RetryAfter.Promised)))
	show("recovery", finding(l.Recovery))
	if p.Verbose {
		p.limiterInFull(l)
	}
	show("cost", fmt.Sprintf("%s in %s", plural(int(l.Total.Requests), "request", "requests"), console.Duration(l.Total.Seconds)))
}

// limiterInFull shows the evidence.
func (p *page) limiterInFull(l load.Limiter) {
	for _, s := range l.Sharing {
		p.fact("sharing", fmt.Sprintf("%s: %s; refused in %d of %d trials", printable.Text(s.Subject), answer(s.Shared), s.Refused, s.Sandwiches))
	}
	p.fact("headers", "present: "+answer(l.Headers.Present))
	for _, h := range []struct {
		of string
		is load.Answer
	}{{"limit", l.Headers.Limit}, {"window", l.Headers.Window}, {"remaining", l.Headers.Remaining}, {"reset", l.Headers.Reset}} {
		p.fact("", h.of+": "+answer(h.is))
	}
	p.fact("long enough", fmt.Sprintf("%s in %s", finding(l.RetryAfter.Honest), plural(int(l.RetryAfter.Trials), "trial", "trials")))
	p.fact("round trip", finding(l.RoundTrip))
	for _, note := range l.Notes {
		p.fact("note", printable.Text(note))
	}
}

// unread describes invalid Retry-After headers.
func unread(r load.RetryAfter) string {
	if said := r.Unread(); said != "" {
		return "; " + printable.Text(said)
	}
	return ""
}

// honesty says whether Retry-After is honest. The evidence is in the summary.
func honesty(r load.RetryAfter) string {
	switch {
	case r.With == r.Unreadable:
		return ""
	case r.Verdict.Value == "":
		return "; honest: " + answer(r.Verdict)
	default:
		return "; " + printable.Text(r.Verdict.Value)
	}
}

// answer returns the answer, or why it is unknown.
func answer(a load.Answer) string {
	said := printable.Text(a.Value)
	switch {
	case a.Value != "":
		return said
	case len(a.OneOf) > 0:
		said = "cannot tell: " + strings.Join(printables(a.OneOf), " or ")
	default:
		said = "cannot tell"
	}
	if a.Why == "" {
		return said
	}
	return said + ", " + printable.Text(a.Why)
}

// finding returns a figure with its bounds, or why it is unknown.
func finding(f load.Finding) string {
	switch {
	case f.Known && f.Low == f.High:
		return printable.Amount(f.Value, f.Unit)
	case f.Known:
		return printable.Interval(f.Value, f.Low, f.High, f.Unit)
	}
	said := "cannot tell"
	for _, more := range []string{f.Bounds(printable.Figure), f.Why} {
		if more != "" {
			said += ", " + printable.Text(more)
		}
	}
	return said
}
