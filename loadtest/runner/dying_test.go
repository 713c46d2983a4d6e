package runner

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// dropping closes the connection of the requests that are lost, by their number
// from 1: who sent them gets no answer.
func dropping(came *atomic.Int64, lost func(n int64) bool) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if lost(came.Add(1)) {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// patient is a world whose generator has the options, of which Silence says when
// a target is given up.
func patient(t *testing.T, options generate.Options, around ...middleware) *Env {
	t.Helper()
	return envOf(t, inMemory, serving(t, refserver.Options{Middleware: around}), options)
}

// hours is what the scenarios of these tests are asked to last.
const hours = 8 * time.Hour

// A target that dies in the middle ends what would go on for hours. What was
// measured until then is reported, and decides nothing.
func TestADyingTargetEndsTheScenario(t *testing.T) {
	for name, tc := range map[string]struct {
		scenario string
		dies     int64 // after so many requests
		change   func(*scenario.Scenario)
		says     string
	}{
		"steady":  {"list-throughput", 300, func(s *scenario.Scenario) { s.Duration = hours }, "limit=1 was given up after "},
		"warm-up": {"list-throughput", 100, func(s *scenario.Scenario) { s.Warmup = hours }, "warm-up was given up after "},
		"mixed":   {"mixed", 300, func(s *scenario.Scenario) { s.Duration, s.Mix = hours, map[string]int{"*.list": 1} }, "steady was given up after "},
		"spike":   {"spike", 300, func(s *scenario.Scenario) { s.Duration = hours }, "spike was given up after "},
		"soak":    {"soak", 300, func(s *scenario.Scenario) { s.Duration = hours }, "soak was given up after "},
		"depth":   {"page-depth", 1000, func(s *scenario.Scenario) { s.Duration, s.Pages = hours, []int{1, 10} }, "depth was given up after "},
		"deletions": {"mixed", 30, func(s *scenario.Scenario) {
			s.Duration, s.Warmup, s.Mix = 50*time.Second, 0, map[string]int{"*.list": 1, spec.DeletePlacementTest: 9}
		}, "the tests to be deleted could not be created: "},
		"depth way": {"page-depth", 10, func(s *scenario.Scenario) { s.Duration = hours }, "walking to the pages of "},
		"walk":      {"walk", 300, func(s *scenario.Scenario) { s.Duration = hours }, "the walks were aborted: "},
		"sustained": {"sustained-rate", 800, func(s *scenario.Scenario) {
			s.Duration, s.Confirm, s.MaxRate, s.Warmup, s.Thresholds = 500*time.Millisecond, hours, 250, 0, []string{"errors<1%"}
		}, "/s was given up after "},
		"limiter": {"rate-limit", 50, func(s *scenario.Scenario) { s.Duration, s.Budget = hours, 1_000_000 }, "probing was aborted: "},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var came atomic.Int64
			env := patient(t, generate.Options{MaxOutage: 300 * time.Millisecond}, dropping(&came, func(n int64) bool { return n > tc.dies }))
			s := builtinScenario(t, tc.scenario, tc.change)
			s.Thresholds = []string{"errors<1%"} // and nothing that a busy machine misses on its own
			o := Run(t.Context(), env, s)
			reasons := strings.Join(o.Reasons, "\n")
			if o.Verdict != reports.Inconclusive || !strings.Contains(reasons, tc.says) {
				t.Fatalf("%s: %s", o.Verdict, reasons)
			}
			if preparing := slices.Contains([]string{"depth way", "deletions"}, name); preparing {
				if n := came.Load(); n > tc.dies+2*64 {
					t.Errorf("%d requests were sent to prepare, though the target died after %d", n, tc.dies)
				}
				return
			}
			if !strings.Contains(reasons, "requests in a row had no response") {
				t.Errorf("it does not say why: %s", reasons)
			}
			if len(o.Notes) == 0 || !strings.Contains(o.Notes[0], ": no answers from ") {
				t.Errorf("it does not say when: %q", o.Notes)
			}
			if slices.Contains([]string{"warm-up", "limiter"}, name) {
				return // nothing was measured
			}
			if len(o.Drift) > 0 {
				t.Errorf("a death is no drift: %+v", o.Drift)
			}
			if len(o.Phases) == 0 {
				t.Fatal("nothing is reported of what was measured")
			}
			last := o.Phases[len(o.Phases)-1]
			if last.Response.Accepted == nil || last.Response.Accepted.Count == 0 || last.Sent != o.Recordings[len(o.Recordings)-1].Sent ||
				last.Planned != last.Sent+last.Dropped || !last.ClosedLoop && last.Dropped == 0 {
				t.Errorf("%d planned, %d sent, %d dropped", last.Planned, last.Sent, last.Dropped)
			}
			for _, held := range o.Thresholds {
				if strings.HasPrefix(held.Text, "errors") && held.Outcome == load.Missed {
					t.Errorf("%s is missed in a phase that was given up: %s", held.Text, held.Why)
				}
			}
		}))
	}
}

