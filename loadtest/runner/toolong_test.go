package runner

import (
	"bytes"
	"net/http"
	"slices"
	"testing"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
)

// Each kind of scenario says in the same words that a body was too large to read.
func TestBodiesThatAreTooLong(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		large := bytes.Repeat([]byte(" "), client.DefaultMaxBody+1)
		env := world(t, func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) })
		})
		for name, tc := range map[string]struct {
			change func(*scenario.Scenario)
			says   string
		}{
			"page-depth": {func(*scenario.Scenario) {},
				"walking to the pages of inbox-placement-tests.list: not a page: body larger than the limit of 8 MiB"},
			"list-throughput": {func(s *scenario.Scenario) { s.Rate, s.Duration, s.Warmup, s.Limits = 5, time.Second, 0, []int{1} },
				"steady: none of 5 requests was accepted (body larger than the limit of 8 MiB: 5, status 200: 5)"},
			"walk": {func(s *scenario.Scenario) { s.Clients, s.Duration = 1, 10*time.Millisecond },
				"walk: none of 10 requests was accepted (body larger than the limit of 8 MiB: 10, status 200: 10)"},
		} {
			o := Run(t.Context(), env, builtinScenario(t, name, tc.change))
			if o.Verdict == reports.Passed || !slices.Contains(o.Reasons, tc.says) {
				t.Errorf("%s: %s: %q; want %q", name, o.Verdict, o.Reasons, tc.says)
			}
		}
	})(t)
}
