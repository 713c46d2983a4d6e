package swarm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"outreach.example/conformance/fixtures"
	"outreach.example/conformance/refserver/truth"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

const (
	workers = 4
	rate    = 200 // requests per second, of all workers together
	seconds = 4   // of each of two phases
	// planned is what all workers together are to send.
	planned = 2 * rate * seconds
	// ahead is how long before the start the workers are made: time enough for
	// them to come up and to calibrate themselves beside each other.
	ahead = 10 * time.Second
	// latencies are the server's: the percentiles that are compared lie well
	// inside of the shares.
	latencies = "60%:20ms,37%:50ms,3%:120ms"
	// lagLimit lets a busy machine send late, which alike looks at.
	lagLimit = "1s"
	// tooLate is the send lag, in milliseconds, beyond which they are not compared.
	tooLate = 10
	// patience bounds waiting for what takes a second or two.
	patience = 2 * time.Minute
)

// The lists are others than the one that a run looks at before it begins, and
// there is no warm-up: what the server counts for them is what the phases sent.
var plan = fmt.Sprintf(`scenarios:
  - name: shared
    about: Two lists at one rate, in two page sizes.
    kind: steady
    mix: {%s: 1, %s: 1}
    limits: [10, 50]
    rate: %d
    duration: %ds
    thresholds: [errors=0]
`, spec.ListLeadLists, spec.ListWebhookEvents, rate, seconds)

// What four workers send and measure is what one process sends and measures at
// the same total rate, and what the server has counted.
func TestSharedLoadIsTheLoadOfOne(t *testing.T) {
	e := needSwarm(t)
	server := serving(t)
	profile := fixtures.Embedded()
	for i := range profile.Keys {
		if k := &profile.Keys[i]; k.Name == "main" {
			e.store(t, "secret", e.name("key"), k.Token)
			k.Token, k.TokenFile = "", "/run/secrets/"+e.name("key")
		}
	}
	text, err := profile.YAML("")
	if err != nil {
		t.Fatal(err)
	}
	e.store(t, "config", e.name("profile"), string(text))
	e.store(t, "config", e.name("plan"), plan)
	settings := written(t, "settings.env", "OUTREACH_TARGET="+server.base+"\nOUTREACH_TARGET_PROFILE=/profile/target.yaml\n"+
		"OUTREACH_SCENARIOS=/plan.yaml\nOUTREACH_SEED=7\nOUTREACH_LAG_LIMIT="+lagLimit+"\n")
	parts := e.fanOut(t, append(documented(t, e, settings), "--config", "source="+e.name("plan")+",target=/plan.yaml")...)
	if len(parts) != workers {
		t.Fatalf("%d parts of %d workers:\n%.2000q", len(parts), workers, parts)
	}
	merged := merge(t, parts)
	server.counted(t, merged)

	server.forget(t)
	single := results(t, "load", "--target", server.base, "--scenarios", written(t, "plan.yaml", plan), "--seed", "7", "--lag-limit", lagLimit)
	server.counted(t, single)

	alike(t, merged, single)

	for what, c := range map[string]struct {
		parts []string
		want  string
	}{
		"missing": {parts[1:], "is missing"},
		"doubled": {append(slices.Clone(parts), parts[2]), "is there twice"},
	} {
		if r := merge(t, c.parts); r.Verdict != load.Void || !strings.Contains(strings.Join(r.Reasons, "\n"), c.want) {
			t.Errorf("with a shard %s: %s %q, want VOID that says that it %s", what, r.Verdict, r.Reasons, c.want)
		}
	}
}

// Workers that fail end, say why, are not repeated, and leave nothing behind.
func TestFailedWorkersAreNotWaitedFor(t *testing.T) {
	e := needSwarm(t)
	if parts := e.fanOut(t, "--env", "OUTREACH_SCENARIO=no-such-scenario"); len(parts) > 0 {
		t.Errorf("they leave parts: %q", parts)
	}
}

