package generate

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/internal/client"
	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest/inspect"
	"outreach.example/conformance/loadtest/schedule"
	"outreach.example/conformance/spec"
)

const (
	benchFor  = 3 * time.Second
	benchPath = "/api/v2/webhook-events?limit=76" // 62 KB
	// flatOut asks for as many requests as flatOutWorkers workers can send.
	flatOut        = 0
	flatOutWorkers = 64
)

// page returns a real page of about 62 KB.
func page(b testing.TB) []byte {
	data, err := dataset.New(dataset.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	server, err := refserver.New(data, refserver.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, benchPath, nil)
	for _, k := range data.Keys {
		if k.Name == dataset.Main {
			r.Header.Set("Authorization", "Bearer "+k.Token)
		}
	}
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, r)
	if answer.Code != http.StatusOK {
		b.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.Bytes()
}

// pageServer serves the page from a process of its own.
func pageServer(b testing.TB) string {
	file := filepath.Join(b.TempDir(), "page.json")
	if err := os.WriteFile(file, page(b), 0o600); err != nil {
		b.Fatal(err)
	}
	command := testbed.Again(b, pageFlag, file)
	server := exec.Command(command[0], command[1:]...)
	stdin, err := server.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = stdin.Close()
		_ = server.Wait()
	})
	base, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(base)
}

// usage is what a client process reports about itself.
type usage struct {
	Sent     int64
	CPU      time.Duration // of the whole process while it sent
	Before   int64         // bytes resident before it sent
	Peak     int64         // and at the most
	Heap     int64         // bytes in use at the most, seen every 50 ms
	Made     int64         // bytes that were allocated while it sent
	Coverage float64
	Failed   int64
	Lag      time.Duration // 99th percentile; 0 where nothing is known of it
}

// clientProcess runs a client in this process and prints its usage.
func clientProcess(client func(base string, rate float64, u *usage) error, args []string) error {
	rate, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return err
	}
	var u usage
	if err := client(args[0], rate, &u); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(u)
}

// measured fills in the usage of the work.
func measured(u *usage, work func()) {
	runtime.GC()
	u.Before = resident("VmRSS")
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			u.Heap = max(u.Heap, int64(stats.HeapInuse+stats.StackInuse))
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	made := allocated()
	before, _ := processorTime()
	work()
	after, _ := processorTime()
	u.Made = allocated() - made
	close(done)
	watching.Wait()
	u.CPU, u.Peak = after-before, resident("VmHWM")
}

func allocated() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.TotalAlloc)
}

// resident returns a figure of this process's memory in bytes, or 0 if there is no
// /proc. getrusage's peak would include the parent's.
func resident(figure string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, figure+":"); ok {
			kilobytes, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

func checkingClient(base string, rate float64, u *usage) error {
	return checkPages(Options{BaseURL: base}, rate, u)
}

// checkPages loads the server and checks each page.
func checkPages(opts Options, rate float64, u *usage) error {
	rules, err := judge.NewRules()
	if err != nil {
		return err
	}
	in, err := inspect.New(inspect.Options{Rules: rules})
	if err != nil {
		return err
	}
	if rate == flatOut {
		rate, opts.Workers = saturationRate, flatOutWorkers
	}
	g, err := New(opts)
	if err != nil {
		return err
	}
	asked := judge.Request{Operation: spec.MustOperation(spec.ListWebhookEvents), Allowed: client.Only(http.StatusOK)}
	p := Phase{Name: "bench", Schedule: schedule.Constant(rate, benchFor), Inspect: in.Take,
		Mix: func(uint64) Request { return Request{Label: "page", Path: benchPath, Asked: asked} }}
	measured(u, func() {
		r, _, err2 := g.Run(context.Background(), p)
		in.Close()
		err, u.Sent, u.Lag = err2, r.Sent, r.Lag.Value(0.99)
	})
	result := in.Result()
	u.Coverage = float64(result.Judged+result.Known) / float64(result.Answers)
	for _, c := range result.Checks {
		u.Failed += int64(c.ViolationCount)
	}
	return err
}

// rawVegetaClient is Vegeta as its documentation shows it.
func rawVegetaClient(base string, rate float64, u *usage) error {
	targets := vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodGet, URL: base + benchPath})
	attacker := vegeta.NewAttacker()
	if rate == flatOut {
		attacker = vegeta.NewAttacker(vegeta.MaxWorkers(flatOutWorkers))
	}
	measured(u, func() {
		var metrics vegeta.Metrics
		for r := range attacker.Attack(targets, vegeta.Rate{Freq: int(rate), Per: time.Second}, benchFor, "bench") {
			metrics.Add(r)
		}
		metrics.Close()
		u.Sent, u.Failed = int64(metrics.Requests), int64(len(metrics.Errors))
	})
	return nil
}

