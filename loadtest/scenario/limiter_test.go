package scenario

import (
	"strings"
	"testing"

	"outreach.example/conformance/loadtest/infer"
)

// What the summary of a limiter says of Retry-After: only what is untrue.
func TestSummaryOfRetryAfter(t *testing.T) {
	for verdict, want := range map[string]string{
		infer.Honest:   "",
		"":             "",
		infer.TooLong:  "Retry-After is too long: what shows it",
		infer.TooShort: "Retry-After is too short: what shows it",
	} {
		l := limiterOf(infer.Result{Verdict: infer.Answer{Value: infer.RateLimited},
			RetryAfter: infer.RetryAfter{Verdict: infer.Answer{Value: verdict, Why: "what shows it"}}})
		if l.Summary != want || l.RetryAfter.Verdict.Value != verdict || !strings.Contains(l.RetryAfter.Verdict.Why, "what shows it") {
			t.Errorf("%q: summary %q of %+v, want %q", verdict, l.Summary, l.RetryAfter.Verdict, want)
		}
	}
}
