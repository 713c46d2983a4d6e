package verdict

import (
	"strings"
	"testing"

	"outreach.example/conformance/loadtest/infer"
)

// The summary mentions Retry-After only if it is wrong.
func TestSummaryOfRetryAfter(t *testing.T) {
	for verdict, want := range map[string]string{
		infer.Honest:   "",
		"":             "",
		infer.TooLong:  "Retry-After is too long: what shows it",
		infer.TooShort: "Retry-After is too short: what shows it",
	} {
		l := Limiter(infer.Result{Verdict: infer.Answer{Value: infer.RateLimited},
			RetryAfter: infer.RetryAfter{Verdict: infer.Answer{Value: verdict, Why: "what shows it"}}})
		if l.Summary != want || l.RetryAfter.Verdict.Value != verdict || !strings.Contains(l.RetryAfter.Verdict.Why, "what shows it") {
			t.Errorf("%q: summary %q of %+v, want %q", verdict, l.Summary, l.RetryAfter.Verdict, want)
		}
	}
}

// A limit that was not reached may exist. The summary says how far the probes went.
func TestSummaryOfWhatWasNotMet(t *testing.T) {
	l := Limiter(infer.Result{Verdict: infer.Answer{Value: infer.RateLimited},
		Beyond: &infer.Beyond{Why: "no slower layer was met while 18.75 requests/s were sustained for 3.15 s"},
		Total:  infer.Spent{Stopped: "the time budget of 17.5s"}})
	const tried = "no slower layer was met while 18.75 requests/s were sustained for 3.15 s; a higher or slower limit would need more probing (--duration, --probe-budget)"
	if l.Beyond.Why != tried || l.Summary != tried+"; stopped at the time budget of 17.5s" {
		t.Errorf("%q, summary %q", l.Beyond.Why, l.Summary)
	}
}

// The summary says once that the limiter is unknown.
func TestSummaryOfWhatCannotBeTold(t *testing.T) {
	const why = "1,008 of 1,028 requests got neither a 2xx nor a 429; a limiter may be the reason"
	if l := Limiter(infer.Result{Verdict: infer.Answer{Why: why}}); l.Summary != "inconclusive: "+why {
		t.Errorf("summary %q", l.Summary)
	}
}
