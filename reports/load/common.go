package load

import (
	"maps"
	"slices"
)

// fewAlike is how many answers may say the same without tiring anybody.
const fewAlike = 2

// Common returns the reason for which most of what cannot be told cannot, if
// more than a few answers share one, and l without it in those: it is said once.
func (l Limiter) Common() (why string, rest Limiter) {
	rest = l
	rest.Layers, rest.Sharing = slices.Clone(l.Layers), slices.Clone(l.Sharing)
	answers := []*Answer{&rest.Verdict, &rest.Scope, &rest.RetryAfter.Present, &rest.RetryAfter.Verdict, &rest.Headers.Present, &rest.Headers.Limit,
		&rest.Headers.Window, &rest.Headers.Remaining, &rest.Headers.Reset}
	findings := []*Finding{&rest.RetryAfter.Honest, &rest.RetryAfter.Shortest, &rest.RetryAfter.Promised, &rest.Recovery, &rest.RoundTrip}
	for i := range rest.Layers {
		layer := &rest.Layers[i]
		answers = append(answers, &layer.Kind, &layer.CountsRefused)
		findings = append(findings, &layer.Limit, &layer.Window, &layer.Rate)
	}
	for i := range rest.Sharing {
		answers = append(answers, &rest.Sharing[i].Shared)
	}
	untold := map[string][]*string{}
	for _, a := range answers {
		if a.Value == "" && a.Why != "" {
			untold[a.Why] = append(untold[a.Why], &a.Why)
		}
	}
	for _, f := range findings {
		if !f.Known && f.Why != "" {
			untold[f.Why] = append(untold[f.Why], &f.Why)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(untold)) {
		if len(untold[reason]) > max(fewAlike, len(untold[why])) {
			why = reason
		}
	}
	for _, at := range untold[why] {
		*at = ""
	}
	return why, rest
}
