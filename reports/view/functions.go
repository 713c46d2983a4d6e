package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/reports"

	"outreach.example/conformance/reports/diff"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/reports/summary"
)

// shared are the functions of the templates of texts and of pages.
var shared = map[string]any{
	"number": number, "counted": counted, "percent": percent, "quantile": quantileName, "seconds": Duration,
	"amount": printable.Amount, "interval": printable.Interval, "estimate": estimate, "atLeast": load.AtLeast, "bound": load.Bound, "size": byteSize,
	"clock":  func(t time.Time) string { return t.UTC().Format(time.DateTime + " UTC") },
	"list":   func(all []string) string { return strings.Join(all, ", ") },
	"join":   func(separator string, all []string) string { return strings.Join(all, separator) },
	"target": targetName, "names": names, "follows": follows, "oneLine": printable.Text,

	"coverage": func(r reports.Results) string { return summary.CoverageOf(r.Checks).String() }, "outcomeCounts": outcomeCounts,
	"counts": func(r reports.Results) reports.Counts { return reports.Count(r.Checks) },
	"causes": summary.Causes, "failures": summary.Failures, "expected": expected, "missing": summary.MissingInputs, "troubles": summary.Troubles,
	"observations": summary.Observations,

	"bounds": func(f load.Finding) string { return f.Bounds(printable.Figure) }, "counting": counting, "endings": endings, "statusCounts": statusCounts[int64],
	"grouped": diff.Grouped, "observed": diff.GroupedObservations, "values": diff.Values,
}

// functions returns the functions of the templates of texts.
func (s *screen) functions() map[string]any {
	all := map[string]any{
		"opt": func() Options { return s.Options }, "br": func() string { return br }, "keep": func() string { return keep },
		"bold": s.paint.bold, "dim": s.paint.dim, "green": s.paint.green, "red": s.paint.red, "alarm": s.paint.alarm,
		"yellow": func(text any) string { return s.paint.yellow(fmt.Sprint(text)) },
		"mark":   s.mark, "effect": s.effect, "outcome": s.outcome, "sign": sign, "upper": strings.ToUpper, "split": split,
		"include": s.include, "laid": strings.TrimSpace, "label": s.label, "column": column, "flow": s.flow, "lines": s.lines,
		"first": s.first, "left": s.left, "more": s.more, "some": s.some, "cut": s.cut, "brief": s.brief,
		"short": Cut, "half": func(name string) string { return Cut(name, s.width/2) },
		"dotted": func(texts ...string) string { return joined(" · ", texts...) },
		"md":     markdown, "xml": escapedXML, "annotation": annotation, "bounded": oneLine,

		"digest": s.digest, "many": isMany, "outcomes": s.outcomes, "outside": outside, "urgent": urgent, "inShort": inShort,
		"alike": alike, "seen": seen, "leftCauses": s.leftCauses, "notAssessed": notAssessed, "lacking": lacking, "where": where,
		"stateless": summary.LooksStateless, "throttled": throttled, "expectedIn": s.expectedIn, "operations": operationsOf,
		"kindsByCause": kindsByCause, "failuresByCause": failuresByCause, "annotated": s.annotated, "news": news,

		"phases": s.phases, "at": s.at, "reliable": s.reliable, "marked": func() bool { return s.marked }, "measured": measured,
		"sent":   func(one load.Scenario) load.Traffic { return measured([]load.Scenario{one}) },
		"others": s.others, "ratesTried": ratesTried, "missedAt": missedAt, "steady": steady, "thresholds": s.thresholds,
		"burst": burst, "achieved": achieved, "dearest": dearest, "drift": driftInWords, "change": changeInWords,
		"notes": slices.Compact[[]string], "kinds": loadKinds, "common": s.common, "ownReasons": ownReasons, "notPassed": s.notPassed,
		"broken": broken, "allThresholds": allThresholds, "allPhases": allPhases, "quantileOf": quantileOf,
	}
	for name, n := range map[string]int{"maxRows": maxRows, "maxAnnotations": maxAnnotations, "maxCauses": maxCauses, "maxFullCauses": maxFullCauses} {
		all[name] = func() int { return n }
	}
	maps.Copy(all, shared)
	return all
}

// number formats a number as all reports do.
func number(n any) (string, error) {
	switch n := n.(type) {
	case int:
		return printable.Number(n), nil
	case int64:
		return printable.Number(n), nil
	case float64:
		return printable.Figure(n), nil
	}
	return "", fmt.Errorf("%T is no number", n)
}

// counted returns a number and a noun, which takes an s in the plural.
func counted(n any, noun string) (string, error) {
	text, err := number(n)
	if text != "1" {
		noun += "s"
	}
	return text + " " + noun, err
}

// percent formats a share as a percentage.
func percent(share float64) string { return printable.Figure(100*share) + " %" }

// quantileName returns the name of a quantile: p99 for 0.99.
func quantileName(p float64) string {
	return "p" + strconv.FormatFloat(math.Round(p*1e8)/1e6, 'g', -1, 64)
}

// estimate formats a figure with its unit and bounds; "" for nil.
func estimate(e *load.Estimate, unit string) string {
	if e == nil {
		return ""
	}
	return e.In(unit)
}

// targetName returns the name and the version of the target, and its vendor.
func targetName(t reports.Target) string {
	name := cmp.Or(strings.TrimSpace(t.Name+" "+t.Version), "(without a name)")
	if t.Vendor != "" {
		name += ", by " + t.Vendor
	}
	return name
}

// byteSize formats a number of bytes.
func byteSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, unit := float64(n), 0
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return printable.Figure(v) + " " + units[unit]
}

// split returns the lines of a text that are not empty.
func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// sign returns the sign of a verdict.
func sign(v reports.Verdict) string {
	return cmp.Or(map[reports.Verdict]string{reports.Passed: "✓", reports.Failed: "✗"}[v], "?")
}

// mark returns a word for a verdict with its sign.
func (s *screen) mark(v reports.Verdict, word string) string {
	text := sign(v) + " " + word
	switch v {
	case reports.Passed:
		return s.paint.relief(text)
	case reports.Inconclusive:
		return s.paint.uncertain(text)
	default:
		return s.paint.alarm(text)
	}
}

// outcome returns a difference in one line, with a sign.
func (s *screen) outcome(d diff.Difference) string {
	switch text := d.Summary(); d.Outcome {
	case diff.Same:
		return s.paint.relief("= " + text)
	case diff.Different:
		return s.paint.bold("≠ " + text)
	case diff.Worse:
		return s.paint.alarm("✗ " + text)
	default:
		return s.paint.uncertain("? " + text)
	}
}
