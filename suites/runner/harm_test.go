package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

// misleading is the way to a server that answers every third creation of the main workspace with
// a test that existed before. It may show that test under the name that was sent from then on.
type misleading struct {
	t       *testing.T
	server  *target.Target
	victims []string // ids
	adopts  bool

	mu      sync.Mutex
	created int
	renamed map[string]string // by id
}

func (m *misleading) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent struct{ Name any }
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		_ = json.Unmarshal(body, &sent) // specs also send what is not JSON
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	main := r.Header.Get("Authorization") == "Bearer "+tokenOf(m.server, dataset.Main)
	if _, id, _ := spec.MatchOperation(r.Method, r.URL.Path); main && asks(r, spec.DeletePlacementTest) && slices.Contains(m.victims, id) {
		m.t.Errorf("the run deletes the test %s, which existed before", id)
	}
	name, _ := sent.Name.(string)
	if main && asks(r, spec.CreatePlacementTest) {
		if m.created++; m.created%3 == 0 && len(m.renamed) < len(m.victims) {
			id := m.victims[len(m.renamed)]
			m.renamed[id] = name
			r = r.Clone(r.Context())
			r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
			r.URL.Path += "/" + id
		}
	}
	return changing(func(_ *http.Request, _ *http.Response, body any) any {
		one, _ := body.(map[string]any)
		rows, _ := one["items"].([]any)
		for _, row := range append(rows, any(one)) {
			row, _ := row.(map[string]any)
			id, _ := row["id"].(string)
			if name := m.renamed[id]; m.adopts && name != "" {
				row["name"] = name
			}
		}
		return body
	})(r)
}

// A run deletes only what it has provably created, whatever id a creation is answered
// with. It removes the rows that it did create, and says what may be left.
func TestRunDeletesOnlyItsOwnRows(t *testing.T) {
	for _, adopts := range []bool{false, true} {
		g, server := NewWithT(t), embedded(t)
		before := tests(t, server)
		results := judged(t, t.Context(), Config{Target: server, JournalDir: t.TempDir(),
			Transport: &misleading{t: t, server: server, victims: before[:20], adopts: adopts, renamed: map[string]string{}},
			Selection: Selection{Requirements: []string{"STATE-CREATE-*", "STATE-DELETE-*"}, Operations: []string{"inbox-placement-tests.*"}}})
		g.Expect(results.Verdict).To(Equal(reports.Failed))
		g.Expect(tests(t, server)).To(ConsistOf(before))
		said := ContainElement(HaveField("What", And(ContainSubstring("may be left on the target"), ContainSubstring("it may have existed before the run created any"))))
		if !adopts {
			said = Not(said)
		}
		g.Expect(results.Troubles).To(said)
	}
}

// A server error, or no response, says nothing about whether a change was made: the run or, as
// its journal tells, cleanup puts it back. Nothing fails but the requirement of the request.
func TestChangesWithoutAnAnswerArePutBack(t *testing.T) {
	const move, nowhere = "ACCOUNTS-MOVED", "REQUEST-INVALID-DESTINATION_WORKSPACE_ID"
	failing := always(500, "application/json", "{}")
	for name, tc := range map[string]struct {
		requirement, operation string
		nth                    int64 // request of the operation with a body
		arrives, fails         bool  // fails: the answer is 500
	}{
		"a creation answered with 500":      {"STATUS-200", spec.CreatePlacementTest, 1, true, true},
		"a creation without an answer":      {"STATUS-200", spec.CreatePlacementTest, 1, true, false},
		"a move answered with 500":          {move, spec.MoveAccounts, 1, true, true},
		"a move without an answer":          {move, spec.MoveAccounts, 1, true, false},
		"a move that never arrives":         {move, spec.MoveAccounts, 1, false, false},
		"a way back that is not answered":   {move, spec.MoveAccounts, 2, true, false},
		"a way back that never arrives":     {move, spec.MoveAccounts, 2, false, false},
		"a move to nowhere answered by 500": {nowhere, spec.MoveAccounts, 1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			g, server, journals := NewWithT(t), embedded(t), t.TempDir()
			before := tests(t, server)
			var came atomic.Int64
			results := judged(t, t.Context(), Config{Target: server, JournalDir: journals,
				Selection: Selection{Operations: []string{tc.operation}, Requirements: []string{tc.requirement}},
				Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					if asks(r, tc.operation) && r.ContentLength > int64(len(`{}`)) && came.Add(1) == tc.nth { // {} asks what is served
						if tc.arrives {
							if answer, err := http.DefaultTransport.RoundTrip(r); err == nil {
								_ = answer.Body.Close()
							}
						}
						if tc.fails {
							return failing(r)
						}
						return nil, io.ErrUnexpectedEOF
					}
					return http.DefaultTransport.RoundTrip(r)
				})})
			g.Expect(came.Load()).To(BeNumerically(">=", tc.nth), "or nothing was lost")
			if !tc.fails {
				g.Expect(of(results, reports.Fail)).To(BeEmpty())
			}
			cleanUp(t, server, journals)
			g.Expect(os.ReadDir(journals)).To(BeEmpty())
			g.Expect(tests(t, server)).To(ConsistOf(before))
			expectHome(t, server)
		})
	}
}

