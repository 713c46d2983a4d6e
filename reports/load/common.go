package load

import (
	"maps"
	"slices"
)

// fewAlike is the number of times that a reason may be repeated.
const fewAlike = 2

// Common returns the most frequent reason of the unknown answers and findings, and l
// without it, so that a view shows it once. It returns "" and an equal l if no reason
// occurs more than fewAlike times.
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
	unknown := map[string][]*string{}
	for _, a := range answers {
		if a.Value == "" && a.Why != "" {
			unknown[a.Why] = append(unknown[a.Why], &a.Why)
		}
	}
	for _, f := range findings {
		if !f.Known && f.Why != "" {
			unknown[f.Why] = append(unknown[f.Why], &f.Why)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(unknown)) {
		if len(unknown[reason]) > max(fewAlike, len(unknown[why])) {
			why = reason
		}
	}
	for _, at := range unknown[why] {
		*at = ""
	}
	return why, rest
}
