package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/reports"
)

// reachedAfter is a reference server that tells when so many requests have come.
func reachedAfter(t *testing.T, requests int64) (base string, reached <-chan struct{}) {
	t.Helper()
	var came atomic.Int64
	enough := make(chan struct{})
	return servingBehind(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if came.Add(1) == requests {
			close(enough)
		}
		next.ServeHTTP(w, r)
	}), enough
}

// servingBehind is a reference server in this process of which front answers the
// requests, or hands them on.
func servingBehind(t *testing.T, front func(w http.ResponseWriter, r *http.Request, next http.Handler)) (base string) {
	t.Helper()
	middleware := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { front(w, r, next) })
	}
	service := must[*refserver.Server](t)(refserver.New(must[*dataset.Data](t)(dataset.New(dataset.DefaultOptions())),
		refserver.Options{Middleware: []func(http.Handler) http.Handler{middleware}}))
	server := httptest.NewServer(service.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

// goneSilent is a reference server that answers so many requests and then none:
// it closes the channel with the first that it leaves waiting.
func goneSilent(t *testing.T, requests int64) (base string, silent <-chan struct{}) {
	t.Helper()
	var came atomic.Int64
	waiting := make(chan struct{})
	return servingBehind(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		n := came.Add(1)
		if n <= requests {
			next.ServeHTTP(w, r)
			return
		}
		if n == requests+1 {
			close(waiting)
		}
		<-r.Context().Done()
	}), waiting
}

// awaits waits for what the process is to bring about.
func (p *process) awaits(what <-chan struct{}) {
	select {
	case <-what:
	case <-p.done:
	case <-time.After(patience):
	}
}

// Whatever an interruption meets in the middle of a long run, the files are whole
// and hold what was measured, and nothing is blamed on the target. Hours would
// prove no more than the minutes that outlast the test: each second that was
// planned has its place in the results, which take long to read with the race
// detector.
func TestLoadIsInterruptedInTheMiddle_long(t *testing.T) {
	t.Parallel()
	const first = 200 // requests until the interruption, two of them before the scenario
	for name, args := range map[string][]string{
		"soak":           {"--scenario", "soak", "--duration", "10m", "--warmup", "10ms", "--threshold", "errors=0"},
		"spike":          {"--scenario", "spike", "--duration", "10m", "--warmup", "10ms"},
		"mixed":          {"--scenario", "mixed", "--duration", "10s"},
		"walk":           {"--scenario", "walk", "--duration", "10m"},
		"sustained-rate": {"--scenario", "sustained-rate", "--duration", "10m", "--warmup", "10ms", "--threshold", "p99<20s"},
		"rate-limit":     {"--scenario", "rate-limit", "--duration", "8h", "--probe-budget", "1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			base, reached := reachedAfter(t, first)
			p := begunWithout(t, spawn(t, nil, append([]string{loadCommand, "--target", base, "--lag-limit", "1h", "--raw"}, args...)...))
			p.awaits(reached)
			g.Expect(p.end(t, syscall.SIGINT)).To(Equal(exitInterrupted), "%s", p.output.bytes())

			g.Expect(ourTests(t, base)).To(BeEmpty(), "what it created is gone, its claim too")
			r := loadResults(t, p.command.Dir)
			g.Expect(r.Run.Interrupted).To(BeTrue())
			g.Expect(r.Verdict).To(Equal(reports.Inconclusive))
			g.Expect(r.Scenarios).To(HaveLen(1))
			s := r.Scenarios[0]
			g.Expect(s.Verdict).To(Equal(reports.Inconclusive), "%q", s.Reasons)
			g.Expect(strings.Join(s.Reasons, "\n")).To(ContainSubstring("interrupt"))
			g.Expect(s.Requests.Total).To(BeNumerically(">=", first-2))
			if name != "rate-limit" {
				g.Expect(s.Phases).NotTo(BeEmpty())
				last := s.Phases[len(s.Phases)-1]
				g.Expect(last.Response.Accepted.Count).To(BeNumerically(">", 0))
				g.Expect(contents(t, filepath.Join(p.command.Dir, defaultLoadOutput, hdrFile))).To(ContainSubstring("response.accepted"))
			}
			for _, file := range []string{pageFile, loadJUnitFile, metricsFile} {
				g.Expect(contents(t, filepath.Join(p.command.Dir, defaultLoadOutput, file))).To(ContainSubstring(name))
			}
		})
	}
}
