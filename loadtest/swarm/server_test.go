//go:build unix

package swarm

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// server is a reference server as a process of its own.
type server struct{ base, truth string }

func serving(t *testing.T) server {
	t.Helper()
	c := command(t, "serve", "--addr", "127.0.0.1:0", "--truth-addr", "127.0.0.1:0", "--shape", latencies, "--idle-exit", "5m")
	said, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	var s server
	var api string
	if _, err := fmt.Fscanf(said, "target %s\nAPI %s\ntruth %s\n", &s.base, &api, &s.truth); err != nil {
		t.Fatalf("the server does not say where it is: %v", err)
	}
	return s
}

// counted makes sure that the server has answered just what the run says it sent,
// and once each list to each process, which asks beforehand whether its key will do.
func (s server) counted(t *testing.T, r load.Results, processes int64) {
	t.Helper()
	seen := testbed.Record(t, s.truth)
	type kind struct{ status, operation string }
	want, got := map[kind]int64{}, map[kind]int64{}
	for _, q := range seen.Requests {
		if q.Operation == spec.ListLeadLists || q.Operation == spec.ListWebhookEvents {
			want[kind{status: fmt.Sprint(q.Status)}] += q.Count
			want[kind{operation: q.Operation}] += q.Count
		}
	}
	var all, sent, dropped int64
	for _, scenario := range r.Scenarios {
		for _, p := range scenario.Phases {
			all, sent, dropped = all+p.Planned, sent+p.Sent, dropped+p.Dropped
			for status, n := range p.Statuses {
				got[kind{status: status}] += n
			}
			for _, l := range p.Labels {
				operation, _, _ := strings.Cut(l.Name, " ")
				got[kind{operation: operation}] += l.Accepted + l.Limited + l.Failed
			}
		}
	}
	if all != planned || sent+dropped != planned || got[kind{status: "200"}] != sent {
		t.Errorf("%d planned, %d sent, %d dropped, %v answered; want %d planned in all", all, sent, dropped, got, planned)
	}
	for _, operation := range []string{spec.ListLeadLists, spec.ListWebhookEvents} {
		got[kind{operation: operation}] += processes
		got[kind{status: "200"}] += processes
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the run counts %v, the server %v", got, want)
	}
	if r.Verdict == reports.Failed || r.Run.Interrupted {
		t.Errorf("the verdict is %s: %q", r.Verdict, r.Reasons)
	}
}

func (s server) forget(t *testing.T) {
	t.Helper()
	testbed.Record(t, s.truth)
	answer, err := http.Post(s.truth+"/truth/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Fatal(answer.Status)
	}
}
