package infer

import (
	"cmp"
	"fmt"
	"strings"

	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/loadtest/infer/family"
	"outreach.example/conformance/reports/load"
)

// summary describes the limiter in words.
func summary(l load.Limiter) string {
	var parts []string
	switch l.Verdict.Value {
	case "":
		return "inconclusive: " + l.Verdict.Why
	case ConcurrencyLimited:
		return fmt.Sprintf("no rate limit, but a concurrency limit (%.0f)", l.Concurrency.Value)
	case RateLimited:
	default:
		parts = append(parts, l.Verdict.Value)
	}
	for _, layer := range l.Layers {
		parts = append(parts, layerInWords(layer))
	}
	if l.Scope.Value != "" {
		parts = append(parts, "counted per "+l.Scope.Value)
	}
	if v := l.RetryAfter.Verdict; v.Value != "" && v.Value != Honest {
		parts = append(parts, "Retry-After is "+v.Value+": "+v.Why)
	}
	if l.Beyond != nil {
		parts = append(parts, l.Beyond.Why)
	}
	if l.Total.Stopped != "" {
		parts = append(parts, "stopped at "+l.Total.Stopped)
	}
	return strings.Join(parts, "; ")
}

func layerInWords(l load.Layer) string {
	kind := cmp.Or(l.Kind.Value, strings.Join(l.Kind.OneOf, " or "), "a limiter of unknown kind")
	switch {
	case l.Kind.Value == string(family.Bucket) && l.Rate.Known && l.Limit.Known:
		return fmt.Sprintf("%s of %s requests/s with a burst of %.0f", kind, printable.Figure(l.Rate.Value), l.Limit.Value)
	case l.Limit.Known && l.Window.Known:
		return fmt.Sprintf("%s of %.0f requests in %s s", kind, l.Limit.Value, printable.Figure(l.Window.Value))
	case l.Limit.Known:
		return fmt.Sprintf("%s of %.0f requests at once", kind, l.Limit.Value)
	default:
		return kind
	}
}
