//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver/truth"
	"outreach.example/conformance/internal/printable"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

// This file compares the program with other tools on the same work. The generator is not
// calibrated here: the other tools do nothing like it.

var toolRounds = flag.Int("tools", 0, "how often each tool does its work in the comparison; 0: the comparison only runs the program, and shortly")

// work is what each tool does: GET requests for one page at a constant rate.
type work struct {
	name, shape string
	rate        float64
	lasts       time.Duration
	// truth returns the true quantile in milliseconds, from the server's record or by the shape.
	truth func(r truth.Report, p float64) float64
}

// recorded is the quantile of the server's own record.
func recorded(r truth.Report, p float64) float64 {
	bucket, _ := r.Quantile(p, func(l truth.Latency) bool { return l.Operation == spec.ListLeadLists })
	return float64(bucket.FromNS+bucket.ToNS) / 2e6
}

// stalled is the quantile of the times from when requests were due, if the server does not
// answer in the last 2 s of each 10 s, and the work lasts for whole periods.
func stalled(r truth.Report, p float64) float64 {
	const stall, every = 2000.0, 10000.0 // ms
	if awake := 1 - stall/every; p > awake {
		return stall * (p - awake) / (1 - awake)
	}
	return recorded(r, p/(1-stall/every))
}

// measuredTool is what one tool did and said of its work.
type measuredTool struct {
	cpu      time.Duration
	resident float64 // MB
	p50, p99 float64 // ms; 0 if the tool reports none
	seconds  float64
}

// tool does the work. It is nil if the tool is not installed.
type tool struct {
	name string
	do   func(t *testing.T, w work, base string) measuredTool
}

// spent runs the command and returns what it cost. The command may exit with 0 or a code of
// the verdicts.
func spent(t *testing.T, c *exec.Cmd, verdicts ...int) measuredTool {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	began := time.Now()
	if err := c.Run(); err != nil && !slices.Contains(verdicts, c.ProcessState.ExitCode()) {
		t.Fatalf("%v: %v\n%s", c.Args, err, out.String())
	}
	m := measuredTool{cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), seconds: time.Since(began).Seconds()}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.resident = float64(usage.Maxrss) / 1024
	}
	return m
}

// askedPage is what every tool asks for.
const askedPage = "/api/v2/lead-lists?limit=100"

// mainToken is the token of the reference server's main key.
func mainToken() string {
	keys := profile.Embedded().Keys
	return keys[slices.IndexFunc(keys, func(k profile.Key) bool { return k.Name == dataset.Main })].Token
}

