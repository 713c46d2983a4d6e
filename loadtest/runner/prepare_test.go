package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox"

	"outreach.example/conformance/loadtest/generate"
	"outreach.example/conformance/loadtest/measure"
	"outreach.example/conformance/loadtest/prepare"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// briefly returns a short scenario with the operations, or with all that change something.
func briefly(t *testing.T, mix ...string) scenario.Scenario {
	t.Helper()
	return builtinScenario(t, "mixed", func(s *scenario.Scenario) {
		s.Rate, s.Duration, s.Warmup, s.Thresholds, s.Limits = 100, 300*time.Millisecond, 0, nil, nil
		s.Mix[spec.DeleteSubsequence] = 2
		if len(mix) > 0 {
			s.Mix = map[string]int{}
		}
		for _, id := range mix {
			s.Mix[id] = 1
		}
	})
}

func ready(t *testing.T, env *Env, scenarios ...scenario.Scenario) {
	t.Helper()
	if err := prepare.Ready(t.Context(), &env.Env, scenarios, false); err != nil {
		t.Fatal(err)
	}
}

func keyOf(t *testing.T, env *Env, name string) *profile.Key {
	t.Helper()
	return &env.Profile.Keys[slices.IndexFunc(env.Profile.Keys, func(k profile.Key) bool { return k.Name == name })]
}

// If the target refuses a key, nothing is loaded and the target is not blamed. The key that
// exceeds its limit is not tried before; the probes detect its refusal.
func TestRefusedKeys(t *testing.T) {
	for key, want := range map[string]string{
		dataset.Main:  `the key "main" (the variable OUTREACH_KEY): inbox-placement-tests.list returns 401, and so do all 10 others`,
		dataset.Admin: `the key "admin" (the variable OUTREACH_KEY): lead-lists.list returns 401 (`,
	} {
		t.Run(key, inFakeTime(func(t *testing.T) {
			var changes atomic.Int64
			env := world(t, counting(&changes, unsafe))
			k := keyOf(t, env, key)
			k.Token, k.TokenEnv = "wrong", "OUTREACH_KEY"
			err := prepare.Ready(t.Context(), &env.Env, []scenario.Scenario{briefly(t)}, false)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "`outreach-conformance target check`") || changes.Load() > 0 {
				t.Errorf("%v after %d changes", err, changes.Load())
			}
		}))
	}
	t.Run(dataset.Limited, inFakeTime(func(t *testing.T) {
		env := world(t)
		keyOf(t, env, dataset.Limited).Token = "wrong"
		o := Run(t.Context(), env, probing(t))
		if o.Verdict != reports.Inconclusive || len(o.Violations) > 0 || !strings.Contains(strings.Join(o.Reasons, "\n"), `refuses the key "limited" (keys in the profile) with 401`) {
			t.Errorf("%s: %q", o.Verdict, o.Reasons)
		}
	}))
}

