package scenario

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/reports"
)

// A body that is larger than is read is told as such: its status says nothing.
func TestBodiesThatAreTooLong(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		large := bytes.Repeat([]byte(" "), client.DefaultMaxBody+1)
		env := world(t, func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) })
		})
		for name, change := range map[string]func(*Scenario){
			"page-depth":      func(*Scenario) {},
			"list-throughput": func(s *Scenario) { s.Rate, s.Duration, s.Warmup = 5, time.Second, 0 },
			"walk":            func(s *Scenario) { s.Clients, s.Duration = 1, 10*time.Millisecond },
		} {
			o := Run(t.Context(), env, builtinScenario(t, name, change))
			if told := strings.Join(o.Reasons, "\n"); o.Verdict == reports.Passed || !strings.Contains(told, "larger than ") {
				t.Errorf("%s: %s: %s", name, o.Verdict, told)
			}
		}
	})(t)
}
