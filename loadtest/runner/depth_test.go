package runner

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// If no list has a second page, the scenario is inconclusive. A single list without
// one is noted.
func TestPagesThatAreNotDeep(t *testing.T) {
	empty := func(paths ...string) middleware {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for _, path := range paths {
					if strings.HasSuffix(r.URL.Path, path) {
						w.Header().Set("Content-Type", "application/json")
						_, _ = io.WriteString(w, `{"items":[]}`)
						return
					}
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	for name, tc := range map[string]struct {
		around      middleware
		want        reports.Verdict
		says, notes string
	}{
		"none is":    {empty("/lead-lists", "/webhook-events"), reports.Inconclusive, "no list has a second page", ""},
		"one is not": {empty("/webhook-events"), reports.Passed, "", "webhook-events.list has no second page"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), world(t, tc.around), builtinScenario(t, "page-depth", func(s *scenario.Scenario) {
				s.Mix = map[string]int{spec.ListLeadLists: 1, spec.ListWebhookEvents: 1}
				s.Duration, s.Thresholds = time.Second, nil
			}))
			reasons, notes := strings.Join(o.Reasons, "\n"), strings.Join(o.Notes, "\n")
			if o.Verdict != tc.want || !strings.Contains(reasons, tc.says) || !strings.Contains(notes, tc.notes) {
				t.Errorf("%s: %s; notes %s; want %s: %s; notes %s", o.Verdict, reasons, notes, tc.want, tc.says, tc.notes)
			}
		}))
	}
}
