//go:build unix

// Package swarm holds fan-out, the script that shares a load plan among workers
// on a Docker Swarm. Its tests show on a real engine that the merged parts equal
// what one process would have sent and measured.
//
// It has no Go code besides tests, and nothing imports it.
package swarm

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/verdict"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
	"outreach.example/conformance/spec"
)

func TestMain(m *testing.M) { os.Exit(testbed.Tidying{Tests: m}.Run()) }

const (
	workers = 4
	rate    = 200 // requests per second, of all workers together
	seconds = 4   // of each of two phases
	// ahead is how long before the start the workers are made: time enough to come up
	// on a machine that pauses for some seconds. A worker that comes up later sends nothing.
	ahead    = 30 * time.Second
	lagLimit = time.Second // lets a busy machine send late
	// patience bounds waiting for what takes a second or two.
	patience = 15 * time.Minute
)

// The lists are others than the one that the calibration looks at, and there is no
// warm-up: the server counts for them what the phases sent, and one request of each
// process beforehand.
var plan = fmt.Sprintf(`scenarios:
  - name: shared
    about: Two lists at one rate, in two page sizes.
    kind: steady
    mix: {%s: 1, %s: 1}
    page_sizes: [10, 50]
    rate: %d
    duration: %ds
    thresholds: [errors=0]
`, spec.ListLeadLists, spec.ListWebhookEvents, rate, seconds)

func serving(t *testing.T) *target.Target {
	t.Helper()
	server, err := target.Embedded(t.Context(), dataset.DefaultOptions(), refserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.Background()) })
	return server
}

