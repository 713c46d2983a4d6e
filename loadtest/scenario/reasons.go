package scenario

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
)

// reason explains a verdict other than pass.
type reason struct {
	text  string // without the phase
	phase string // the phase concerned; empty for the whole scenario
	cause string // equal for reasons that differ only in phase and figures; empty if unique
	brief string // the figure alone, for the short form
}

// void and fail record a reason for an inconclusive or failed verdict.
func (r *runner) void(format string, args ...any) {
	r.voids = append(r.voids, reason{text: fmt.Sprintf(format, args...)})
}
func (r *runner) fail(format string, args ...any) {
	r.fails = append(r.fails, reason{text: fmt.Sprintf(format, args...)})
}

// voidPhase records that a phase is inconclusive. Reasons with the same cause
// are merged.
func (r *runner) voidPhase(phase, cause, format string, args ...any) {
	r.voids = append(r.voids, reason{phase: phase, cause: cause, text: fmt.Sprintf(format, args...)})
}

// mostAlike limits how many further phases of one cause are named.
const mostAlike = 8

// said formats the reasons, each once. Reasons of the same cause are merged
// into the first.
func said(all []reason) []string {
	var texts []string
	for i, one := range all {
		alike := func(other reason) bool { return one.cause != "" && other.cause == one.cause }
		if slices.ContainsFunc(all[:i], alike) {
			continue
		}
		text := one.text
		if one.phase != "" {
			text = one.phase + ": " + text
		}
		if more := slices.DeleteFunc(slices.Clone(all[i+1:]), func(other reason) bool { return !alike(other) }); len(more) > 0 {
			text += "; " + likewise(more)
		}
		texts = append(texts, text)
	}
	return distinct(texts)
}

// likewise names the other phases with the same cause.
func likewise(more []reason) string {
	var places []string
	for _, one := range more[:min(len(more), mostAlike)] {
		place := one.phase
		if one.brief != "" {
			place += " (" + one.brief + ")"
		}
		places = append(places, place)
	}
	if len(more) > mostAlike {
		places = append(places, "…")
	}
	return fmt.Sprintf("and %d more: %s", len(more), strings.Join(places, ", "))
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// conclude sets the verdict. A violation or a missed threshold fails even if
// other figures are inconclusive.
func (r *runner) conclude() {
	switch {
	case len(r.out.Missing) > 0:
		r.out.Verdict = reports.Inconclusive
		for _, input := range r.out.Missing {
			r.void("missing input: %s", input)
		}
	case len(r.fails) > 0:
		r.out.Verdict = reports.Failed
	case len(r.voids) > 0:
		r.out.Verdict = reports.Inconclusive
	default:
		r.out.Verdict = reports.Passed
	}
	r.out.Reasons = slices.Concat(said(r.fails), said(r.voids))
}

func distinct(texts []string) []string {
	var kept []string
	for _, text := range texts {
		if !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}