// ours is load of this program.
func ours(t *testing.T, w work, base string) measuredTool {
	t.Helper()
	c := command(t, nil, "load", "--scenario", "list-throughput", "--operation", spec.ListLeadLists, "--page-size", "100", "--warmup", "0s",
		"--target", base, "--rate", strconv.FormatFloat(w.rate, 'f', 0, 64), "--duration", w.lasts.String())
	m := spent(t, c, 1, exitCannotTell)
	results, err := load.Read(filepath.Join(c.Dir, defaultLoadOutput, "load.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range results.Scenarios[0].Phases[0].Response.Accepted.Quantiles {
		switch q.P {
		case 0.5:
			m.p50 = q.ValueMS
		case 0.99:
			m.p99 = q.ValueMS
		}
	}
	return m
}

// vegetaTool attacks with the released vegeta, and reports.
func vegetaTool(t *testing.T, w work, base string) measuredTool {
	t.Helper()
	dir := t.TempDir()
	targets, results := filepath.Join(dir, "targets"), filepath.Join(dir, "results")
	if err := os.WriteFile(targets, fmt.Appendf(nil, "GET %s\nAuthorization: Bearer %s\n", base+askedPage, mainToken()), 0o600); err != nil {
		t.Fatal(err)
	}
	m := spent(t, exec.Command("vegeta", "attack", "-targets", targets, "-rate", fmt.Sprintf("%.0f/1s", w.rate), "-duration", w.lasts.String(), "-output", results))
	reported := filepath.Join(dir, "report.json")
	r := spent(t, exec.Command("vegeta", "report", "-type", "json", "-output", reported, results))
	m.cpu, m.resident = m.cpu+r.cpu, max(m.resident, r.resident)
	var said struct {
		Latencies struct {
			P50 float64 `json:"50th"`
			P99 float64 `json:"99th"`
		} `json:"latencies"` // ns
	}
	readJSON(t, reported, &said)
	m.p50, m.p99 = said.Latencies.P50/1e6, said.Latencies.P99/1e6
	return m
}

// k6Tool runs a script with a constant arrival rate, and as many users as a stall needs.
func k6Tool(t *testing.T, w work, base string) measuredTool {
	t.Helper()
	script := fmt.Sprintf(`import http from 'k6/http';
export const options = {
  summaryTrendStats: ['p(50)', 'p(99)'],
  scenarios: { s: { executor: 'constant-arrival-rate', rate: %.0f, timeUnit: '1s', duration: '%s', preAllocatedVUs: 50, maxVUs: 1200 } },
};
export default function () { http.get('%s', { headers: { Authorization: 'Bearer %s' } }); }
`, w.rate, w.lasts.String(), base+askedPage, mainToken())
	exported := filepath.Join(t.TempDir(), "summary.json")
	c := exec.Command("k6", "run", "--quiet", "--no-usage-report", "--summary-export", exported, "-")
	c.Stdin = strings.NewReader(script)
	m := spent(t, c)
	var said struct {
		Metrics struct {
			Duration struct {
				P50 float64 `json:"p(50)"`
				P99 float64 `json:"p(99)"`
			} `json:"http_req_duration"` // ms
		} `json:"metrics"`
	}
	readJSON(t, exported, &said)
	m.p50, m.p99 = said.Metrics.Duration.P50, said.Metrics.Duration.P99
	return m
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// recordOf returns what the server has done, once it has ended all that it began.
func recordOf(t *testing.T, truthURL string) truth.Report {
	t.Helper()
	for {
		var r truth.Report
		testbed.Get(t, truthURL+"/truth", "", &r)
		if r.InFlight == 0 {
			return r
		}
	}
}

func forgetAll(t *testing.T, truthURL string) {
	t.Helper()
	answer, err := http.Post(truthURL+"/truth/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}

// TestTools_long prints what run and load cost beside k6 and Vegeta, and how right their
// figures are. Every tool is a process of its own and does the same work in turns. The
// truth is the server's. Tools that are not installed are named and left out. Run it with
// make nightly.
func TestTools_long(t *testing.T) {
	tools := []tool{{"load", ours}}
	works := []work{{"98 % in 2 ms, 2 % in 250 ms", "98%:2ms,2%:250ms", 500, 20 * time.Second, recorded},
		{"a stall of 2 s in 10 s", "stall=2s/10s", 500, 20 * time.Second, stalled}}
	rounds := *toolRounds
	if rounds == 0 { // no figures, but the program does the work and the server sees it
		rounds, works = 1, works[:1]
		works[0].rate, works[0].lasts = 50, time.Second
	} else {
		for _, other := range []tool{{"vegeta", vegetaTool}, {"k6", k6Tool}} {
			if _, err := exec.LookPath(other.name); err != nil {
				fmt.Printf("SKIPPED: %s is not installed (not in the PATH), so it is not compared\n", other.name)
				continue
			}
			tools = append(tools, other)
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "work\ttool\trequests\tCPU µs/request\t× load\tMB resident\tmost in 10 ms\tideal\tp50 off\tp99 off\t")
	for _, w := range works {
		compareTools(t, table, w, tools, rounds)
	}
	if *toolRounds > 0 {
		compareRun(t, table, tools[1:], rounds)
		_ = table.Flush()
	}
}

// figures of one tool, one for each round.
type toolFigures struct {
	requests, cpu, resident, busiest, p50, p99 []float64
}

func (f *toolFigures) add(m measuredTool, r truth.Report, w work) {
	f.requests = append(f.requests, float64(r.Total))
	f.cpu = append(f.cpu, float64(m.cpu.Microseconds())/float64(r.Total))
	f.resident = append(f.resident, m.resident)
	f.busiest = append(f.busiest, float64(r.Arrivals.Busiest))
	if w.truth != nil && m.p50 > 0 {
		f.p50 = append(f.p50, m.p50-w.truth(r, 0.5))
		f.p99 = append(f.p99, m.p99-w.truth(r, 0.99))
	}
}

// line writes the medians. base is the CPU time of a request that others are relative to.
func (f *toolFigures) line(w work, name string, base float64) string {
	off := func(all []float64) string {
		if len(all) == 0 {
			return "–"
		}
		return fmt.Sprintf("%+.1f ms", middle(all))
	}
	return fmt.Sprintf("%s\t%s\t%s\t%.0f\t%.2f\t%.0f\t%.0f\t%.0f\t%s\t%s\t", w.name, name, printable.Figure(middle(f.requests)), middle(f.cpu),
		middle(f.cpu)/base, middle(f.resident), middle(f.busiest), w.rate/100+1, off(f.p50), off(f.p99))
}

func middle(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// compareTools lets each tool do the work, in turns, and writes a line for each.
func compareTools(t *testing.T, table *tabwriter.Writer, w work, tools []tool, rounds int) {
	t.Helper()
	base, truthURL := servingBuilt(t, "--shape", w.shape)
	figures := make([]toolFigures, len(tools))
	for round := range rounds {
		for i := range tools {
			at := (i + round) % len(tools)
			forgetAll(t, truthURL)
			m := tools[at].do(t, w, base)
			r := recordOf(t, truthURL)
			if planned := w.rate * w.lasts.Seconds(); float64(r.Total) < planned/2 {
				t.Errorf("%s sent %d of %.0f requests", tools[at].name, r.Total, planned)
			}
			figures[at].add(m, r, w)
		}
	}
	for i, tool := range tools {
		_, _ = fmt.Fprintln(table, figures[i].line(w, tool.name, middle(figures[0].cpu)))
	}
}

// compareRun judges a server with run, and lets the other tools send as many requests at
// the same rate.
func compareRun(t *testing.T, table *tabwriter.Writer, others []tool, rounds int) {
	t.Helper()
	base, truthURL := servingBuilt(t)
	w := work{name: "as many requests as run"}
	figures := make([]toolFigures, 1+len(others))
	for range rounds {
		forgetAll(t, truthURL)
		m := spent(t, command(t, nil, runCommand, "--target", base))
		r := recordOf(t, truthURL)
		figures[0].add(m, r, w)
		if w.rate == 0 {
			w.lasts = time.Duration(m.seconds * float64(time.Second)).Round(100 * time.Millisecond)
			w.rate = float64(r.Total) / w.lasts.Seconds()
		}
		for i, other := range others {
			forgetAll(t, truthURL)
			m := other.do(t, w, base)
			figures[1+i].add(m, recordOf(t, truthURL), w)
		}
	}
	for i, f := range figures {
		name := runCommand
		if i > 0 {
			name = others[i-1].name
		}
		_, _ = fmt.Fprintln(table, f.line(w, name, middle(figures[0].cpu)))
	}
}
