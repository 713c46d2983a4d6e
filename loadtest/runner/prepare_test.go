package runner

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox/journal"
	"outreach.example/conformance/internal/sandbox/owned"
	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// briefly returns short scenarios: the mix of all operations, and the rate limit.
func briefly(t *testing.T) []scenario.Scenario {
	t.Helper()
	return []scenario.Scenario{
		builtinScenario(t, "mixed", func(s *scenario.Scenario) {
			s.Mix[spec.DeleteSubsequence], s.Duration, s.Warmup, s.Thresholds = 2, 300*time.Millisecond, 0, nil
		}),
		builtinScenario(t, "rate-limit", func(s *scenario.Scenario) { s.Budget, s.Duration = 400, 2*time.Second }),
	}
}

// If the target refuses a key, nothing is loaded and the target is not blamed.
func TestRefusedKeyEndsTheRun(t *testing.T) {
	for _, tc := range []struct {
		key  string
		from profile.Key // where the profile has the token
		want string
	}{
		{dataset.Main, profile.Key{TokenEnv: "OUTREACH_KEY_MAIN"}, `the key "main" (the variable OUTREACH_KEY_MAIN): inbox-placement-tests.list returns 401, and so do all 10 others`},
		{dataset.Admin, profile.Key{TokenFile: "admin.txt"}, `the key "admin" (the file admin.txt): lead-lists.list returns 401 (`},
	} {
		t.Run(tc.key, inFakeTime(func(t *testing.T) {
			var changes atomic.Int64
			env := world(t, counting(&changes, unsafe))
			i := slices.IndexFunc(env.Profile.Keys, func(k profile.Key) bool { return k.Name == tc.key })
			k := &env.Profile.Keys[i]
			k.Token, k.TokenEnv, k.TokenFile = "wrong", tc.from.TokenEnv, tc.from.TokenFile
			err := prepare.Ready(t.Context(), &env.Env, briefly(t), false)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "`outreach-conformance target check`") {
				t.Errorf("%v", err)
			}
			if changes.Load() > 0 {
				t.Errorf("%d changes were asked for", changes.Load())
			}
		}))
	}
}

// The key that exceeds its limit is not tried before. The probes detect its refusal.
func TestRefusedLimitedKey(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t)
		i := slices.IndexFunc(env.Profile.Keys, func(k profile.Key) bool { return k.Name == dataset.Limited })
		env.Profile.Keys[i].Token = "wrong"
		o := Run(t.Context(), env, briefly(t)[1])
		if o.Verdict != reports.Inconclusive || len(o.Violations) > 0 || !strings.Contains(strings.Join(o.Reasons, "\n"), `refuses the key "limited" (keys in the profile) with 401`) {
			t.Errorf("%s: %q", o.Verdict, o.Reasons)
		}
	})(t)
}

// refusing answers 403 to some operations.
func refusing(operations ...string) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, id := range operations {
				op := spec.MustOperation(id)
				before, after, _ := strings.Cut(op.Path, "{id}")
				if r.Method == op.Method && (r.URL.Path == op.Path || before != op.Path && strings.HasPrefix(r.URL.Path, before) && strings.HasSuffix(r.URL.Path, after)) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusForbidden)
					_, _ = w.Write([]byte(`{"statusCode":403,"error":"Forbidden","message":"no"}`))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Operations that a key may not use are left out, with a note.
func TestRefusedOperationsAreLeftOut(t *testing.T) {
	for _, refused := range [][]string{
		{spec.CreatePlacementTest}, {spec.DeletePlacementTest}, {spec.GetPlacementTest}, {spec.AddCampaignVariables}, {spec.MoveLead},
		{spec.MoveAccounts}, {spec.DeleteSubsequence}, {spec.ListLeadLabels, spec.ListWebhookEvents},
	} {
		t.Run(strings.Join(refused, " "), inFakeTime(func(t *testing.T) {
			env := world(t, refusing(refused...))
			mixed := briefly(t)[:1]
			err := prepare.Ready(t.Context(), &env.Env, mixed, false)
			if err != nil {
				t.Fatal(err)
			}
			o := Run(t.Context(), env, mixed[0])
			if o.Verdict != reports.Passed {
				t.Errorf("%s: %q", o.Verdict, o.Reasons)
			}
			for _, id := range refused {
				if notes := strings.Join(o.Notes, "\n"); !regexp.MustCompile(regexp.QuoteMeta(id) + `.* left out: the target answers 403 to the key`).MatchString(notes) {
					t.Errorf("%s: %s", id, notes)
				}
			}
		}))
	}
}

