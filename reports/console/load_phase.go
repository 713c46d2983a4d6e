package console

import (
	"fmt"
	"strconv"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// phases shows what was sent in each phase that counts, and how long it took.
func (p *page) phases(all []load.Phase) {
	var counting []load.Phase
	for _, phase := range all {
		if !phase.Warmup {
			counting = append(counting, phase)
		}
	}
	shown := p.limit(len(counting), maxPhases)
	for _, phase := range counting[:shown] {
		p.phase(phase)
	}
	if left := len(counting) - shown; left > 0 {
		p.line("  ", p.paint.dim(p.more(left, noun(left, "phase", "phases"))))
	}
}

func (p *page) phase(ph load.Phase) {
	rate := "in a closed loop"
	if !ph.ClosedLoop {
		rate = fmt.Sprintf("of %s/s", figure(ph.RatePerSecond))
	}
	sent := fmt.Sprintf("%s planned, %s sent, %s late, ", number(int(ph.Planned)), number(int(ph.Sent)), number(int(ph.Late)))
	dropped := number(int(ph.Dropped)) + " dropped"
	if ph.Dropped > 0 {
		dropped = p.paint.red(dropped)
	}
	said := sent + dropped + fmt.Sprintf("; %s/s %s", figure(ph.AchievedPerSecond), rate)
	if ph.GeneratorLimited {
		said += " " + p.paint.yellow("generator-limited")
	}
	p.entry(2, phaseColumn, p.label(ph.Name), said)
	show := func(label, content string) {
		if content != "" {
			p.entry(2+phaseColumn, 10, label, content)
		}
	}
	for _, of := range []struct {
		label string
		d     *load.Distribution
	}{
		{"response", ph.Response.Accepted}, {"service", ph.Service.Accepted}, {"limited", ph.Response.Limited}, {"failed", ph.Response.Failed}, {"send lag", ph.Lag},
	} {
		show(of.label, p.distribution(of.d))
	}
	statuses := counts(ph.Statuses, func(status string) string {
		if status == "none" {
			return "no answer"
		}
		return reports.Printable(status)
	})
	if len(ph.Failures) > 0 {
		statuses += " (" + counts(ph.Failures, reports.Printable) + ")"
	}
	show("statuses", statuses)
	p.labels(ph.Labels)
}

// distribution writes quantiles, in milliseconds; a flagged one is marked.
func (p *page) distribution(d *load.Distribution) string {
	if d == nil {
		return ""
	}
	parts := []string{"ms"}
	for _, q := range d.Quantiles {
		mark := ""
		if q.Flagged {
			mark = p.paint.yellow("?")
		}
		parts = append(parts, fmt.Sprintf("p%s %s%s", strconv.FormatFloat(100*q.P, 'g', 6, 64), short(q.ValueMS), mark))
	}
	return strings.Join(append(parts, "max "+short(d.MaxMS)), "  ")
}

// labels shows the break-down, when all is asked for.
func (p *page) labels(all []load.Label) {
	if !p.Verbose {
		return
	}
	for _, l := range all {
		p.entry(2+phaseColumn, 10, "·", fmt.Sprintf("%s  %s accepted, %s limited, %s failed  %s", reports.Printable(l.Name),
			number(int(l.Accepted)), number(int(l.Limited)), number(int(l.Failed)), p.distribution(l.Response)))
	}
}

// limiter shows what was found out about a rate limiter.
func (p *page) limiter(l load.Limiter) {
	show := func(label, content string) { p.entry(2, phaseColumn, label, content) }
	show("limiter", p.paint.bold(reports.Printable(l.Summary)))
	for _, layer := range l.Layers {
		show("layer", fmt.Sprintf("%s; limit %s; window %s; rate %s; refused requests count: %s",
			answer(layer.Kind), finding(layer.Limit), finding(layer.Window), finding(layer.Rate), answer(layer.CountsRefused)))
	}
	show("scope", answer(l.Scope))
	show("Retry-After", fmt.Sprintf("present: %s; shortest wait that works %s, promised %s", answer(l.RetryAfter.Present), finding(l.RetryAfter.Shortest), finding(l.RetryAfter.Promised)))
	show("recovery", finding(l.Recovery))
	show("cost", fmt.Sprintf("%s in %s", plural(int(l.Total.Requests), "request", "requests"), duration(l.Total.Seconds)))
}

// answer writes what was found out, or what kept from it.
func answer(a load.Answer) string {
	said := reports.Printable(a.Value)
	switch {
	case a.Value != "":
		return said
	case len(a.OneOf) > 0:
		said = "cannot tell: " + strings.Join(printableAll(a.OneOf), " or ")
	default:
		said = "cannot tell"
	}
	if a.Why != "" {
		said += ", " + reports.Printable(a.Why)
	}
	return said
}

// finding writes a figure with its bounds, or what kept from it.
func finding(f load.Finding) string {
	switch {
	case f.Known && f.Low == f.High:
		return strings.TrimSpace(figure(f.Value) + " " + reports.Printable(f.Unit))
	case f.Known:
		return fmt.Sprintf("%s %s (%s to %s)", figure(f.Value), reports.Printable(f.Unit), figure(f.Low), figure(f.High))
	case f.Why != "":
		return "cannot tell, " + reports.Printable(f.Why)
	default:
		return "cannot tell"
	}
}

// short writes a number with three significant figures: enough for a table.
func short(v float64) string {
	if v >= 1000 || v <= -1000 {
		return figure(v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// figure writes a number with four significant figures, or with all digits
// before the point.
func figure(v float64) string {
	if v >= 1000 || v <= -1000 {
		return number(int(v + 0.5))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
