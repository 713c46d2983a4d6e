package runner

import (
	"io"
	"net/http"
	"outreach.example/conformance/internal/testbed"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/internal/sandbox"
	"outreach.example/conformance/spec"
)

// failingAfter is a way to a target that answers the nth request to the path with
// 500, from 1, although it was done.
type failingAfter struct {
	path string
	nth  int64
	came atomic.Int64
}

func (f *failingAfter) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, f.path) {
		return answer, err
	}
	if f.came.Add(1) == f.nth {
		_ = answer.Body.Close()
		answer.StatusCode, answer.Body, answer.ContentLength = http.StatusInternalServerError, io.NopCloser(strings.NewReader("{}")), 2
		answer.Header.Del("Content-Length")
	}
	return answer, nil
}

// A server error says nothing about whether the change was made: it is put back
// by the run or, as its journal tells, by cleanup.
func TestChangesBehindAServerErrorArePutBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		operation, path string
		requirement     string
		requests        int64 // to the path
	}{
		"a test":            {spec.CreatePlacementTest, "/inbox-placement-tests", "STATUS-200", 3},
		"an account":        {spec.MoveAccounts, "/accounts/move", "ACCOUNTS-MOVED", 3},
		"a move to nowhere": {spec.MoveAccounts, "/accounts/move", "REQUEST-INVALID-DESTINATION_WORKSPACE_ID", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for nth := int64(1); nth <= tc.requests; nth++ {
				g, server, journals := NewWithT(t), embedded(t), t.TempDir()
				before := tests(t, server)
				way := &failingAfter{path: tc.path, nth: nth}
				results := judged(t, t.Context(), Config{Target: server, Seed: 1, Transport: way, JournalDir: journals,
					Selection: Selection{Operations: []string{tc.operation}, Requirements: []string{tc.requirement}}})
				g.Expect(results.Troubles).To(BeEmpty())
				g.Expect(way.came.Load()).To(BeNumerically(">=", nth), "or nothing was answered with 500")
				_, err := sandbox.Cleanup(t.Context(), testbed.Client(t, server), server.Profile, journals, nil)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(tests(t, server)).To(ConsistOf(before), "tests after request %d", nth)
				home, other := server.Profile.Workspaces[dataset.SubA], server.Profile.Workspaces[dataset.SubB]
				for _, email := range home.Accounts {
					g.Expect(moveAccount(t, server, email, home.ID, other.ID)).To(Equal(http.StatusOK), "%s is to be at home after request %d", email, nth)
				}
			}
		})
	}
}
