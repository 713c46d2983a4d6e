package runner

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// dropping closes the connection of the lost requests, which get no response. n
// counts from 1.
func dropping(lost func(n int64) bool) middleware {
	var came atomic.Int64
	return instead(func(*http.Request) bool { return lost(came.Add(1)) }, breakOff)
}

func breakOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// patient returns a world whose generator has the options.
func patient(t *testing.T, options generate.Options, around ...middleware) *Env {
	t.Helper()
	return envOf(t, inMemory, serving(t, refserver.Options{Middleware: around}), options)
}

// A target that dies ends a scenario of hours. Its figures until then are reported
// and decide nothing.
func TestADyingTargetEndsTheScenario(t *testing.T) {
	const hours = 8 * time.Hour
	long := func(s *scenario.Scenario) { s.Duration = hours }
	for name, tc := range map[string]struct {
		scenario string
		dies     int64 // after so many requests
		change   func(*scenario.Scenario)
		says     string
		measured bool
	}{
		"steady":  {"list-throughput", 300, long, "limit=1 was given up after ", true},
		"warm-up": {"list-throughput", 100, func(s *scenario.Scenario) { s.Warmup = hours }, "warm-up was given up after ", false},
		"soak":    {"soak", 300, long, "soak was given up after ", true},
		"deletions": {"mixed", 30, func(s *scenario.Scenario) {
			s.Duration, s.Warmup, s.Mix = 50*time.Second, 0, map[string]int{"*.list": 1, spec.DeletePlacementTest: 9}
		}, "the tests to be deleted could not be created: ", false},
		"depth": {"page-depth", 10, long, "walking to the pages of ", false},
		"walk":  {"walk", 300, long, "the walks were aborted: ", true},
		"sustained": {"sustained-rate", 800, func(s *scenario.Scenario) {
			s.Duration, s.Confirm, s.MaxRate, s.Warmup = 500*time.Millisecond, hours, 250, 0
		}, "/s was given up after ", true},
		"limiter": {"rate-limit", 50, func(s *scenario.Scenario) { s.Duration, s.Budget = hours, 1_000_000 }, "probing was aborted: ", false},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			env := patient(t, generate.Options{MaxOutage: 300 * time.Millisecond}, dropping(func(n int64) bool { return n > tc.dies }))
			s := builtinScenario(t, tc.scenario, tc.change)
			s.Thresholds = []string{"errors<1%"}
			o := Run(t.Context(), env, s)
			if reasons := strings.Join(o.Reasons, "\n"); o.Verdict != reports.Inconclusive || !strings.Contains(reasons, tc.says) {
				t.Fatalf("%s: %s", o.Verdict, reasons)
			}
			if !tc.measured {
				return
			}
			if len(o.Notes) == 0 || !strings.Contains(o.Notes[0], ": no responses from ") || len(o.Drift) > 0 {
				t.Errorf("notes %q, drift %+v", o.Notes, o.Drift)
			}
			last := o.Phases[len(o.Phases)-1]
			if last.Response.Accepted == nil || last.Planned != last.Sent+last.Dropped || !last.ClosedLoop && last.Dropped == 0 {
				t.Errorf("%d planned, %d sent, %d dropped", last.Planned, last.Sent, last.Dropped)
			}
			for _, held := range o.Thresholds {
				if held.Outcome == load.Missed {
					t.Errorf("%s is missed in a phase that was given up: %s", held.Text, held.Why)
				}
			}
		}))
	}
}

// threePhases returns a scenario of 20 requests each for pages of 1, 10 and 100 rows.
func threePhases(t *testing.T) scenario.Scenario {
	t.Helper()
	return builtinScenario(t, "list-throughput", func(s *scenario.Scenario) {
		s.Mix = map[string]int{spec.ListLeadLists: 1}
		s.Limits, s.Rate, s.Duration, s.Warmup, s.Thresholds = []int{1, 10, 100}, 20, time.Second, 0, []string{"errors<1%"}
	})
}

// fromTheSecond replaces the handler of all phases but the one with pages of 1 row.
func fromTheSecond(do http.HandlerFunc) middleware {
	return instead(func(r *http.Request) bool { return len(r.URL.Query().Get("limit")) > 1 }, do)
}

// A target that stops answering is given up after that phase. One that answers with
// errors, or with what cannot be read, is loaded to the end and does not pass.
func TestPhasesThatShowNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		does   http.HandlerFunc
		phases int
		says   string
	}{
		"breaks connections": {breakOff, 2, "the target has stopped responding (connection broken: 20); the scenario was given up"},
		"fails":              {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 3, "none of 20 requests was accepted (status 500: 20)"},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("no matter"))
		}, 3, "40 of 60 responses could not be checked: 40 were compressed despite Accept-Encoding: identity"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			o := Run(t.Context(), patient(t, generate.Options{Timeout: 500 * time.Millisecond}, fromTheSecond(tc.does)), threePhases(t))
			if reasons := strings.Join(o.Reasons, "\n"); len(o.Phases) != tc.phases || o.Verdict == reports.Passed || !strings.Contains(reasons, tc.says) {
				t.Errorf("%d phases, %s: %s", len(o.Phases), o.Verdict, reasons)
			}
		}))
	}
}

// rows answers with the page.
func rows(page string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(page))
	}
}

// A search ends if the target answers not even a single request. A rate that
// overwhelms it does not end one.
func TestASearchTellsOverwhelmedFromDead(t *testing.T) {
	for name, alive := range map[string]bool{"overwhelmed": true, "dead": false} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var came atomic.Int64
			lost := instead(func(r *http.Request) bool {
				return r.URL.Query().Get("limit") == "1" && came.Add(1) <= 40 || !alive
			}, breakOff)
			o := Run(t.Context(), patient(t, generate.Options{MaxOutage: time.Hour}, lost), builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
				s.Mix = map[string]int{spec.ListLeadLists: 1}
				s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup, s.Limits = 100, 100, 300*time.Millisecond, 300*time.Millisecond, 0, []int{1}
				s.Thresholds = []string{"errors<50%"}
			}))
			if (o.Verdict == reports.Passed) != alive || !alive && !strings.Contains(o.Reasons[0], "100/s: the target stopped answering, search aborted") {
				t.Errorf("%s: %q", o.Verdict, o.Reasons)
			}
		}))
	}
}
