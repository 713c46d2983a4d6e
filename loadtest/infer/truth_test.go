package infer

import (
	"context"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/reports/load"
)

// promising returns the result of probing a limiter whose refusals all carry
// the same Retry-After; an empty text keeps the real one.
func promising(t *testing.T, config, says string, o Options) load.Limiter {
	t.Helper()
	w := newWorld(2, mustParse(t, config), time.Millisecond)
	wire := w.wire(Others()...)
	wire.Send = func(ctx context.Context, subjects []Subject) []Observation {
		seen := w.send(ctx, subjects)
		for _, o := range seen {
			if says != "" && o.Header.Get("Retry-After") != "" {
				o.Header.Set("Retry-After", says)
			}
		}
		return seen
	}
	r, err := Run(context.Background(), wire, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRetryAfterVerdict checks the verdict and the reason, which gives the
// promise and the outcome.
func TestRetryAfterVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		config, says string
		want, why    string
	}{
		"bucket":                    {"token-bucket:20/1s", "", Honest, "a request was served"},
		"bucket in debt":            {"token-bucket:20/4s,count-refused", "", Honest, "a request was served"},
		"window":                    {"fixed-window:20/1s", "", Honest, "a request was served"},
		"log":                       {"sliding-log:10/5s", "", Honest, "a request was served"},
		"counting log":              {"sliding-log:10/3s,count-refused", "", Honest, "a request was served"},
		"counter":                   {"sliding-counter:10/3s", "", Honest, "a request was served"},
		"a day":                     {"fixed-window:20/1s", "86400", TooLong, "it says 86,400 s, but a request was served after "},
		"a day, of a bucket":        {"token-bucket:20/1s", "86400", TooLong, "it says 86,400 s, but a request was served after "},
		"a minute, in debt":         {"token-bucket:20/4s,count-refused", "60", TooLong, "it says 60 s, but a request was served after "},
		"a far date":                {"fixed-window:20/1s", "Wed, 21 Oct 2037 07:28:00 GMT", TooLong, "it says 367"},
		"a date long over":          {"fixed-window:20/1s", "Wed, 21 Oct 2015 07:28:00 GMT", TooShort, "it says 0 s, but requests were refused for another 0.9"},
		"nothing":                   {"fixed-window:20/1s", "0", TooShort, "it says 0 s, but requests were refused for another 0.9"},
		"a second of five":          {"sliding-log:10/5s", "1", TooShort, "it says 1 s, but requests were refused for another "},
		"a second, counting":        {"sliding-log:10/5s,count-refused", "1", "sometimes too short", "it says 1 s, but requests were refused for another "},
		"no Retry-After whatsoever": {"fixed-window:20/1s,no-retry-after", "", "", "no Retry-After was sent"},
		"what cannot be read":       {"fixed-window:20/1s", "abc", "", "its values cannot be parsed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := promising(t, tc.config, tc.says, Options{MaxTime: 5 * time.Minute}).RetryAfter.Verdict
			if got.Value != tc.want || !strings.Contains(got.Why, tc.why) {
				t.Errorf("%+v, want %q: %s", got, tc.want, tc.why)
			}
		})
	}
}

// TestWrongRetryAfterIsFoundEarly checks that the verdict does not need an
// identified limiter.
func TestWrongRetryAfterIsFoundEarly(t *testing.T) {
	r := promising(t, "fixed-window:20/1s", "100000", Options{MaxTime: 1500 * time.Millisecond})
	if r.Layers[0].Kind.Value != "" {
		t.Fatal("the limiter was understood: the test says nothing")
	}
	if r.RetryAfter.Verdict.Value != TooLong {
		t.Errorf("%+v", r.RetryAfter.Verdict)
	}
	if p := r.RetryAfter.Promised; p.Known || p.Why == "no Retry-After was sent" {
		t.Errorf("promised %+v, although refusals had a Retry-After", p)
	}
}