// Operations that a key may not use are left out, with a note.
func TestRefusedOperationsAreLeftOut(t *testing.T) {
	for _, id := range []string{spec.CreatePlacementTest, spec.MoveLead, spec.MoveAccounts, spec.DeleteSubsequence, spec.ListLeadLabels} {
		t.Run(id, inFakeTime(func(t *testing.T) {
			env := world(t, instead(func(r *http.Request) bool {
				op, _, _ := spec.MatchOperation(r.Method, r.URL.Path)
				return op.ID == id
			}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
			s := briefly(t)
			ready(t, env, s)
			o := Run(t.Context(), env, s)
			if notes := strings.Join(o.Notes, "\n"); o.Verdict != reports.Passed || !regexp.MustCompile(regexp.QuoteMeta(id)+`.* left out: the target answers 403 to the key`).MatchString(notes) {
				t.Errorf("%s: %q; %s", o.Verdict, o.Reasons, notes)
			}
		}))
	}
}

// Rows that another run may use are left out, with a note. A shard is inconclusive
// instead, because other shards may ask for them.
func TestRowsOfAnotherRunAreLeftAlone(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env, mixed, probes := world(t), briefly(t), probing(t)
		create, other := spec.MustOperation(spec.CreatePlacementTest), sandbox.Word(sandbox.NewRun().ID, 1)
		body, _ := json.Marshal(fixtures.PlacementTest(rand.New(rand.NewPCG(1, 1)), other))
		if made := env.Client.Do(t.Context(), client.Request{Method: create.Method, Path: create.Path, Body: body, Key: keyOf(t, env, dataset.Main).ForClient()}); made.Status != http.StatusOK {
			t.Fatal(made)
		}
		ready(t, env, mixed, probes)
		o, limiter := Run(t.Context(), env, mixed), Run(t.Context(), env, probes)
		want := spec.MoveAccounts + " and " + spec.DeleteSubsequence + " are left out: to be the only run on this target: it shows the test " + other
		if notes := strings.Join(o.Notes, "\n"); o.Verdict != reports.Passed || !strings.Contains(notes, want) {
			t.Errorf("%s %q: %s", o.Verdict, o.Reasons, notes)
		}
		if len(limiter.Missing) != 1 || !strings.Contains(limiter.Missing[0], other) || limiter.Requests != nil {
			t.Errorf("%q, %+v", limiter.Missing, limiter.Requests)
		}
		env.Shard, env.Start = measure.Shard{Index: 1, Of: 2}, time.Now()
		if o := Run(t.Context(), env, mixed); o.Verdict != reports.Inconclusive || !strings.Contains(strings.Join(o.Reasons, "\n"), "a shard leaves nothing out") {
			t.Errorf("a shard: %s %q", o.Verdict, o.Reasons)
		}
	})(t)
}

// A scenario leaves out rows that an earlier scenario or run has used up, with a note. If the
// profile lists no tests to read, the run reads tests of its own.
func TestScenariosUseUpRows(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t)
		main := env.Profile.Workspaces[dataset.Main]
		main.ExpendableSubsequences, main.PlacementTests = main.ExpendableSubsequences[:4], nil
		env.Profile.Workspaces[dataset.Main] = main
		if gone := env.Client.Do(t.Context(), client.Request{Method: http.MethodDelete, Key: keyOf(t, env, dataset.Main).ForClient(),
			Path: spec.MustOperation(spec.DeleteSubsequence).URLPath(main.ExpendableSubsequences[0])}); gone.Status != http.StatusOK {
			t.Fatal(gone)
		}
		s := briefly(t, spec.ListLeadLists, spec.MoveAccounts, spec.DeleteSubsequence, spec.GetPlacementTest)
		s.Duration = 400 * time.Millisecond
		ready(t, env, s)
		for i, wants := range [][]string{
			{"accounts.move is requested 6 times in 0.4 s instead of 10: ", "subsequences.delete is requested 3 times in 0.4 s instead of 10: "},
			{"accounts.move is left out: every account", "subsequences.delete is left out: workspaces.main.expendable_subsequences of the profile names nothing that is there"},
		} {
			o := Run(t.Context(), env, s)
			for _, want := range wants {
				if notes := strings.Join(o.Notes, "\n"); o.Recordings[0].Statuses[200] != 40 || !strings.Contains(notes, want) {
					t.Errorf("%d: %v: %s", i, o.Recordings[0].Statuses, notes)
				}
			}
		}
	})(t)
}

// A key that is never served ends the run.
func TestThrottledKeysEndTheRun(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		refused := instead(func(*http.Request) bool { return true }, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
		network := serving(t, refserver.Options{Middleware: []middleware{refused}})
		env := envOf(t, inMemory, network, generate.Options{})
		var err error
		if env.Client, err = client.New(client.Options{BaseURL: env.BaseURL, Transport: network, Allow: env.Budget.One, MaxThrottle: 10 * time.Second, MaxThrottled: 2}); err != nil {
			t.Fatal(err)
		}
		err = prepare.Ready(t.Context(), &env.Env, []scenario.Scenario{briefly(t)}, false)
		const key = `the key "main" (keys in the profile)`
		if throttled := new(prepare.ThrottledError); !errors.As(err, &throttled) || !strings.Contains(err.Error(), "the target answered "+key+" only with 429") {
			t.Errorf("%v", err)
		}
	})(t)
}

