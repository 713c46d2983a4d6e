package runner

import (
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
)

// throttling answers every second request with a 429, and counts all of them.
type throttling struct{ sent atomic.Int64 }

func (t *throttling) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.sent.Add(1)%2 == 0 {
		return http.DefaultTransport.RoundTrip(r)
	}
	return &http.Response{StatusCode: http.StatusTooManyRequests, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Retry-After": {"0"}}, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// A request that is sent again after a 429 counts again. The specs of this list send their
// requests one at a time.
func TestRetriesAreInTheBudget_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	subject, front := embedded(t), &throttling{}
	limited := *subject.Profile
	limited.Budget, limited.Writes, limited.Pace.Concurrency = 20, profile.WritesNone, 1
	subject.Profile = &limited
	judged(t, t.Context(), Config{Target: subject, Transport: front, Selection: Selection{Groups: []string{"pages"}, Operations: []string{spec.ListGroupMembers}}})
	g.Expect(front.sent.Load()).To(And(BeNumerically(">", 10), BeNumerically("<=", 21)), "the last request may be sent again")
}

// A run that its budget ends leaves nothing on the target, and no journal.
func TestSmallBudgetsLeaveNoJournal_long(t *testing.T) {
	for _, budget := range []int{2, 5, 10, 30, 60} {
		g := NewWithT(t)
		subject, journals := embedded(t), t.TempDir()
		before := ids(t, subject)
		limited := *subject.Profile
		limited.Budget = budget
		subject.Profile = &limited
		judged(t, t.Context(), Config{Target: subject, JournalDir: journals})
		g.Expect(os.ReadDir(journals)).To(BeEmpty(), "after %d requests", budget)
		g.Expect(missing(ids(t, subject), before)).To(BeEmpty(), "after %d requests", budget)
	}
}