// Whoever interrupts the script stops the load.
func TestInterruptedFanOutStopsTheWorkers(t *testing.T) {
	e := needSwarm(t)
	server := serving(t)
	c, output := e.script(t, time.Hour, "--env", "OUTREACH_TARGET="+server.base, "--env", "OUTREACH_SCENARIO=list-throughput", "--env", "OUTREACH_SEED=7")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	late := time.After(patience)
	for running := 0; running < workers; running = len(e.containers(t, "--filter", "status=running")) {
		select {
		case err := <-ended:
			t.Fatalf("fan-out has ended: %v\n%s", err, output)
		case <-late:
			t.Fatal("the workers do not come up")
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil { // SIGINT is ignored where a shell started this in the background
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Errorf("fan-out ends as if it was done:\n%s", output)
		}
	case <-late:
		t.Fatal("fan-out does not end")
	}
	e.nothingLeft(t)
}

// alike holds phases of the same plan against each other: the plan and the
// counts are the same, and each percentile is, unless the intervals of the two
// or the time by which requests went out late allow for the difference. On a
// machine that is too busy to send in time, percentiles tell nothing.
func alike(t *testing.T, merged, single load.Results) {
	t.Helper()
	if len(merged.Scenarios) != 1 || len(single.Scenarios) != 1 {
		t.Fatalf("%d and %d scenarios, want one", len(merged.Scenarios), len(single.Scenarios))
	}
	a, b := merged.Scenarios[0].Phases, single.Scenarios[0].Phases
	if len(a) != 2 || len(b) != 2 {
		t.Fatalf("%d and %d phases, want two", len(a), len(b))
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Planned != b[i].Planned || a[i].RatePerSecond != b[i].RatePerSecond || a[i].Seconds != b[i].Seconds {
			t.Errorf("phase %d of the merged run is %q: %d at %v/s for %vs; of the single one %q: %d at %v/s for %vs", i,
				a[i].Name, a[i].Planned, a[i].RatePerSecond, a[i].Seconds, b[i].Name, b[i].Planned, b[i].RatePerSecond, b[i].Seconds)
		}
		if len(a[i].Labels) != len(b[i].Labels) {
			t.Errorf("phase %s: %d labels merged, %d single", a[i].Name, len(a[i].Labels), len(b[i].Labels))
		}
		for k := range min(len(a[i].Labels), len(b[i].Labels)) {
			if x, y := a[i].Labels[k], b[i].Labels[k]; x.Name != y.Name || x.Accepted != y.Accepted {
				t.Errorf("phase %s: merged %d of %s, single %d of %s", a[i].Name, x.Accepted, x.Name, y.Accepted, y.Name)
			}
		}
		if a[i].Response.Accepted == nil || b[i].Response.Accepted == nil {
			t.Fatalf("phase %s has no accepted answers", a[i].Name)
		}
		if late := quantile(a[i].Lag, 0.99) + quantile(b[i].Lag, 0.99); late > tooLate {
			t.Logf("phase %s: the percentiles are not compared: requests went out late by %.2f ms", a[i].Name, late)
			continue
		}
		for k, x := range a[i].Response.Accepted.Quantiles {
			y := b[i].Response.Accepted.Quantiles[k]
			late := quantile(a[i].Lag, x.P) + quantile(b[i].Lag, x.P)
			t.Logf("phase %s p%v: merged %.2f ms (%.2f to %.2f), single %.2f ms (%.2f to %.2f); late by %.2f ms", a[i].Name, 100*x.P, x.ValueMS, x.LowMS, x.HighMS, y.ValueMS, y.LowMS, y.HighMS, late)
			overlap := x.LowMS <= y.HighMS && y.LowMS <= x.HighMS
			if !overlap && math.Abs(x.ValueMS-y.ValueMS) > max(1, 0.02*y.ValueMS)+late {
				t.Errorf("phase %s p%v: they differ by more than 2 %% and 1 ms", a[i].Name, 100*x.P)
			}
		}
	}
}

func quantile(d *load.Distribution, p float64) float64 {
	for _, q := range d.Quantiles {
		if q.P >= p {
			return q.ValueMS
		}
	}
	return d.MaxMS
}

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

// counted makes sure that the server has answered just what the run says it sent.
func (s server) counted(t *testing.T, r load.Results) {
	t.Helper()
	answer, err := http.Get(s.truth + "/truth")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var seen truth.Report
	if err := json.NewDecoder(answer.Body).Decode(&seen); err != nil {
		t.Fatal(err)
	}
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
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the run counts %v, the server %v", got, want)
	}
	if r.Verdict == load.Fail || r.Run.Interrupted {
		t.Errorf("the verdict is %s: %q", r.Verdict, r.Reasons)
	}
}

