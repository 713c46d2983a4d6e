package runner

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
)

// throttling answers 429 to the requests of these numbers, from 1.
func throttling(refused func(n int64) bool) middleware {
	var came atomic.Int64
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !refused(came.Add(1)) {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"statusCode":429,"error":"Too Many Requests","message":"slow down"}`))
		})
	}
}

// That a key is waited for is said once, and one that is never served ends the
// run: nothing can be measured with it.
func TestThrottledKeysAreWaitedForInWords(t *testing.T) {
	for name, tc := range map[string]struct {
		refused func(n int64) bool
		ends    bool
	}{
		"for ever":            {func(int64) bool { return true }, true},
		"for a moment, twice": {func(n int64) bool { return n == 1 || n == 4 }, false},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			network := serving(t, refserver.Options{Middleware: []middleware{throttling(tc.refused)}})
			env := envOf(t, inMemory, network, generate.Options{})
			var said []string
			env.Say = func(what string) { said = append(said, what) }
			var err error
			if env.Client, err = client.New(client.Options{BaseURL: env.BaseURL, Transport: network, Allow: env.Budget.One, MaxThrottle: 10 * time.Second, MaxThrottled: 2}); err != nil {
				t.Fatal(err)
			}
			_, err = prepare.Ready(t.Context(), &env.Env, []scenario.Scenario{builtinScenario(t, "list-throughput", func(*scenario.Scenario) {})}, false)
			var throttled *prepare.ThrottledError
			if ends := errors.As(err, &throttled); ends != tc.ends || !ends && err != nil {
				t.Fatalf("%v", err)
			}
			const key = `the key "main" (keys in the profile)`
			if tc.ends && (!strings.Contains(err.Error(), "the target answered "+key+" only with 429") || !strings.Contains(err.Error(), ".list). Wait until")) {
				t.Errorf("%v", err)
			}
			const want = "the target answers " + key + " with 429; waiting for at most 10 s or 2 more such answers"
			if len(said) != 1 || said[0] != want {
				t.Errorf("said %q; want %q", said, want)
			}
		}))
	}
}
