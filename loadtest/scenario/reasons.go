package scenario

import (
	"fmt"
	"slices"
	"strings"

	"outreach.example/conformance/reports/load"
)

// reason is why a verdict is not PASS.
type reason struct {
	text  string // without the phase
	phase string // where it was seen; empty for the whole scenario
	cause string // the same for reasons that differ in the phase and its figures; empty: it has no like
	brief string // the figure, for one that is not told in full
}

// void and fail note a reason for a verdict other than PASS.
func (r *runner) void(format string, args ...any) {
	r.voids = append(r.voids, reason{text: fmt.Sprintf(format, args...)})
}
func (r *runner) fail(format string, args ...any) {
	r.fails = append(r.fails, reason{text: fmt.Sprintf(format, args...)})
}

// voidPhase is void, of a phase, for a cause that others may share.
func (r *runner) voidPhase(phase, cause, format string, args ...any) {
	r.voids = append(r.voids, reason{phase: phase, cause: cause, text: fmt.Sprintf(format, args...)})
}

// mostAlike is how many reasons of one cause are named, beside the first.
const mostAlike = 8

// said are the reasons for people, each once, and the first of a cause for all of
// it, with how many there are more and where.
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

// likewise names where else something was seen.
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
	return fmt.Sprintf("and %s more: %s", times(int64(len(more))), strings.Join(places, ", "))
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// conclude: what was seen to be broken fails, whatever else went wrong; after
// that, figures that are not the target's decide nothing.
func (r *runner) conclude() {
	switch {
	case len(r.out.Missing) > 0:
		r.out.Verdict = load.Void
		for _, input := range r.out.Missing {
			r.void("it lacks an input: %s", input)
		}
	case len(r.fails) > 0:
		r.out.Verdict = load.Fail
	case len(r.voids) > 0:
		r.out.Verdict = load.Void
	default:
		r.out.Verdict = load.Pass
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
