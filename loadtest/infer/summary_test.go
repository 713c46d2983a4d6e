package infer

import (
	"testing"

	"outreach.example/conformance/reports/load"
)

// The summary mentions Retry-After only if it is wrong.
func TestSummaryOfRetryAfter(t *testing.T) {
	for verdict, want := range map[string]string{
		Honest:   "",
		"":       "",
		TooLong:  "Retry-After is too long: what shows it",
		TooShort: "Retry-After is too short: what shows it",
	} {
		got := summary(load.Limiter{Verdict: load.Answer{Value: RateLimited},
			RetryAfter: load.RetryAfter{Verdict: load.Answer{Value: verdict, Why: "what shows it"}}})
		if got != want {
			t.Errorf("%q: summary %q, want %q", verdict, got, want)
		}
	}
}

// A limit that was not reached may exist. The summary says how far the probes went.
func TestSummaryOfWhatWasNotMet(t *testing.T) {
	const tried = "no slower limit was found at 18.75 requests/s for 3.15 s"
	got := summary(load.Limiter{Verdict: load.Answer{Value: RateLimited}, Beyond: &load.Beyond{Why: tried}, Total: load.Spent{Stopped: "the time budget of 17.5 s"}})
	if got != tried+"; stopped at the time budget of 17.5 s" {
		t.Errorf("summary %q", got)
	}
}

// The summary says once that the limiter is unknown.
func TestSummaryOfWhatCannotBeTold(t *testing.T) {
	const why = "1,008 of 1,028 requests got neither a 2xx nor a 429; a limiter may be the reason"
	if got := summary(load.Limiter{Verdict: load.Answer{Why: why}}); got != "inconclusive: "+why {
		t.Errorf("summary %q", got)
	}
}
