package runner

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/outage"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// dropping closes the connection of the lost requests, which get no response. n
// counts from 1.
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

// patient returns a world whose generator has the options. MaxOutage says when the
// target counts as stopped.
func patient(t *testing.T, options generate.Options, around ...middleware) *Env {
	t.Helper()
	return envOf(t, inMemory, serving(t, refserver.Options{Middleware: around}), options)
}

// hours is the planned duration of the scenarios.
const hours = 8 * time.Hour

// A target that dies ends a scenario of hours. Its figures until then are reported
// and decide nothing.
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
			if len(o.Notes) == 0 || !strings.Contains(o.Notes[0], ": no responses from ") {
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

// A target that loses most requests is alive and is judged. One request is in flight
// at a time, so too few in a row get no response.
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

// A rate that overwhelms the target does not end a search. The death of the target
// does.
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

// A scenario is cut short if one of its shards is.
func TestADyingTargetIsSeenWhenShardsAreJoined(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		soak := builtinScenario(t, "soak", func(s *scenario.Scenario) { s.Duration, s.Warmup = hours, 0 })
		shares, envs := make([]verdict.Outcome, 2), make([]*Env, 2)
		for i := range envs {
			var came atomic.Int64
			envs[i] = patient(t, generate.Options{MaxOutage: 300 * time.Millisecond}, dropping(&came, func(n int64) bool { return n > 50 }))
			envs[i].Shard = measure.Shard{Index: i, Of: 2}
		}
		start := time.Now().Add(2 * time.Second).Round(0)
		var running sync.WaitGroup
		for i, env := range envs {
			env.Start = start
			running.Go(func() { shares[i] = Run(t.Context(), env, soak) })
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
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if limit := r.URL.Query().Get("limit"); limit == "10" || limit == "100" {
				do(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// A target that stops answering is given up after that phase. One that answers with
// errors is loaded to the end.
func TestSilentTargetsAreGivenUp(t *testing.T) {
	answers := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	for name, tc := range map[string]struct {
		does   http.HandlerFunc
		silent bool
		says   string
	}{
		"breaks connections": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, "connection broken: 20"},
		"answers too late":   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, true, "no response in time: 20"},
		"fails":              {answers(http.StatusInternalServerError), false, "none of 20 requests was accepted (status 500: 20)"},
		"refuses":            {answers(http.StatusTooManyRequests), false, "none of 20 requests was accepted (status 429: 20)"},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			env := patient(t, generate.Options{Timeout: 500 * time.Millisecond}, fromTheSecond(tc.does))
			o := Run(t.Context(), env, threePhases(t))
			phases, givenUp := 3, "; the scenario was given up"
			if tc.silent {
				phases = 2
			}
			reasons := strings.Join(o.Reasons, "\n")
			if len(o.Phases) != phases || o.Traffic.Sent != int64(20*phases) {
				t.Errorf("%d phases and %d requests, want %d and %d", len(o.Phases), o.Traffic.Sent, phases, 20*phases)
			}
			if !strings.Contains(reasons, tc.says) || strings.Contains(reasons, givenUp) != tc.silent {
				t.Errorf("want %q, given up %t:\n%s", tc.says, tc.silent, reasons)
			}
			if tc.silent && o.Verdict != reports.Inconclusive {
				t.Errorf("%s instead of %s", o.Verdict, reports.Inconclusive)
			}
		}))
	}
}

// A target that never answers is given up in the first phase.
func TestDeadTargetsAreGivenUp(t *testing.T) {
	for _, kind := range []string{"list-throughput", "mixed", "spike", "soak"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			env := envOf(t, "http://127.0.0.1:1", nil, generate.Options{}) // where nobody listens
			o := Run(t.Context(), env, builtinScenario(t, kind, func(s *scenario.Scenario) {
				s.Rate, s.Duration, s.Warmup = 20, time.Second, 0
				delete(s.Mix, spec.DeletePlacementTest) // whose tests are made before
			}))
			reasons := strings.Join(o.Reasons, "\n")
			if o.Verdict != reports.Inconclusive || !strings.Contains(reasons, fmt.Sprintf("connection refused: %d", o.Traffic.Sent)) || len(o.Recordings) != 1 || o.Traffic.Sent == 0 {
				t.Errorf("%s after %d phases and %d requests: %s", o.Verdict, len(o.Recordings), o.Traffic.Sent, reasons)
			}
		})
	}
}