// Rows that another run may use are left out, with a note. A shard is inconclusive
// instead, because other shards may ask for them.
func TestRowsOfAnotherRunAreLeftAlone(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env, scenarios := world(t), briefly(t)
		create, other := spec.MustOperation(spec.CreatePlacementTest), owned.Word(journal.NewRun().ID, 1)
		body, err := json.Marshal(fixtures.PlacementTest(rand.New(rand.NewPCG(1, 1)), other))
		if err != nil {
			t.Fatal(err)
		}
		key, _ := env.Profile.FullKey(dataset.Main)
		if made := env.Client.Do(t.Context(), client.Request{Method: create.Method, Path: create.Path, Body: body, Key: key.ForClient()}); made.Status != http.StatusOK {
			t.Fatal(made)
		}
		if err := prepare.Ready(t.Context(), &env.Env, scenarios, false); err != nil {
			t.Fatal(err)
		}
		mixed, limiter := Run(t.Context(), env, scenarios[0]), Run(t.Context(), env, scenarios[1])
		want := spec.MoveAccounts + " and " + spec.DeleteSubsequence + " are left out: to be the only run on this target: it shows the test " + other
		if notes := strings.Join(mixed.Notes, "\n"); mixed.Verdict != reports.Passed || !strings.Contains(notes, want) {
			t.Errorf("%s %q: %s", mixed.Verdict, mixed.Reasons, notes)
		}
		if len(limiter.Missing) != 1 || !strings.Contains(limiter.Missing[0], other) || limiter.Requests != nil {
			t.Errorf("%q, %+v", limiter.Missing, limiter.Requests)
		}
		env.Shard, env.Start = measure.Shard{Index: 1, Of: 2}, time.Now()
		if o := Run(t.Context(), env, scenarios[0]); o.Verdict != reports.Inconclusive || !strings.Contains(strings.Join(o.Reasons, "\n"), "a shard leaves nothing out") {
			t.Errorf("a shard: %s %q", o.Verdict, o.Reasons)
		}
	})(t)
}

// If the profile lists no tests, the run reads tests that it created. Other tests may
// disappear at any time.
func TestOnlyOwnTestsAreRead(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		var mu sync.Mutex
		read := map[string]bool{}
		watching := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if id, ok := strings.CutPrefix(r.URL.Path, "/api/v2/inbox-placement-tests/"); ok && r.Method == http.MethodGet {
					mu.Lock()
					read[id] = true
					mu.Unlock()
				}
				next.ServeHTTP(w, r)
			})
		}
		for writes, want := range map[string]int{profile.WritesListed: 4, profile.WritesNone: 0} {
			env := world(t, watching)
			clear(read)
			env.Profile.Writes = writes
			main := env.Profile.Workspaces[dataset.Main]
			main.PlacementTests = nil
			env.Profile.Workspaces[dataset.Main] = main
			s := builtinScenario(t, "mixed", func(s *scenario.Scenario) {
				s.Mix = map[string]int{spec.GetPlacementTest: 4, spec.ListLeadLists: 1}
				s.Limits, s.Duration, s.Warmup, s.Thresholds = nil, 500*time.Millisecond, 0, nil
			})
			err := prepare.Ready(t.Context(), &env.Env, []scenario.Scenario{s}, false)
			if err != nil {
				t.Fatal(err)
			}
			o := Run(t.Context(), env, s)
			if o.Verdict != reports.Passed || len(read) != want {
				t.Errorf("writes %s: %s %q: %d tests were read", writes, o.Verdict, o.Reasons, len(read))
			}
			if said := strings.Contains(strings.Join(o.Notes, "\n"), "placement_tests"); said != (want == 0) {
				t.Errorf("writes %s: %q", writes, o.Notes)
			}
		}
	})(t)
}

