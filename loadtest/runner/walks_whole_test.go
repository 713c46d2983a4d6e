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

// Pages alone are no walk: where none came to its end, or none showed a row,
// nothing was found out about walks. Of a list that was not walked whole beside
// others that were, it is said.
func TestWalksThatAreNotWhole(t *testing.T) {
	lists := map[string]string{"/lead-lists": spec.ListLeadLists, "/webhook-events": spec.ListWebhookEvents}
	around := func(path string, when func(*http.Request) bool, do http.HandlerFunc) middleware {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, path) && when(r) {
					do(w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	deeper := func(r *http.Request) bool { return r.URL.Query().Has("starting_after") }
	always := func(*http.Request) bool { return true }
	breaks := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	empty := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"items":[]}`)
	}
	const noneWhole = "no walk completed and returned a row"
	for name, tc := range map[string]struct {
		around middleware
		want   reports.Verdict
		says   string // the reason, in part
		notes  string
	}{
		"none comes to its end": {around("", deeper, breaks), reports.Inconclusive, noneWhole, ""},
		"none shows a row":      {around("", always, empty), reports.Inconclusive, noneWhole, ""},
		"one list is empty":     {around("/webhook-events", always, empty), reports.Passed, "", "webhook-events.list has no rows to walk"},
		"one list does not":     {around("/webhook-events", deeper, breaks), reports.Passed, "", "no walk of webhook-events.list completed:"},
		"nothing is accepted":   {around("", always, breaks), reports.Inconclusive, "none of ", ""},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), world(t, tc.around), builtinScenario(t, "walk", func(s *scenario.Scenario) {
				s.Mix, s.Clients, s.Limits = map[string]int{}, len(lists), []int{100}
				for _, list := range lists {
					s.Mix[list] = 1
				}
				s.Duration, s.Thresholds = time.Second, nil
			}))
			reasons, notes := strings.Join(o.Reasons, "\n"), strings.Join(o.Notes, "\n")
			if o.Verdict != tc.want || !strings.Contains(reasons, tc.says) || tc.says == "" && reasons != "" || len(o.Reasons) > 1 {
				t.Errorf("%s: %s; want %s: %s", o.Verdict, reasons, tc.want, tc.says)
			}
			if !strings.Contains(notes, tc.notes) {
				t.Errorf("notes: %s; want %s", notes, tc.notes)
			}
		}))
	}
}