// A target that loses most of what it is asked is alive, and judged. One request
// is out at a time, so that fewer go unanswered in a row than make one dead,
// however long that takes.
func TestALossyTargetIsLoadedToTheEnd(t *testing.T) {
	for name, change := range map[string]func(*scenario.Scenario){
		"soak": func(s *scenario.Scenario) { s.Duration, s.Warmup, s.Rate = time.Second, 0, 400 },
		"walk": func(s *scenario.Scenario) { s.Duration, s.Clients = time.Second, 1 },
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var came atomic.Int64
			env := patient(t, generate.Options{MaxOutage: 1, Workers: 1}, dropping(&came, func(n int64) bool { return n%9 > 0 }))
			o := Run(t.Context(), env, builtinScenario(t, name, change))
			if o.Verdict != reports.Failed || o.Cut != "" {
				t.Errorf("%s: %q", o.Verdict, o.Reasons)
			}
		}))
	}
}

// A rate that overwhelms a target is not the end of a search; its death is.
func TestASearchTellsOverwhelmedFromDead(t *testing.T) {
	for name, tc := range map[string]struct {
		alive   bool // to a single request
		verdict reports.Verdict
	}{"overwhelmed": {true, reports.Passed}, "dead": {false, reports.Inconclusive}} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var came atomic.Int64
			env := patient(t, generate.Options{MaxOutage: time.Hour}, func(next http.Handler) http.Handler {
				lossy := dropping(&came, func(n int64) bool { return n <= 40 || !tc.alive })(next)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if tc.alive && r.URL.Query().Get("limit") != "1" {
						next.ServeHTTP(w, r)
						return
					}
					lossy.ServeHTTP(w, r)
				})
			})
			o := Run(t.Context(), env, builtinScenario(t, "sustained-rate", func(s *scenario.Scenario) {
				s.Mix = map[string]int{"lead-lists.list": 1}
				s.Rate, s.MaxRate, s.Duration, s.Confirm, s.Warmup, s.Limits = 100, 100, 300*time.Millisecond, 300*time.Millisecond, 0, []int{1}
				s.Thresholds = []string{"errors<50%"}
			}))
			if o.Verdict != tc.verdict {
				t.Errorf("%s: %q", o.Verdict, o.Reasons)
			}
			if !tc.alive && !strings.Contains(o.Reasons[0], "100/s: the target stopped answering, search aborted") {
				t.Errorf("%q", o.Reasons)
			}
		}))
	}
}

// What was cut short in one shard was cut short in the whole.
func TestADyingTargetIsSeenWhenShardsAreJoined(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		soak := builtinScenario(t, "soak", func(s *scenario.Scenario) { s.Duration, s.Warmup = hours, 0 })
		shares, envs := make([]verdict.Share, 2), make([]*Env, 2)
		for i := range envs {
			var came atomic.Int64
			envs[i] = patient(t, generate.Options{MaxOutage: 300 * time.Millisecond}, dropping(&came, func(n int64) bool { return n > 50 }))
			envs[i].Shard = measure.Shard{Index: i, Of: 2}
		}
		start := time.Now().Add(2 * time.Second).Round(0)
		var running sync.WaitGroup
		for i, env := range envs {
			env.Start = start
			running.Go(func() { shares[i].Outcome = Run(t.Context(), env, soak) })
		}
		running.Wait()
		o := verdict.Join(soak, shares, verdict.Terms{LagLimit: time.Hour})
		reasons := strings.Join(o.Reasons, "\n")
		if o.Verdict != reports.Inconclusive || !strings.Contains(reasons, "shard 1: soak was given up after ") || !strings.Contains(reasons, "shard 2: soak was given up after ") {
			t.Errorf("%s: %s", o.Verdict, reasons)
		}
		if n := o.Requests; n == nil || n.Counted != o.Phases[0].Sent || n.Counted != shares[0].Requests.Counted+shares[1].Requests.Counted {
			t.Errorf("%+v", n)
		}
	})(t)
}