// What a run leaves in doubt is not touched by the runs that find its journal, until cleanup
// has put it back.
func TestRunsAfterALostMove(t *testing.T) {
	g, server := NewWithT(t), embedded(t)
	moves := Config{Target: server, JournalDir: t.TempDir(), Selection: Selection{Requirements: []string{"ACCOUNTS-MOVED"}}}
	moving := func(r *http.Request) bool { return asks(r, spec.MoveAccounts) && r.ContentLength > int64(len(`{}`)) }
	var came atomic.Int64
	lossy, idle := moves, moves
	lossy.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if moving(r) && came.Add(1) > 1 { // the way back
			return nil, io.ErrUnexpectedEOF
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	g.Expect(judged(t, t.Context(), lossy).Verdict).To(Equal(reports.Inconclusive))
	idle.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		g.Expect(moving(r)).To(BeFalse())
		return http.DefaultTransport.RoundTrip(r)
	})
	g.Expect(judged(t, t.Context(), idle).Checks).To(ConsistOf(And(HaveField("Outcome", reports.NotAssessed),
		HaveField("Missing", ContainElement(ContainSubstring("outreach-conformance cleanup"))))))
	cleanUp(t, server, moves.JournalDir)
	g.Expect(judged(t, t.Context(), moves).Verdict).To(Equal(reports.Passed))
}

// A run that its budget ends leaves nothing on the target, and no journal. A request that is
// sent again after a 429 counts again.
func TestSmallBudgets(t *testing.T) {
	const budget = 20
	g, journals := NewWithT(t), t.TempDir()
	subject := described(embedded(t), func(p *profile.Profile) { p.Budget, p.Pace.Concurrency = budget, 1 })
	before := tests(t, subject)
	judged(t, t.Context(), Config{Target: subject, JournalDir: journals, Selection: Selection{Operations: []string{"inbox-placement-tests.*"}}})
	g.Expect(os.ReadDir(journals)).To(BeEmpty())
	g.Expect(tests(t, subject)).To(ConsistOf(before))

	var sent atomic.Int64
	again := throttling("0")
	judged(t, t.Context(), Config{Target: subject, Selection: Selection{Operations: []string{spec.ListGroupMembers}, Groups: []string{"pages"}},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if sent.Add(1)%2 == 1 {
				return again(r)
			}
			return http.DefaultTransport.RoundTrip(r)
		})})
	g.Expect(sent.Load()).To(And(BeNumerically(">", budget/2), BeNumerically("<=", budget+1)), "the last request may be sent again")
}

// An interrupted run ends soon, rolls back, and has results before that: a target that stalls
// does not hold them up. What is broken off is in the journal.
func TestInterruption(t *testing.T) {
	g, server, journals := NewWithT(t), embedded(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := tests(t, server)
	written := make(chan struct{})
	var interrupted atomic.Bool
	const after = 60
	done := 0
	var early []reports.Results
	results := judged(t, ctx, Config{Target: server, JournalDir: journals,
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if interrupted.Load() && r.Method == http.MethodDelete {
				<-written
			}
			return http.DefaultTransport.RoundTrip(r)
		}),
		Progress: tree.Progress{End: func(api.Spec, int) {
			if done++; done == after {
				interrupted.Store(true)
				cancel()
			}
		}},
		Interrupted: func(r reports.Results) {
			early = append(early, r)
			close(written)
		}})
	g.Expect(early).To(HaveLen(1))
	g.Expect(readable(early[0])).To(Succeed())
	for _, r := range []reports.Results{early[0], results} {
		g.Expect(r.Run.Interrupted).To(BeTrue())
		g.Expect(r.Verdict).To(Equal(reports.Inconclusive))
		g.Expect(r.ExitCode()).To(Equal(130))
		g.Expect(r.Reasons).To(ConsistOf("the run was interrupted"))
	}
	g.Expect(results.Troubles).To(BeEmpty())
	g.Expect(results.Run.Specs).To(And(BeNumerically(">=", after), BeNumerically("<", len(suites.Tree.Specs()))))
	g.Expect(of(results, reports.Pass)).NotTo(BeEmpty())
	g.Expect(results.Checks).To(ContainElement(HaveField("Missing", ContainElement(ContainSubstring("interrupted")))))
	g.Expect(len(of(results, reports.Pass)) + len(of(results, reports.NotAssessed))).To(Equal(len(spec.Pairs())))
	cleanUp(t, server, journals)
	g.Expect(os.ReadDir(journals)).To(BeEmpty())
	g.Expect(tests(t, server)).To(ConsistOf(before))
}
