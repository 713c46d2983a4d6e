package explore

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/selftest/faults"
)

// rules are compiled once for all tests.
var rules = sync.OnceValues(judge.NewRules)

// against returns the configuration of an exploration of the reference server with a
// transform around it, which ends after so many looks at the clock.
func against(t *testing.T, looks int64, apply func(*faults.Target) faults.Middleware) Config {
	t.Helper()
	data, err := dataset.New(dataset.Options{Seed: 1, Rows: 107})
	if err != nil {
		t.Fatal(err)
	}
	server, err := refserver.New(data, refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	described := profile.FromDataset(data)
	described.VisibleWithin = time.Millisecond
	handler := faults.Serving(server.Handler())
	if apply != nil {
		handler = apply(&faults.Target{Profile: described, Seed: 1})(handler)
	}
	env := &api.Env{Profile: described, Seed: 1}
	if env.Rules, err = rules(); err != nil {
		t.Fatal(err)
	}
	on := &target.Target{BaseURL: "http://subject.invalid", Profile: described}
	if env.Client, err = on.Client(client.Options{Transport: faults.RoundTripper(handler, "")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(env.Client.Close)
	var looked atomic.Int64
	began := time.Now()
	return Config{Env: env, Seed: 1, Duration: time.Hour, Selects: func(string) bool { return true }, Workers: 2, shrink: 200 * time.Millisecond,
		now: func() time.Time {
			if looked.Add(1) > looks {
				return began.Add(2 * time.Hour)
			}
			return began
		}}
}

func defect(t *testing.T, id string) faults.Defect {
	t.Helper()
	all := faults.Defects()
	i := slices.IndexFunc(all, func(d faults.Defect) bool { return d.ID == id })
	if i < 0 {
		t.Fatalf("there is no defect %s", id)
	}
	return all[i]
}

// A server that conforms raises no alarm.
func TestHonestServer(t *testing.T) {
	g := NewWithT(t)
	out, err := Run(t.Context(), against(t, 1200, nil))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.Found).To(BeEmpty())
	g.Expect(out.Lacked).To(BeEmpty())
	g.Expect(out.Queries).To(BeNumerically(">", 100))
	g.Expect(out.Sequences).To(BeNumerically(">", 20))
	for _, c := range out.Evidence.Checks() {
		g.Expect(c.ViolationCount).To(BeZero(), "%s on %s: %v", c.Requirement, c.Operation, c.Violations)
	}
}

// Defects of lists, keys and state are found, with a short case that shows them again.
func TestDefects_long(t *testing.T) {
	for _, id := range []string{
		"inbox-placement-tests.list/leaves-out-the-last-row-for-two-filters",
		"inbox-placement-tests.delete/answers-410-to-a-get-of-a-deleted-test",
		"leads.move/answers-with-a-different-subsequence-id",
		"accounts.move/moves-only-the-first-of-several-accounts",
		"dfy-email-account-orders.list/skips-a-row-between-two-pages-of-50",
		"inbox-placement-tests.list/skips-a-row-for-a-cursor-whose-row-was-deleted",
	} {
		t.Run(id, func(t *testing.T) {
			g := NewWithT(t)
			d := defect(t, id)
			config := against(t, 8000, d.Apply)
			config.FirstOnly, config.Workers = true, 1
			out, err := Run(t.Context(), config)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(out.Found).NotTo(BeEmpty())
			found := out.Found[0]
			g.Expect(found.pair()).To(Equal(d.Breaks))
			// An account that nobody can say where it is is not moved again.
			g.Expect(found.Again || d.Breaks.Operation == spec.MoveAccounts).To(BeTrue())
			g.Expect(found.Requests).NotTo(BeEmpty())

			text, err := EncodeCases(out.Found)
			g.Expect(err).NotTo(HaveOccurred())
			cases, err := ReadCases(text)
			g.Expect(err).NotTo(HaveOccurred())
			config = against(t, 5000, d.Apply)
			config.Replay = cases
			again, err := Run(t.Context(), config)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again.Found).To(HaveLen(len(cases)))
			config = against(t, 5000, nil)
			config.Replay = cases
			repaired, err := Run(t.Context(), config)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(repaired.Found).To(BeEmpty(), "a server without the defect shows nothing")
		})
	}
}

// Nothing can make a subsequence again: an exploration deletes one, and reports what that
// showed without trying it again.
func TestDeletesOneSubsequence(t *testing.T) {
	g := NewWithT(t)
	var deletions atomic.Int64
	counting := func(next faults.Handler) faults.Handler {
		return func(r faults.Request) (faults.Response, error) {
			answer, err := next(r)
			if r.Operation == spec.DeleteSubsequence && answer.Status == http.StatusOK {
				deletions.Add(1)
			}
			return answer, err
		}
	}
	d := defect(t, "subsequences.delete/answers-a-deletion-with-the-name-cut-short")
	config := against(t, 600, func(a *faults.Target) faults.Middleware { return faults.Chain(d.Apply(a), counting) })
	out, err := Run(t.Context(), config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.Found).To(ConsistOf(And(HaveField("Requirement", d.Breaks.Requirement), HaveField("Again", false), HaveField("Requests", HaveLen(1)))))
	g.Expect(deletions.Load()).To(BeNumerically("==", 1))
}

// A long exploration reads the list for the values of a field only once, however many tests it creates.
func TestValuesOfAFieldAreReadOnce(t *testing.T) {
	g := NewWithT(t)
	var lists atomic.Int64
	counting := func(next faults.Handler) faults.Handler {
		return func(r faults.Request) (faults.Response, error) {
			if r.Operation == spec.ListPlacementTests {
				lists.Add(1)
			}
			return next(r)
		}
	}
	config := against(t, 0, func(*faults.Target) faults.Middleware { return counting })
	trial := api.Try(t.Context(), config.Env, "creates a test", 1, func(a *api.API) {
		before := api.ValuesOf(a, "automations")
		api.NewTest(a)
		read := lists.Load()
		g.Expect(api.ValuesOf(a, "automations")).To(Equal(before))
		g.Expect(lists.Load()).To(Equal(read))
	})
	config.Env.EndTrials(t.Context())
	g.Expect(trial.Lacked).To(BeEmpty())
}

// A server may move a lead and then read where it is: one move of a lead ends before the next one begins.
func TestALeadIsMovedOnceAtATime(t *testing.T) {
	g := NewWithT(t)
	var moving sync.Mutex
	crossed := false
	watching := func(next faults.Handler) faults.Handler {
		return func(r faults.Request) (faults.Response, error) {
			if r.Operation == spec.MoveLead {
				if !moving.TryLock() {
					moving.Lock()
					crossed = true
				}
				defer moving.Unlock()
				time.Sleep(20 * time.Millisecond)
			}
			return next(r)
		}
	}
	config := against(t, 0, func(*faults.Target) faults.Middleware { return watching })
	trial := api.Try(t.Context(), config.Env, "moves a lead", 1, func(a *api.API) {
		move := a.RequestAs(dataset.Main, spec.MoveLead)
		a.DoAll(move, move.MayBeRefused(), move)
	})
	g.Expect(trial.Lacked).To(BeEmpty())
	g.Expect(trial.Broken).To(BeEmpty())
	g.Expect(crossed).To(BeFalse())
}

// A profile that allows no changes is explored with queries only.
func TestNoWrites(t *testing.T) {
	g := NewWithT(t)
	config := against(t, 100, nil)
	config.Env.Profile.Writes = profile.WritesNone
	out, err := Run(t.Context(), config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.Sequences).To(BeZero())
	g.Expect(out.Queries).To(BeNumerically(">", 50))

	config.Replay = []Found{{Requirement: "SORT-ASC", Steps: []Step{{Do: Query, List: spec.ListLeadLists, Role: dataset.Main}}}, {Requirement: "STATE-DELETE-ANSWER", Steps: []Step{{Do: DeleteSubsequence}}}}
	out, err = Run(t.Context(), config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out.Untried).To(ConsistOf(HavePrefix("case 2 could not be tried: it lacks ")))
}

// A refusal is charged to the requirement on what the key lacks.
func TestRefusalOf(t *testing.T) {
	list, _ := spec.FindOperation(spec.ListLeadLabels)
	for want, scopes := range map[spec.ID][]string{
		"": {"campaigns:all", "lead-labels:read"}, spec.ScopeNone: nil, spec.ScopeWrongResource: {"campaigns:read"},
		spec.ScopeWrongAction: {"all:delete"}, spec.ScopeSeveralOnly: {"campaigns:read", "lead-labels:delete"},
	} {
		NewWithT(t).Expect(refusalOf(list, profile.Key{Name: "key", Scopes: scopes})).To(Equal(want), "%q", scopes)
	}
}

// A file of cases says what is wrong with it.
func TestCasesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`[{"case":{"steps":[{"do":"create"}]}}]`:                  `unknown field "case"`,
		`[{"steps":[]}]`:                                          "case 1: steps: want 1 to 10",
		`[{"steps":[{"do":"query a list","list":"leads.move"}]}]`: `case 1: steps[0].list: "leads.move" is no list`,
		`[{"steps":[{"do":"query a list","list":"lead-lists.list","query":{"limits":[101],"pages":1}}]}]`: "query.limits: want 0 to 100, got 101",
		`[{"steps":[{"do":"explode"}]}]`:                 `steps[0].do: "explode" is not one of query a list, get a row, create`,
		`[{"steps":[{"do":"get a row","role":"main"}]}]`: "id: want the id of a test",
		`[{"surprise":1}]`:                               `unknown field "surprise"`,
	} {
		_, err := ReadCases([]byte(text))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), text)
	}
}

