package verdict

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

// Void records a reason for an inconclusive verdict.
func (d *Draft) Void(format string, args ...any) {
	d.voids = append(d.voids, reason{text: fmt.Sprintf(format, args...)})
}

// Voided reports whether the verdict is already inconclusive.
func (d *Draft) Voided() bool { return len(d.voids) > 0 }

// fail records a reason for a failed verdict.
func (d *Draft) fail(format string, args ...any) {
	d.fails = append(d.fails, reason{text: fmt.Sprintf(format, args...)})
}

// voidPhase records that a phase is inconclusive. Reasons with the same cause
// are merged.
func (d *Draft) voidPhase(phase, cause, format string, args ...any) {
	d.voids = append(d.voids, reason{phase: phase, cause: cause, text: fmt.Sprintf(format, args...)})
}

// mostAlike limits how many further phases of one cause are named.
const mostAlike = 8

// inWords formats the reasons, each once. Reasons of the same cause are merged
// into the first.
func inWords(all []reason) []string {
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
func (d *Draft) conclude() {
	switch {
	case len(d.Result.Missing) > 0:
		d.Result.Verdict = reports.Inconclusive
		for _, input := range d.Result.Missing {
			d.Void("missing input: %s", input)
		}
	case len(d.fails) > 0:
		d.Result.Verdict = reports.Failed
	case len(d.voids) > 0:
		d.Result.Verdict = reports.Inconclusive
	default:
		d.Result.Verdict = reports.Passed
	}
	d.Result.Reasons = slices.Concat(inWords(d.fails), inWords(d.voids))
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