func clientUsage(b testing.TB, flag, base string, rate int, args ...string) usage {
	command := testbed.Again(b, flag, append([]string{base, strconv.Itoa(rate)}, args...)...)
	out, err := exec.Command(command[0], command[1:]...).Output()
	if err != nil {
		b.Fatalf("%s: %v", flag, err)
	}
	var u usage
	if err := json.Unmarshal(out, &u); err != nil {
		b.Fatalf("%s: %v", flag, err)
	}
	if u.Sent == 0 || u.Failed > 0 {
		b.Fatalf("%s: %+v", flag, u)
	}
	return u
}

// checkedAndRaw runs both clients, one after the other.
func checkedAndRaw(b *testing.B, base string, rate int, checkedFirst bool) (checked, raw usage) {
	if checkedFirst {
		checked = clientUsage(b, checkingFlag, base, rate)
	}
	raw = clientUsage(b, vegetaFlag, base, rate)
	if !checkedFirst {
		checked = clientUsage(b, checkingFlag, base, rate)
	}
	return checked, raw
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

const megabyte = 1 << 20

// BenchmarkChecking compares the processor time of a request with raw Vegeta's. The
// generator checks each 62 KB page; raw Vegeta keeps each body. Each client runs in a
// process of its own. A round is one run of each, in changing order. Processor times
// and send lag are medians of the rounds; -benchtime 5x runs five. The lag is shown
// because a generator can save processor time by sending late.
func BenchmarkChecking(b *testing.B) {
	base := pageServer(b)
	for _, rate := range []int{500, 2500, flatOut} {
		name := fmt.Sprintf("rate-%d", rate)
		if rate == flatOut {
			name = "flat-out"
		}
		b.Run(name, func(b *testing.B) {
			var times, rawTimes, ratios, lags []float64
			for b.Loop() {
				ours, raw := checkedAndRaw(b, base, rate, len(times)%2 == 0)
				cpu := func(u usage) float64 { return float64(u.CPU.Microseconds()) / float64(u.Sent) }
				times, rawTimes = append(times, cpu(ours)), append(rawTimes, cpu(raw))
				ratios, lags = append(ratios, cpu(ours)/cpu(raw)), append(lags, float64(ours.Lag.Microseconds()))
				b.ReportMetric(float64(ours.Made)/float64(ours.Sent), "B-allocated/request")
				b.ReportMetric(float64(ours.Heap)/megabyte, "MB-heap-and-stacks")
				b.ReportMetric(float64(ours.Peak-ours.Before)/megabyte, "MB-more-resident")
				b.ReportMetric(float64(ours.Peak)/megabyte, "MB-resident")
				b.ReportMetric(float64(raw.Peak)/megabyte, "vegeta-MB-resident")
				b.ReportMetric(ours.Coverage, "coverage")
				b.ReportMetric(float64(ours.Sent)/benchFor.Seconds(), "requests/s")
				b.ReportMetric(float64(raw.Sent)/benchFor.Seconds(), "vegeta-requests/s")
			}
			b.ReportMetric(median(times), "cpu-µs/request")
			b.ReportMetric(median(rawTimes), "vegeta-cpu-µs/request")
			b.ReportMetric(median(ratios), "cpu-ratio")
			b.ReportMetric(median(lags), "lag-p99-µs")
			b.ReportMetric(0, "ns/op")
		})
	}
}