// The first note says when a target answered nothing, even if the phase was too short
// to give it up.
func TestATargetThatFallsSilentIsToldOf(t *testing.T) {
	for name, tc := range map[string]struct {
		scenario string
		change   func(*scenario.Scenario)
		lost     func(n int64) bool
		says     []string // the first notes
	}{
		"answers all": {"mixed", nil, func(int64) bool { return false }, nil},
		"dies":        {"mixed", nil, func(n int64) bool { return n > 120 }, []string{`^steady: no responses from [\d.]+ s after its start to the end \(\d+ requests unanswered\)$`}},
		"comes back": {"mixed", nil, func(n int64) bool { return n > 40 && n <= 140 },
			[]string{`^steady: no responses from [\d.]+ s to [\d.]+ s after its start \(([89]\d|100) requests unanswered\)$`}},
		"twice": {"mixed", nil, func(n int64) bool { return n > 20 && n <= 60 || n > 80 && n <= 160 },
			[]string{`^steady: no responses from .* \([678]\d requests unanswered\); the longest of 2 outages$`}},
		"loses a few":   {"mixed", nil, func(n int64) bool { return n%3 == 0 }, nil},
		"in a warm-up":  {"mixed", func(s *scenario.Scenario) { s.Warmup = 2 * time.Second }, func(n int64) bool { return n > 120 }, []string{`^warm-up: no responses from `}},
		"in one of two": {"list-throughput", func(s *scenario.Scenario) { s.Limits = []int{1, 10} }, func(n int64) bool { return n > 120 }, []string{`^limit=1: no responses from `}},
		"at the start":  {"mixed", nil, func(int64) bool { return true }, nil},
		"walk": {"walk", func(s *scenario.Scenario) { s.Clients = 8 }, func(n int64) bool { return n > 120 },
			[]string{`^walk: no responses from `}},
		"in a search": {"sustained-rate", func(s *scenario.Scenario) { s.MaxRate, s.Confirm = 200, 500*time.Millisecond }, func(n int64) bool { return n > 120 },
			[]string{`^100/s: no responses from `}},
		"before a search": {"sustained-rate", func(s *scenario.Scenario) { s.Warmup, s.Confirm = 2*time.Second, 500*time.Millisecond }, func(n int64) bool { return n > 120 },
			[]string{`^warm-up: no responses from `}},
	} {
		t.Run(name, inFakeTime(func(t *testing.T) {
			var came atomic.Int64
			env := patient(t, generate.Options{MaxOutage: time.Hour}, dropping(&came, tc.lost))
			o := Run(t.Context(), env, builtinScenario(t, tc.scenario, func(s *scenario.Scenario) {
				s.Duration, s.Warmup, s.Mix, s.Thresholds = 2*time.Second, 0, map[string]int{spec.ListLeadLists: 1}, []string{"errors<99%"}
				if s.Rate > 0 {
					s.Rate = 100
				}
				if tc.change != nil {
					tc.change(s)
				}
			}))
			silent := slices.DeleteFunc(slices.Clone(o.Notes), func(note string) bool { return !strings.Contains(note, ": no responses from ") })
			if len(silent) != len(tc.says) || len(silent) > len(o.Notes) || !slices.Equal(silent, o.Notes[:len(silent)]) {
				t.Fatalf("%q, want %q first; %s: %q", o.Notes, tc.says, o.Verdict, o.Reasons)
			}
			for i, want := range tc.says {
				if !regexp.MustCompile(want).MatchString(silent[i]) {
					t.Errorf("%q, want %s", silent[i], want)
				}
			}
		}))
	}
}

// Requests that an interruption cut off make no outage.
func TestAnInterruptionIsNoOutage(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		var came atomic.Int64
		env := world(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch n := came.Add(1); {
				case n > 80:
					interrupt()
					fallthrough
				case n > 20:
					<-r.Context().Done()
				default:
					next.ServeHTTP(w, r)
				}
			})
		})
		o := Run(ctx, env, builtinScenario(t, "mixed", func(s *scenario.Scenario) {
			s.Rate, s.Duration, s.Warmup, s.Mix = 200, time.Minute, 0, map[string]int{spec.ListLeadLists: 1}
		}))
		if o.Verdict != reports.Inconclusive || strings.Contains(strings.Join(o.Notes, "\n"), ": no responses from ") {
			t.Errorf("%s: %q, %q", o.Verdict, o.Reasons, o.Notes)
		}
	})(t)
}

// The note on an outage names the shard: another may have got answers.
func TestAShardsOutage(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := patient(t, generate.Options{})
		env.Shard = measure.Shard{Index: 2, Of: 4}
		r := &runner{env: env, ctx: t.Context()}
		said := r.outages("steady", outage.Outages{Last: &outage.Outage{From: 1234 * time.Millisecond, Unanswered: 7}})
		if len(said) != 1 || said[0] != "shard 3: steady: no responses from 1.234 s after its start to the end (7 requests unanswered)" {
			t.Errorf("%q", said)
		}
	})(t)
}