// counted makes sure that the server has answered what the run says it sent, and once
// each list to each process, which asks beforehand whether its key will do.
func counted(t *testing.T, server *target.Target, r load.Results, processes int64) {
	t.Helper()
	got, want := map[string]int64{}, map[string]int64{}
	for _, q := range testbed.Record(t, server.TruthURL).Requests {
		if q.Operation == spec.ListLeadLists || q.Operation == spec.ListWebhookEvents {
			want[fmt.Sprint(q.Operation, q.Status)] += q.Count
		}
	}
	var planned int64
	for _, p := range r.Scenarios[0].Phases {
		planned += p.Planned
		for _, l := range p.Labels {
			operation, _, _ := strings.Cut(l.Name, " ")
			got[operation+"200"] += l.Accepted
		}
	}
	got[spec.ListLeadLists+"200"] += processes
	got[spec.ListWebhookEvents+"200"] += processes
	if fmt.Sprint(got) != fmt.Sprint(want) || planned != 2*rate*seconds || r.Verdict == reports.Failed {
		t.Errorf("%d planned, the run counts %v, the server %v; %s: %q", planned, got, want, r.Verdict, r.Reasons)
	}
	answer, err := http.Post(server.TruthURL+"/truth/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}

// What four workers send and measure is what one process sends and measures at
// the same total rate, and what the server has counted.
func TestSharedLoadIsTheLoadOfOne(t *testing.T) {
	testbed.SkipUnlessSlow(t)
	e := needSwarm(t)
	server := serving(t)
	profile := profile.Embedded()
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
	settings := filepath.Join(t.TempDir(), "settings.env")
	if err := os.WriteFile(settings, []byte("OUTREACH_TARGET="+server.BaseURL+"\nOUTREACH_TARGET_PROFILE=/profile/target.yaml\n"+
		"OUTREACH_SCENARIO_FILE=/plan.yaml\nOUTREACH_SEED=7\nOUTREACH_LAG_LIMIT="+lagLimit.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, stderr := e.script(t, ahead, append(documented(t, e, settings), "--config", "source="+e.name("plan")+",target=/plan.yaml")...)
	stdout, err := c.Output()
	if err != nil {
		t.Fatalf("fan-out: %v\n%s", err, stderr)
	}
	e.nothingLeft(t)
	parts, err := loadtest.ReadParts("fan-out", bytes.NewReader(stdout))
	if err != nil {
		t.Fatalf("%v\nthe workers say:\n%s", err, stderr)
	}
	merged := loadtest.Merge(parts, nil, nil).Results
	counted(t, server, merged, workers)

	scenarios, err := scenario.Parse("plan.yaml", []byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	o, err := loadtest.Run(t.Context(), loadtest.Config{Target: server, Scenarios: scenarios, ByName: true, Seed: 7, Terms: verdict.Terms{LagLimit: lagLimit}})
	if err != nil {
		t.Fatal(err)
	}
	counted(t, server, o.Results, 1)
	for i, one := range o.Results.Scenarios[0].Phases {
		m := merged.Scenarios[0].Phases[i]
		if m.Name != one.Name || m.Planned != one.Planned || m.RatePerSecond != one.RatePerSecond || len(m.Labels) != len(one.Labels) {
			t.Errorf("phase %d of the merged run is %q: %d at %v/s; of the single one %q: %d at %v/s", i, m.Name, m.Planned, m.RatePerSecond, one.Name, one.Planned, one.RatePerSecond)
		}
		for k, x := range m.Response.Accepted.Quantiles {
			y := one.Response.Accepted.Quantiles[k]
			t.Logf("phase %s p%v: merged %.2f ms (%.2f to %.2f), single %.2f ms (%.2f to %.2f)", m.Name, 100*x.P, x.ValueMS, x.LowMS, x.HighMS, y.ValueMS, y.LowMS, y.HighMS)
		}
	}
	if r := loadtest.Merge(parts[1:], nil, nil).Results; r.Verdict != reports.Inconclusive || !strings.Contains(strings.Join(r.Reasons, "\n"), "is missing") {
		t.Errorf("without a shard: %s %q", r.Verdict, r.Reasons)
	}
}

// The script ends if its workers fail, if somebody interrupts it or removes its service. It
// leaves nothing behind.
func TestFanOutEndsEarly_long(t *testing.T) {
	e := needSwarm(t)
	for name, tc := range map[string]struct {
		scenario string
		stop     func(script *exec.Cmd) // once all workers run; nil for workers that fail
		fails    bool
		says     string
	}{
		"failed workers": {"no-such-scenario", nil, false, ""},
		"interrupted":    {"list-throughput", func(c *exec.Cmd) { _ = c.Process.Signal(syscall.SIGTERM) }, true, ""},
		"no service": {"list-throughput", func(*exec.Cmd) {
			docker(t, append([]string{"service", "rm"}, e.labelled(t, "service")...)...)
		}, true, "no longer shows the tasks of the service"},
	} {
		t.Run(name, func(t *testing.T) {
			c, output := e.script(t, time.Hour, "--env", "OUTREACH_TARGET="+serving(t).BaseURL, "--env", "OUTREACH_SCENARIO="+tc.scenario, "--env", "OUTREACH_SEED=7")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			late := time.After(patience)
			for running := 0; tc.stop != nil && running < workers; running = len(e.containers(t, "--filter", "status=running")) {
				select {
				case err := <-ended:
					t.Fatalf("fan-out has ended: %v\n%s", err, output)
				case <-late:
					t.Fatal("the workers do not come up")
				case <-time.After(100 * time.Millisecond):
				}
			}
			if tc.stop != nil {
				tc.stop(c)
			}
			select {
			case err := <-ended:
				if (err != nil) != tc.fails || !strings.Contains(output.String(), tc.says) {
					t.Errorf("%v: it says %q, want %q", err, output, tc.says)
				}
			case <-late:
				t.Fatal("fan-out does not end")
			}
			e.nothingLeft(t)
		})
	}
}

// script returns fan-out for workers that start after this delay.
func (e engine) script(t *testing.T, ahead time.Duration, options ...string) (c *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	c = exec.CommandContext(t.Context(), "./fan-out", append([]string{fmt.Sprint(workers), testbed.Image(t), "--label", e.label, "--container-label", e.label, "--no-resolve-image", "--network", "host"}, options...)...)
	c.Env = append(os.Environ(), "OUTREACH_START_AT="+time.Now().Add(ahead).UTC().Format(time.RFC3339))
	stderr = &bytes.Buffer{}
	c.Stderr = stderr
	return c, stderr
}

// containers returns the containers of the service on this machine. Other tests run
// containers of the same image.
func (e engine) containers(t *testing.T, filter ...string) []string {
	t.Helper()
	return strings.Fields(docker(t, append([]string{"ps", "--all", "--quiet", "--filter", "label=" + e.label}, filter...)...))
}

// nothingLeft checks that the service and its containers are gone. A busy engine may take
// minutes to remove them.
func (e engine) nothingLeft(t *testing.T) {
	t.Helper()
	left := e.containers(t)
	for deadline := time.Now().Add(2 * time.Minute); len(left) > 0 && time.Now().Before(deadline); left = e.containers(t) {
		docker(t, "version") // a round trip to the engine, which has other things to do
	}
	if services := e.labelled(t, "service"); len(left)+len(services) > 0 {
		t.Errorf("fan-out leaves containers %q and services %q behind", left, services)
	}
}

// documented returns the options of fan-out from docs/fan-out.md, with the
// names and the file of this test.
func documented(t *testing.T, e engine, settings string) []string {
	t.Helper()
	document, err := os.ReadFile("../../docs/fan-out.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^loadtest/swarm/fan-out \d+ \S+ ([^|]*) \|`).FindSubmatch(document)
	if line == nil {
		t.Fatal("docs/fan-out.md does not show how to use fan-out")
	}
	here := strings.NewReplacer("load-profile", e.name("profile"), "server-key-main", e.name("key"), "settings.env", settings)
	return strings.Fields(here.Replace(string(line[1])))
}

// engine is the Docker engine of this machine, in a swarm that it manages.
type engine struct {
	label string // of what this test makes, as key=value
}

// needSwarm returns the engine in its swarm, or in a new one that is left when
// the test ends. Without Docker it skips the test; with
// OUTREACH_REQUIRE_DOCKER=1 it fails.
func needSwarm(t *testing.T) engine {
	t.Helper()
	testbed.NeedDocker(t, func(ctx context.Context) error { return exec.CommandContext(ctx, "docker", "version").Run() })
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	e := engine{label: fmt.Sprintf("%s=%s %d@%s %s", testbed.RunLabel, uuid.NewString(), os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))}
	switch {
	case docker(t, "info", "--format", "{{.Swarm.LocalNodeState}}") == "inactive":
		docker(t, "swarm", "init", "--advertise-addr", "127.0.0.1", "--listen-addr", "127.0.0.1:2377")
		t.Cleanup(func() { testbed.ForgetNames(t, func() { docker(t, "swarm", "leave", "--force") }) })
	case docker(t, "info", "--format", "{{.Swarm.ControlAvailable}}") != "true":
		t.Skip("this machine is in a swarm that it does not manage")
	}
	t.Cleanup(func() {
		for _, kind := range []string{"service", "config", "secret"} {
			if ids := e.labelled(t, kind); len(ids) > 0 {
				docker(t, append([]string{kind, "rm"}, ids...)...)
			}
		}
	})
	return e
}

// labelled returns the resources of this test, of a kind.
func (e engine) labelled(t *testing.T, kind string) []string {
	t.Helper()
	return strings.Fields(docker(t, kind, "ls", "--quiet", "--filter", "label="+e.label))
}

// store stores a file in the swarm as a config or a secret.
func (e engine) store(t *testing.T, kind, name, text string) {
	t.Helper()
	create := exec.Command("docker", kind, "create", "--label", e.label, name, "-")
	create.Stdin = strings.NewReader(text + "\n")
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("docker %s create %s: %v\n%s", kind, name, err, out)
	}
}

// name returns the name of a config or secret of this test.
func (e engine) name(of string) string { return fmt.Sprintf("outreach-%s-%d", of, os.Getpid()) }

// docker runs the docker command and returns its output.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "docker", args...).CombinedOutput()
	if err != nil {
		t.Errorf("docker %v: %v\n%s", args, err, out) // no end yet: what is there must go
	}
	return strings.TrimSpace(string(out))
}
