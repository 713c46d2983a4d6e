package runner

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"outreach.example/conformance/internal/testbed"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites"
	"outreach.example/conformance/suites/api"
	"outreach.example/conformance/suites/tree"
)

func TestInterruption(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var interrupted atomic.Bool
	var late atomic.Int64 // changes that were about to be sent: they may end
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		if interrupted.Load() && r.Context().Err() == nil && !cleansUp(r) {
			if late.Add(1); r.Method == http.MethodGet {
				t.Errorf("%s %s was sent after the interruption", r.Method, r.URL.Path)
			}
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	before := tests(t, server)
	const after = 60
	done := 0
	journals := t.TempDir()
	results := judged(t, ctx, Config{Target: server, Transport: transport, JournalDir: journals, Progress: tree.Progress{
		End: func(api.Spec, int) {
			if done++; done == after {
				cancel()
				interrupted.Store(true)
			}
		},
	}})

	g.Expect(late.Load()).To(BeNumerically("<=", server.Profile.Pace.Concurrency))
	g.Expect(results.Run.Interrupted).To(BeTrue())
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(results.ExitCode()).To(Equal(130))
	g.Expect(results.Troubles).To(BeEmpty())
	g.Expect(results.Reasons).To(ConsistOf("the run was interrupted"))
	g.Expect(results.Run.Specs).To(And(BeNumerically(">=", after), BeNumerically("<", len(suites.Tree.Specs()))))
	g.Expect(of(results, reports.Pass)).NotTo(BeEmpty())
	g.Expect(of(results, reports.NotAssessed)).NotTo(BeEmpty())
	g.Expect(len(of(results, reports.Pass)) + len(of(results, reports.NotAssessed))).To(Equal(len(spec.Pairs())))
	for _, c := range results.Checks {
		// Whether a slow machine met the rate limit in time, the interruption does not decide.
		if c.Outcome == reports.NotAssessed && !strings.HasPrefix(c.Requirement, "RATE-") {
			g.Expect(c.Missing).To(ContainElement(ContainSubstring("interrupted")), "%s on %s", c.Requirement, c.Operation)
		}
	}

	// A test whose creation was broken off may be there or not: the journal knows
	// its name.
	_, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journals, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.ReadDir(journals)).To(BeEmpty())
	g.Expect(tests(t, server)).To(Equal(before))
}

// An interrupted run has results before its changes are rolled back: a target that stalls
// does not hold them up.
func TestResultsBeforeTheRollback(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	before := tests(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	written := make(chan struct{})
	deleting := sync.OnceFunc(cancel)
	held := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete {
			deleting()
			select {
			case <-written:
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	var early []reports.Results
	results := judged(t, ctx, Config{Target: server, Transport: held, JournalDir: t.TempDir(), Selection: Selection{Operations: []string{spec.GetPlacementTest}},
		Interrupted: func(r reports.Results) {
			early = append(early, r)
			close(written)
		}})
	g.Expect(early).To(HaveLen(1))
	g.Expect(readable(early[0])).To(Succeed())
	g.Expect(early[0].Run.Interrupted).To(BeTrue())
	g.Expect(early[0].ExitCode()).To(Equal(130))
	g.Expect(results.Run.Interrupted).To(BeTrue())
	g.Expect(results.Troubles).To(BeEmpty())
	g.Expect(of(results, reports.Fail)).To(BeEmpty())
	g.Expect(tests(t, server)).To(Equal(before), "and then the rollback goes on")
}

// cleansUp reports whether the request may put something back as it was.
func cleansUp(r *http.Request) bool {
	return r.Method == http.MethodDelete || strings.HasSuffix(r.URL.Path, "/accounts/move") ||
		strings.Contains(r.URL.Path, "/inbox-placement-tests") // a get or a list shows what is the run's own
}

func TestInterruptedBeforeItBegan(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results := judged(t, ctx, Config{Target: server})
	g.Expect(results.Run.Interrupted).To(BeTrue())
	g.Expect(results.Run.Specs).To(BeZero())
	g.Expect(results.Traffic.Requests).To(BeZero())
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(of(results, reports.NotAssessed)).To(HaveLen(len(spec.Pairs())))
}

// dying answers the first requests and is gone then.
func dying(after int64) roundTripper {
	var came atomic.Int64
	return func(r *http.Request) (*http.Response, error) {
		if came.Add(1) > after {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		}
		return http.DefaultTransport.RoundTrip(r)
	}
}

// A target that dies is nobody's violation and nobody's pass.
func TestTargetDies(t *testing.T) {
	for _, tc := range []struct {
		name  string
		after int64
	}{{"before the first answer", 0}, {"in the middle", 400}} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			server := embedded(t)
			journals := t.TempDir()
			results := judged(t, t.Context(), Config{Target: server, Transport: dying(tc.after), JournalDir: journals})
			g.Expect(of(results, reports.Fail)).To(BeEmpty())
			g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
			g.Expect(results.ExitCode()).To(Equal(3))
			g.Expect(results.Troubles).NotTo(BeEmpty())
			g.Expect(results.Troubles).To(ContainElement(HaveField("What", ContainSubstring("connection refused"))))
			for _, trouble := range results.Troubles {
				g.Expect(trouble.Where).NotTo(BeEmpty())
			}
			g.Expect(results.Reasons[0]).To(ContainSubstring("it is unreachable"))
			g.Expect(len(of(results, reports.NotAssessed))).To(BeNumerically(">", len(spec.Pairs())/4))
			if tc.after == 0 {
				g.Expect(of(results, reports.Pass)).To(BeEmpty())
				g.Expect(results.Traffic.Statuses).To(HaveLen(1))
			}
		})
	}
}

