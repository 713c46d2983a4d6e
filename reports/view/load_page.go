package view

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports/load"
)

var loadTemplate = newTemplate("load.html", template.FuncMap{
	"list": printedList, "number": printable.Figure, "percent": percent, "quantile": quantileName,
	"answer": pageAnswer, "finding": pageFinding, "estimate": estimate, "between": between, "atLeast": load.AtLeast, "bound": load.Bound,
	"counted": measuredPhases, "figures": phaseCharts, "knee": kneeCharts, "depths": depthCharts, "memory": memoryCharts, "limiter": limiterCharts, "limited": limitedOf,
	"classes": latencyClasses, "spans": spans, "failure": load.FailureInWords, "title": loadTitle, "headline": headline, "chief": chief, "compared": comparedCharts, "comparedInWords": comparedInWords, "stretches": stretchesOf,
	"latencies": latenciesOf, "column": func(i int) string { return quantileName(latencyColumns[i]) },
	"thresholds": func(all []load.Scenario) bool {
		return slices.ContainsFunc(all, func(s load.Scenario) bool { return len(s.Thresholds) > 0 })
	},
	"change": func(e load.Estimate, unit string) string { return estimate(&e, unit) },
})

func pageOfLoad(w io.Writer, r load.Results, _ Options) error { return render(w, loadTemplate, r) }

// loadTitle returns the title of the page.
func loadTitle(r load.Results) string { return r.Verdict.Word() + ": load on " + targetName(r.Target) }

// printedList joins the strings with commas, each made printable.
func printedList(some []string) string {
	shown := make([]string, len(some))
	for i, s := range some {
		shown[i] = printable.Text(s)
	}
	return strings.Join(shown, ", ")
}

// limited is a limiter without its most frequent reason, which is separate
// (Limiter.Common).
type limited struct {
	*load.Limiter
	Untold string
}

// limitedOf returns nil for nil.
func limitedOf(l *load.Limiter) *limited {
	if l == nil {
		return nil
	}
	why, rest := l.Common()
	return &limited{&rest, why}
}

// pageAnswer returns the answer, or why it is unknown.
func pageAnswer(a load.Answer) string {
	why := ""
	if a.Why != "" {
		why = ": " + printable.Text(a.Why)
	}
	switch {
	case a.Value != "" && a.Confidence > 0:
		return fmt.Sprintf("%s (confidence %s)%s", printable.Text(a.Value), percent(a.Confidence), why)
	case a.Value != "":
		return printable.Text(a.Value) + why
	case len(a.OneOf) > 0:
		return "cannot tell: " + strings.ReplaceAll(printedList(a.OneOf), ", ", " or ") + why
	default:
		return "cannot tell" + why
	}
}

// pageFinding returns a figure with its bounds, or why it is unknown.
func pageFinding(f load.Finding) string {
	if f.Known {
		return printable.Interval(f.Value, f.Low, f.High, f.Unit)
	}
	said := "cannot tell"
	if bounds := f.Bounds(printable.Figure); bounds != "" {
		said += ", " + printable.Text(bounds)
	}
	if f.Why != "" {
		said += ": " + printable.Text(f.Why)
	}
	return said
}

// estimate formats a figure with its unit and bounds.
func estimate(e *load.Estimate, unit string) string {
	if e == nil {
		return "—"
	}
	return e.In(unit)
}

// between formats the bounds of a quantile.
func between(q load.Quantile) string {
	if q.Open {
		return fmt.Sprintf("%s or more", printable.Figure(q.LowMS))
	}
	return fmt.Sprintf("%s to %s", printable.Figure(q.LowMS), printable.Figure(q.HighMS))
}

// measuredPhases returns the measured phases, without warm-ups.
func measuredPhases(phases []load.Phase) []load.Phase {
	var some []load.Phase
	for _, p := range phases {
		if !p.Warmup {
			some = append(some, p)
		}
	}
	return some
}

// latencyClass is a distribution with a name.
type latencyClass struct {
	Name string
	*load.Distribution
}

// latencyClasses returns the distributions of a phase, in the order of the table.
func latencyClasses(p load.Phase) []latencyClass {
	var some []latencyClass
	for _, c := range []latencyClass{
		{"response, accepted", p.Response.Accepted}, {"response, limited (429)", p.Response.Limited}, {"response, failed", p.Response.Failed},
		{"service, accepted", p.Service.Accepted}, {"service, limited (429)", p.Service.Limited}, {"service, failed", p.Service.Failed},
		{"send lag", p.Lag},
	} {
		if c.Distribution != nil {
			some = append(some, c)
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
