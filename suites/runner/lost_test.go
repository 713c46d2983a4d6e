package runner

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"outreach.example/conformance/internal/testbed"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// losing is a way to a target on which requests to move accounts get lost.
type losing struct {
	loss
	nth int // the first that does, from 1; 0 for none

	mu   sync.Mutex
	came int           // requests to move accounts so far
	held *http.Request // is still under way
}

func (l *losing) RoundTrip(r *http.Request) (*http.Response, error) {
	if !namesAccounts(r) {
		return http.DefaultTransport.RoundTrip(r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came++
	if l.nth > 0 && l.came >= l.nth && l.came < l.nth+l.requests {
		if err := l.lose(l, r); err != nil {
			return nil, err
		}
		return nil, io.ErrUnexpectedEOF
	}
	if l.came == l.nth+2 && l.held != nil { // when its spec is over
		if err := arrive(l.held); err != nil {
			return nil, err
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// namesAccounts reports whether the request may move accounts. One with an empty body
// only asks whether the operation is served.
func namesAccounts(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/accounts/move") && r.ContentLength > int64(len(`{}`))
}

// CloseIdleConnections closes the connections that the run may have left.
func (l *losing) CloseIdleConnections() { roundTripper(nil).CloseIdleConnections() }

// arrive has the target act on a request whose answer nobody gets.
func arrive(r *http.Request) error {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// loss is what becomes of requests that have no answer.
type loss struct {
	name     string
	requests int // how many, one after the other
	lose     func(*losing, *http.Request) error
}

func neverArrives(*losing, *http.Request) error { return nil }

var losses = []loss{
	{"it never arrives", 1, neverArrives},
	{"nor does the next, which may be its way back", 2, neverArrives},
	{"its answer is lost", 1, func(_ *losing, r *http.Request) error { return arrive(r) }},
	{"so is the next, which may be its way back", 2, func(_ *losing, r *http.Request) error { return arrive(r) }},
	{"it arrives late", 1, func(l *losing, r *http.Request) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		l.held = r.Clone(context.WithoutCancel(r.Context()))
		l.held.Body = io.NopCloser(bytes.NewReader(body))
		return nil
	}},
}

// Whichever request to move accounts gets lost, or its answer, an honest target
// is not blamed for where the accounts are then: the run cannot tell, and what it
// could not put back cleanup does.
func TestLostMoves_long(t *testing.T) {
	t.Parallel()
	hurried := Selection{Profiles: []spec.Profile{spec.ProfileRateLimit}} // apart: each run waits for a limit's period
	for name, selected := range map[string]Selection{"at a limit": hurried, "below": unhurried()} {
		selected.Operations = []string{spec.MoveAccounts}
		none := &losing{}
		NewWithT(t).Expect(judgesMoves(t, none, selected)).To(Equal(reports.Passed))
		NewWithT(t).Expect(none.came).To(BeNumerically(">", 0), "requests to move accounts")
		more := none.came / 2 // more are lost than this
		if name == "at a limit" {
			more = 0 // a slow machine sends the one request again and again until it is served
		}
		for _, loss := range losses {
			t.Run(name+": "+loss.name, func(t *testing.T) {
				t.Parallel()
				lost := 0
				for nth := 1; nth <= none.came; nth++ {
					way := &losing{loss: loss, nth: nth}
					verdict, want := judgesMoves(t, way, selected), reports.Passed
					if way.came >= nth { // in some orders fewer come than in others
						want = reports.Inconclusive
						lost++
					}
					if verdict != want {
						t.Errorf("request %d of %d lost: %s", nth, way.came, verdict)
					}
				}
				NewWithT(t).Expect(lost).To(BeNumerically(">", more), "requests to move accounts")
			})
		}
	}
}

// judgesMoves judges moving accounts, in an order of its own for each request that
// gets lost.
func judgesMoves(t *testing.T, way *losing, selected Selection) reports.Verdict {
	t.Helper()
	server, err := startWith(1) // an account needs no rows of lists
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = server.Close(context.WithoutCancel(t.Context())) }() // not all at the end: they are many
	journals := t.TempDir()
	results := judged(t, t.Context(), Config{Target: server, Seed: uint64(1 + way.nth), Transport: way, JournalDir: journals, Selection: selected})
	if failed := of(results, reports.Fail); len(failed) > 0 {
		t.Errorf("request %d lost: %q", way.nth, failed)
	}

	if _, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journals, nil); err != nil {
		t.Error(err)
	}
	home, other := server.Profile.Workspaces[dataset.SubA], server.Profile.Workspaces[dataset.SubB]
	for _, email := range home.Accounts {
		if status := moveAccount(t, server, email, home.ID, other.ID); status != http.StatusOK {
			t.Errorf("request %d lost: %s is not in its workspace: %d", way.nth, email, status)
		}
	}
	return results.Verdict
}

// What a run leaves in doubt is not touched by the runs that find its journal, until cleanup
// has put it back.
func TestRunsAfterALostMove(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	moves := Config{Target: server, JournalDir: t.TempDir(), Selection: Selection{Requirements: []string{"ACCOUNTS-MOVED"}}}
	lossy := moves
	lossy.Transport = &losing{loss: loss{requests: 2, lose: neverArrives}, nth: 2} // the way back, and then again
	g.Expect(judged(t, t.Context(), lossy).Verdict).To(Equal(reports.Inconclusive))

	idle := moves
	idle.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		g.Expect(namesAccounts(r)).To(BeFalse())
		return http.DefaultTransport.RoundTrip(r)
	})
	after := judged(t, t.Context(), idle)
	g.Expect(after.Checks).To(HaveLen(1))
	g.Expect(after.Checks[0].Outcome).To(Equal(reports.NotAssessed))
	g.Expect(after.Checks[0].Missing).To(ContainElement(ContainSubstring("outreach-conformance cleanup")))

	_, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, moves.JournalDir, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(judged(t, t.Context(), moves).Verdict).To(Equal(reports.Passed))
}
