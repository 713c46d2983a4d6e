// Package loadpage writes the results of a load run as one self-contained HTML file.
//
// Strings that a target can influence are made printable, and html/template escapes
// them. The package imports the results models.
package loadpage

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/page"
)

//go:embed load.html
var layout string

var pageTemplate = page.New(layout, template.FuncMap{
	"list": list, "number": printable.Figure, "percent": percent, "quantile": quantileName,
	"answer": answer, "finding": finding, "estimate": estimate, "between": between, "atLeast": load.AtLeast, "bound": load.Bound,
	"counted": counted, "figures": phaseCharts, "knee": kneeCharts, "depths": depthCharts, "memory": memoryCharts, "limiter": limiterCharts, "limited": limitedOf,
	"classes": classes, "spans": spans, "failure": load.FailureInWords, "title": title, "headline": headline, "chief": chief, "compared": comparedCharts, "comparedInWords": comparedInWords, "stretches": stretchesOf,
	"latencies": latenciesOf, "column": func(i int) string { return quantileName(columns[i]) },
	"thresholds": func(all []load.Scenario) bool {
		return slices.ContainsFunc(all, func(s load.Scenario) bool { return len(s.Thresholds) > 0 })
	},
	"change": func(e load.Estimate, unit string) string { return estimate(&e, unit) },
})

// Render returns the page of r.
func Render(r load.Results) ([]byte, error) { return page.Render(pageTemplate, r) }

// Write replaces the file at path with the page of r, atomically. It creates missing
// directories.
func Write(path string, r load.Results) error {
	body, err := Render(r)
	if err != nil {
		return err
	}
	if err := page.Write(path, body); err != nil {
		return fmt.Errorf("write load page: %w", err)
	}
	return nil
}

// title returns the title of the page.
func title(r load.Results) string { return r.Verdict.Word() + ": load on " + page.Named(r.Target) }

// list joins the strings with commas, each made printable.
func list(some []string) string {
	shown := make([]string, len(some))
	for i, s := range some {
		shown[i] = reports.Printable(s)
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

// answer returns the answer, or why it is unknown.
func answer(a load.Answer) string {
	why := ""
	if a.Why != "" {
		why = ": " + reports.Printable(a.Why)
	}
	switch {
	case a.Value != "" && a.Confidence > 0:
		return fmt.Sprintf("%s (confidence %s)%s", reports.Printable(a.Value), percent(a.Confidence), why)
	case a.Value != "":
		return reports.Printable(a.Value) + why
	case len(a.OneOf) > 0:
		return "cannot tell: " + strings.ReplaceAll(list(a.OneOf), ", ", " or ") + why
	default:
		return "cannot tell" + why
	}
}

// finding returns a figure with its bounds, or why it is unknown.
func finding(f load.Finding) string {
	if f.Known {
		return printable.Interval(f.Value, f.Low, f.High, f.Unit)
	}
	said := "cannot tell"
	if bounds := f.Bounds(printable.Figure); bounds != "" {
		said += ", " + reports.Printable(bounds)
	}
	if f.Why != "" {
		said += ": " + reports.Printable(f.Why)
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

// counted returns the measured phases, without warm-ups.
func counted(phases []load.Phase) []load.Phase {
	var some []load.Phase
	for _, p := range phases {
		if !p.Warmup {
			some = append(some, p)
		}
	}
	return some
}

// class is a distribution with a name.
type class struct {
	Name string
	*load.Distribution
}

// classes returns the distributions of a phase, in the order of the table.
func classes(p load.Phase) []class {
	var some []class
	for _, c := range []class{
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