func (s server) forget(t *testing.T) {
	t.Helper()
	answer, err := http.Post(s.truth+"/truth/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Fatal(answer.Status)
	}
}

// merge joins parts, whose verdict is for the caller to judge.
func merge(t *testing.T, parts []string) load.Results {
	t.Helper()
	return results(t, "load", "merge", written(t, "parts.jsonl", strings.Join(parts, "\n")+"\n"))
}

// written writes a file and returns where it is.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// documented returns the options of fan-out that docs/load.md tells to use, with
// the names and the file of this test.
func documented(t *testing.T, e engine, settings string) []string {
	t.Helper()
	document, err := os.ReadFile("../../docs/load.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^loadtest/swarm/fan-out \d+ \S+ ([^|]*) \|`).FindSubmatch(document)
	if line == nil {
		t.Fatal("docs/load.md does not show how to use fan-out")
	}
	here := strings.NewReplacer("load-profile", e.name("profile"), "server-key-main", e.name("key"), "settings.env", settings)
	return strings.Fields(here.Replace(string(line[1])))
}

// results runs the program, which must come to a verdict, and returns what it wrote.
func results(t *testing.T, args ...string) load.Results {
	t.Helper()
	dir := t.TempDir()
	c := command(t, append(args, "--output", dir)...)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r, err := load.Read(filepath.Join(dir, "load.json"))
	if err != nil {
		t.Fatalf("%v leaves no results: %v\n%s", args, err, out)
	}
	if code := c.ProcessState.ExitCode(); code != r.ExitCode() {
		t.Errorf("%v exits with %d, its results say %d\n%s", args, code, r.ExitCode(), out)
	}
	return r
}

// script is fan-out, for workers that begin so long from now.
func (e engine) script(t *testing.T, ahead time.Duration, options ...string) (c *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	c = exec.CommandContext(t.Context(), "./fan-out", append([]string{fmt.Sprint(workers), image(t), "--label", e.label, "--no-resolve-image", "--network", "host"}, options...)...)
	c.Env = append(os.Environ(), "OUTREACH_START_AT="+time.Now().Add(ahead).UTC().Format(time.RFC3339))
	stderr = &bytes.Buffer{}
	c.Stderr = stderr
	return c, stderr
}

// fanOut runs the script to its end and returns the parts that it prints.
func (e engine) fanOut(t *testing.T, options ...string) []string {
	t.Helper()
	c, stderr := e.script(t, ahead, options...)
	stdout, err := c.Output()
	if err != nil {
		t.Fatalf("fan-out: %v\n%s", err, stderr)
	}
	t.Logf("the workers say:\n%s", stderr)
	e.nothingLeft(t)
	return lines(string(stdout))
}

// containers are those of the image on this machine.
func (e engine) containers(t *testing.T, filter ...string) []string {
	t.Helper()
	return lines(docker(t, append([]string{"ps", "--all", "--quiet", "--filter", "ancestor=" + image(t)}, filter...)...))
}

func (e engine) nothingLeft(t *testing.T) {
	t.Helper()
	if left := docker(t, "service", "ls", "--quiet", "--filter", "label="+e.label); left != "" {
		t.Errorf("fan-out leaves a service behind: %s", left)
	}
	if left := e.containers(t); len(left) > 0 {
		t.Errorf("fan-out leaves containers behind: %q", left)
		docker(t, append([]string{"rm", "--force"}, left...)...)
	}
}