// A scenario leaves out rows that an earlier scenario or run has used up, with a
// note.
func TestScenariosUseUpRows(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t)
		main := env.Profile.Workspaces[dataset.Main]
		main.ExpendableSubsequences = main.ExpendableSubsequences[:4]
		env.Profile.Workspaces[dataset.Main] = main
		key, _ := env.Profile.FullKey(dataset.Main)
		gone := env.Client.Do(t.Context(), client.Request{Method: http.MethodDelete, Key: key.ForClient(),
			Path: strings.Replace(spec.MustOperation(spec.DeleteSubsequence).Path, "{id}", main.ExpendableSubsequences[0], 1)})
		if gone.Status != http.StatusOK {
			t.Fatal(gone)
		}
		s := builtinScenario(t, "mixed", func(s *scenario.Scenario) {
			s.Mix = map[string]int{spec.ListLeadLists: 1, spec.MoveAccounts: 1, spec.DeleteSubsequence: 1}
			s.Limits, s.Rate, s.Duration, s.Warmup, s.Thresholds = nil, 100, 300*time.Millisecond, 0, nil
		})
		err := prepare.Ready(t.Context(), &env.Env, []scenario.Scenario{s}, false)
		if err != nil {
			t.Fatal(err)
		}
		for i, wants := range [][]string{
			{"accounts.move is requested 6 times in 0.3 s instead of 10: ", "subsequences.delete is requested 3 times in 0.3 s instead of 10: "},
			{"accounts.move is left out: every account", "subsequences.delete is left out: workspaces.main.expendable_subsequences of the profile names nothing that is there"},
		} {
			o := Run(t.Context(), env, s)
			notes := strings.Join(o.Notes, "\n")
			if statuses := o.Recordings[0].Statuses; statuses[200] != 30 || len(statuses) > 1 {
				t.Errorf("%d: %v", i, statuses)
			}
			for _, want := range wants {
				if !strings.Contains(notes, want) {
					t.Errorf("%d: %s", i, notes)
				}
			}
		}
	})(t)
}

// throttling answers 429 to the requests with these numbers, counted from 1.
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

// The run announces once that it waits for a key. A key that is never served ends the
// run.
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
			err = prepare.Ready(t.Context(), &env.Env, []scenario.Scenario{builtinScenario(t, "list-throughput", func(*scenario.Scenario) {})}, false)
			var throttled *prepare.ThrottledError
			if ends := errors.As(err, &throttled); ends != tc.ends || !ends && err != nil {
				t.Fatalf("%v", err)
			}
			const key = `the key "main" (keys in the profile)`
			if tc.ends && (!strings.Contains(err.Error(), "the target answered "+key+" only with 429") || !strings.Contains(err.Error(), ".list). Wait until")) {
				t.Errorf("%v", err)
			}
			const want = "the target answers " + key + " with 429; waiting for at most 10 s or 2 more such responses"
			if len(said) != 1 || said[0] != want {
				t.Errorf("said %q; want %q", said, want)
			}
		}))
	}
}

// Load deletes only tests that are proven to be the run's own, whatever id a creation is
// answered with.
func TestLoadDeletesOnlyItsOwnTests(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		var mu sync.Mutex
		created := 0
		var victim string
		idempotent := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				op, id, _ := spec.MatchOperation(r.Method, r.URL.Path)
				mu.Lock()
				if op.ID == spec.CreatePlacementTest {
					created++
				}
				known := op.ID == spec.CreatePlacementTest && created%5 == 0
				mu.Unlock()
				switch {
				case op.ID == spec.DeletePlacementTest && strings.EqualFold(id, victim):
					t.Errorf("the run deletes the test %s, which existed before", id)
				case known:
					r.Method, r.URL.Path, r.Body = http.MethodGet, spec.MustOperation(spec.GetPlacementTest).URLPath(victim), http.NoBody
				}
				next.ServeHTTP(w, r)
			})
		}
		env := world(t, idempotent)
		victim = env.Profile.Workspaces[dataset.Main].PlacementTests[0]
		s := builtinScenario(t, "mixed", func(s *scenario.Scenario) {
			s.Mix = map[string]int{spec.DeletePlacementTest: 1, spec.ListLeadLists: 1}
			s.Rate, s.Duration, s.Warmup = 20, time.Second, 0
		})
		err := prepare.Ready(t.Context(), &env.Env, []scenario.Scenario{s}, false)
		if err != nil {
			t.Fatal(err)
		}
		o := Run(t.Context(), env, s)
		if reasons := strings.Join(o.Reasons, "\n"); o.Verdict != reports.Inconclusive || !strings.Contains(reasons, "a test that is not proven to be new") {
			t.Errorf("%s: %s", o.Verdict, reasons)
		}
		if created < 10 {
			t.Errorf("%d creations", created)
		}
	})(t)
}
