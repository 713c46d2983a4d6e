//go:build unix

package generate

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/loadtest/schedule"
)

// BenchmarkK6 measures k6 under the same load, including its start.
func BenchmarkK6(b *testing.B) {
	k6, err := exec.LookPath("k6")
	if err != nil {
		fmt.Println("BenchmarkK6 is skipped: k6 is not installed, so there is no comparison with it")
		b.SkipNow()
	}
	base := pageServer(b)
	const rate = 500
	script := fmt.Sprintf(`import http from 'k6/http';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%s', preAllocatedVUs: 50, maxVUs: 500 } } };
export default function () { http.get('%s'); }
`, rate, benchFor, base+benchPath)
	for b.Loop() {
		command := exec.Command(k6, "run", "--quiet", "-")
		command.Stdin = strings.NewReader(script)
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		if err := command.Run(); err != nil {
			b.Fatalf("k6: %v\n%s", err, out.String())
		}
		state := command.ProcessState
		b.ReportMetric(float64((state.UserTime()+state.SystemTime()).Microseconds())/(rate*benchFor.Seconds()), "cpu-µs/request")
		if r, ok := state.SysUsage().(*syscall.Rusage); ok {
			b.ReportMetric(float64(r.Maxrss)/1024, "MB-resident")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// arrivals notes when requests are passed to the network.
type arrivals struct {
	http.RoundTripper
	mu sync.Mutex
	at []time.Time
}

func (a *arrivals) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	a.at = append(a.at, time.Now())
	a.mu.Unlock()
	return a.RoundTripper.RoundTrip(r)
}

func (a *arrivals) busiest() float64 {
	times := make([]time.Duration, len(a.at))
	for i, at := range a.at {
		times[i] = at.Sub(a.at[0])
	}
	slices.Sort(times)
	return float64(busiest(times, 10*time.Millisecond))
}

// BenchmarkPacing measures the largest number of requests in any 10 ms at 1,000/s, at
// the sender and at a server in this process. The ideal is 11. It also measures
// Vegeta's own pacer at the sender.
func BenchmarkPacing(b *testing.B) {
	const rate = 1000
	served := arrivals{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.mu.Lock()
		served.at = append(served.at, time.Now())
		served.mu.Unlock()
		_, _ = w.Write([]byte(`{"items":[]}`))
	}))
	defer server.Close()
	for b.Loop() {
		served.at = nil
		g, err := New(Options{BaseURL: server.URL})
		if err != nil {
			b.Fatal(err)
		}
		sent := &arrivals{RoundTripper: g.opts.Transport}
		g.opts.Transport = sent
		before, _ := processorTime()
		r, _, err := g.Run(context.Background(), Phase{Name: "bench", Schedule: schedule.Constant(rate, benchFor), Mix: asking("/")})
		if err != nil {
			b.Fatal(err)
		}
		after, _ := processorTime()
		b.ReportMetric(sent.busiest(), "most-sent-in-10ms")
		b.ReportMetric(served.busiest(), "most-served-in-10ms")
		b.ReportMetric(float64(r.Lag.Value(0.5).Microseconds()), "lag-p50-µs")
		b.ReportMetric(float64(r.Lag.Value(0.99).Microseconds()), "lag-p99-µs")
		b.ReportMetric(float64((after-before).Microseconds())/float64(r.Sent), "cpu-µs/request-with-server")
		g.Close()

		raw := &arrivals{RoundTripper: http.DefaultTransport}
		attacker := vegeta.NewAttacker(vegeta.Client(&http.Client{Transport: raw}))
		for range attacker.Attack(vegeta.NewStaticTargeter(vegeta.Target{Method: "GET", URL: server.URL}), vegeta.Rate{Freq: rate, Per: time.Second}, benchFor, "bench") {
		}
		b.ReportMetric(raw.busiest(), "vegeta-most-sent-in-10ms")
	}
	b.ReportMetric(0, "ns/op")
}