// What the run could not put back because the target was gone is put back
// later, from the journal.
func TestCleanupAfterTheTargetDied_long(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	journals := t.TempDir()
	before := tests(t, server)
	creating := Selection{Operations: []string{spec.GetPlacementTest, spec.DeletePlacementTest, spec.CreatePlacementTest}}
	results := judged(t, t.Context(), Config{Target: server, Selection: creating, Transport: dying(60), JournalDir: journals})
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(tests(t, server)).NotTo(Equal(before), "something was left behind")

	cleaned, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journals, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cleaned).NotTo(BeEmpty())
	g.Expect(tests(t, server)).To(Equal(before))
	g.Expect(os.ReadDir(journals)).To(BeEmpty())
	g.Expect(sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journals, nil)).To(BeZero(), "a second time there is nothing to do")
	again := judged(t, t.Context(), Config{Target: server, Selection: creating})
	g.Expect(again.Verdict).To(Equal(reports.Passed), "%v %v", again.Reasons, again.Troubles)
}

// moveAccount asks the server to move an account and returns the status.
func moveAccount(t *testing.T, server *target.Target, email, from, to string) int {
	t.Helper()
	op := spec.MustOperation(spec.MoveAccounts)
	return send(t, server, dataset.Admin, client.Request{Method: op.Method, Path: op.Path,
		Body: fmt.Appendf(nil, `{"emails":[%q],"source_workspace_id":%q,"destination_workspace_id":%q}`, email, from, to)}).Status
}

// send sends a request with the role's key.
func send(t *testing.T, server *target.Target, role string, request client.Request) client.Exchange {
	t.Helper()
	api, err := server.Client(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	key, _ := server.Profile.FullKey(role)
	request.Key = client.Key{Name: key.Name, Token: key.Token}
	ex := api.Do(t.Context(), request)
	if ex.Err != nil {
		t.Fatal(ex.Err)
	}
	return ex
}

// tests returns the names of the newest tests in the main workspace.
func tests(t *testing.T, server *target.Target) []string {
	t.Helper()
	op := spec.MustOperation(spec.ListPlacementTests)
	ex := send(t, server, dataset.Main, client.Request{Path: op.Path, Query: map[string][]string{"limit": {"100"}, "sort_order": {"desc"}}})
	if ex.Status != http.StatusOK {
		t.Fatal(ex)
	}
	var names []string
	for part := range strings.SplitSeq(string(ex.Body), `"name":"`) {
		name, _, _ := strings.Cut(part, `"`)
		names = append(names, name)
	}
	return names[1:]
}

// A crash on the way to one operation says nothing of it, and takes nothing
// else along.
func TestPanic(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	phones := spec.MustOperation(spec.ListPhoneNumbers).Path
	secret := server.Profile.Keys[0].Token
	results := judged(t, t.Context(), Config{
		Target:    server,
		Selection: Selection{Profiles: []spec.Profile{spec.ProfileShape}, Operations: []string{spec.ListPhoneNumbers, spec.ListLeadLabels}},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == phones {
				panic("no answer for " + secret)
			}
			return http.DefaultTransport.RoundTrip(r)
		}),
	})
	for _, c := range results.Checks {
		want := reports.Pass
		if c.Operation == spec.ListPhoneNumbers {
			want = reports.Error
		}
		g.Expect(c.Outcome).To(Equal(want), "%s on %s", c.Requirement, c.Operation)
	}
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(results.ExitCode()).To(Equal(3))
	g.Expect(results.Troubles).To(ContainElement(And(
		HaveField("Where", HavePrefix(spec.ListPhoneNumbers)),
		HaveField("What", And(HavePrefix("panic: no answer for $OUTREACH_KEY_"), Not(ContainSubstring(secret)))))))
}

// An answer that the harness does not read to its end is not judged.
func TestEndlessBody(t *testing.T) {
	g := NewWithT(t)
	server := embedded(t)
	results := judged(t, t.Context(), Config{
		Target:    server,
		Selection: Selection{Requirements: []string{"STATUS-200"}, Operations: []string{spec.ListPhoneNumbers}},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err == nil {
				_ = answer.Body.Close()
				answer.Body, answer.ContentLength = io.NopCloser(io.LimitReader(spaces{}, client.DefaultMaxBody+1)), -1
			}
			return answer, err
		}),
	})
	g.Expect(of(results, reports.Error)).To(Equal([]string{"STATUS-200 on " + spec.ListPhoneNumbers}))
	g.Expect(results.Troubles).To(ContainElement(HaveField("What", ContainSubstring("the body is larger than 8388608 bytes"))))
	g.Expect(results.Verdict).To(Equal(reports.Inconclusive))
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