// Load deletes only tests that are proven to be the run's own, whatever id a creation is
// answered with.
func TestLoadDeletesOnlyItsOwnTests(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		var created atomic.Int64
		var victim string
		env := world(t, instead(func(r *http.Request) bool {
			op, id, _ := spec.MatchOperation(r.Method, r.URL.Path)
			switch {
			case op.ID == spec.DeletePlacementTest && strings.EqualFold(id, victim):
				t.Errorf("the run deletes the test %s, which existed before", id)
			case op.ID == spec.CreatePlacementTest && created.Add(1)%5 == 0:
				r.Method, r.URL.Path, r.Body = http.MethodGet, spec.MustOperation(spec.GetPlacementTest).URLPath(victim), http.NoBody
			}
			return false
		}, nil))
		victim = env.Profile.Workspaces[dataset.Main].PlacementTests[0]
		s := briefly(t, spec.DeletePlacementTest, spec.ListLeadLists)
		ready(t, env, s)
		o := Run(t.Context(), env, s)
		if reasons := strings.Join(o.Reasons, "\n"); o.Verdict != reports.Inconclusive || !strings.Contains(reasons, "a test that is not proven to be new") || created.Load() < 10 {
			t.Errorf("%s after %d creations: %s", o.Verdict, created.Load(), reasons)
		}
	})(t)
}

// An account may have moved although the response says that the server failed: it is moved back.
func TestAMoveMayHaveHappenedDespiteA5xx(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		var destinations []string
		env := world(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if op, _, _ := spec.MatchOperation(r.Method, r.URL.Path); op.ID == spec.MoveAccounts {
					var move struct {
						Destination string `json:"destination_workspace_id"`
					}
					text, _ := io.ReadAll(r.Body)
					_ = json.Unmarshal(text, &move)
					r.Body = io.NopCloser(bytes.NewReader(text))
					if destinations = append(destinations, move.Destination); len(destinations) == 1 {
						next.ServeHTTP(httptest.NewRecorder(), r)
						w.WriteHeader(http.StatusBadGateway)
						return
					}
				}
				next.ServeHTTP(w, r)
			})
		})
		source, away, _ := env.Profile.Moves(dataset.Admin)
		ready(t, env, briefly(t, spec.MoveAccounts, spec.ListLeadLists))
		if want := []string{away.ID, source.ID}; !slices.Equal(destinations, want) {
			t.Errorf("moves to %q, want %q", destinations, want)
		}
	})(t)
}

// A shard of many may have no request in a short phase. It sends what it has in the others,
// and its part can be read.
func TestShardWithoutARequestInAPhase(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		for name, sends := range map[string]bool{"list-throughput": true, "soak": false} {
			env := world(t)
			env.Shard, env.Start = measure.Shard{Index: 99, Of: 100}, time.Now().Add(time.Second)
			s := builtinScenario(t, name, func(s *scenario.Scenario) {
				s.Warmup, s.Thresholds = 100*time.Millisecond, nil
				if !sends {
					s.Rate, s.Duration = 1, time.Minute
				}
			})
			text, err := json.Marshal(Run(t.Context(), env, s))
			var read verdict.Outcome
			err = errors.Join(err, json.Unmarshal(text, &read))
			if err != nil || read.Cut != "" || len(read.Recordings) != s.Phases() || (read.Recordings[0].Sent > 0) != sends {
				t.Errorf("%s: %d phases, %q: %v", name, len(read.Recordings), read.Cut, err)
			}
		}
	})(t)
}

// A target that is slow to create the tests of a shard's first phase does not make the phase
// miss its start, which all shards share.
func TestAShardIsStockedBeforeTheWarmUp(t *testing.T) {
	inFakeTime(func(t *testing.T) {
		env := world(t, slowWhen(5*time.Second, func(r *http.Request, _ int64) bool { return r.Method == http.MethodPost })(t))
		s := briefly(t, spec.DeletePlacementTest, spec.ListLeadLists)
		s.Warmup = 500 * time.Millisecond
		ready(t, env, s)
		env.Shard, env.Start = measure.Shard{Of: 3}, time.Now().Add(time.Minute)
		if o := Run(t.Context(), env, s); len(o.Recordings) != 1 || len(o.Reasons) > 0 {
			t.Errorf("%d phases: %q", len(o.Recordings), o.Reasons)
		}
	})(t)
}