// No file makes the reader panic, and what it accepts can be written and read again.
func FuzzReadCases(f *testing.F) {
	f.Add([]byte(`[{"requirement":"SORT-ASC","steps":[{"do":"query a list","list":"lead-lists.list","query":{"limits":[1],"pages":1}}]}]`))
	f.Add([]byte(`[{"steps":[{"do":"create","create":{"optional":["status"]}},{"do":"list","numbers":[0,2]}]}]`))
	f.Add([]byte(`[{"steps":[{"do":"get a row","role":"main","id":"a","metadata":"true"}]},{"steps":[{"do":"move accounts","numbers":[0,1]}]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		cases, err := ReadCases(text)
		if err != nil {
			return
		}
		again, err := EncodeCases(cases)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCases(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

// What is generated can be written to a file and read again. It deletes nothing that nobody
// can make again.
func TestGeneratedCases(t *testing.T) {
	config := against(t, 0, nil)
	e := &explorer{Config: config, ctx: t.Context(), evidence: judge.NewEvidence()}
	e.readLists()
	cases := rapid.OneOf(e.cases()...)
	rapid.Check(t, func(t *rapid.T) {
		steps := cases.Draw(t, "steps")
		text, err := EncodeCases([]Found{{Steps: steps}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCases(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, step := range steps {
			if step.Do == DeleteSubsequence {
				t.Fatalf("a random case has effects beyond the run: %v", steps)
			}
		}
	})
}
