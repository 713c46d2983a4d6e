//go:build unix

// Package swarm holds fan-out, the script that shares a load plan among workers
// on a Docker Swarm. Its tests show on a real engine that the merged parts equal
// what one process would have sent and measured.
//
// It has no Go code besides tests, and nothing imports it.
package swarm

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

const (
	workers = 4
	rate    = 200 // requests per second, of all workers together
	seconds = 4   // of each of two phases
	// planned is what all workers together are to send.
	planned = 2 * rate * seconds
	// ahead is how long before the start the workers are made: time enough for
	// them to come up and to calibrate themselves beside each other, also on a machine
	// that pauses for some seconds. A worker that comes up later sends nothing.
	ahead = 30 * time.Second
	// latencies are the server's: the percentiles that are compared lie well
	// inside of the shares.
	latencies = "60%:20ms,37%:50ms,3%:120ms"
	// lagLimit lets a busy machine send late, which alike looks at.
	lagLimit = "1s"
	// tooLate is the send lag, in milliseconds, beyond which they are not compared.
	tooLate = 10
	// patience bounds waiting for what takes a second or two.
	patience = 15 * time.Minute
)

// The lists are others than the one that the calibration looks at, and there is
// no warm-up: what the server counts for them is what the phases sent, and one
// request of each process beforehand.
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
	settings := written(t, "settings.env", "OUTREACH_TARGET="+server.base+"\nOUTREACH_TARGET_PROFILE=/profile/target.yaml\n"+
		"OUTREACH_SCENARIO_FILE=/plan.yaml\nOUTREACH_SEED=7\nOUTREACH_LAG_LIMIT="+lagLimit+"\n")
	parts := e.fanOut(t, workers, append(documented(t, e, settings), "--config", "source="+e.name("plan")+",target=/plan.yaml")...)
	merged := merge(t, parts)
	server.counted(t, merged, workers)

	server.forget(t)
	single := results(t, "load", "--target", server.base, "--scenario-file", written(t, "plan.yaml", plan), "--seed", "7", "--lag-limit", lagLimit)
	server.counted(t, single, 1)

	alike(t, merged, single)

	for what, c := range map[string]struct {
		parts []string
		want  string
	}{
		"missing": {parts[1:], "is missing"},
		"doubled": {append(slices.Clone(parts), parts[2]), "is present twice"},
	} {
		if r := merge(t, c.parts); r.Verdict != reports.Inconclusive || !strings.Contains(strings.Join(r.Reasons, "\n"), c.want) {
			t.Errorf("with a shard %s: %s %q, want inconclusive that says that it %s", what, r.Verdict, r.Reasons, c.want)
		}
	}
}

// Workers that fail end, say why, are not repeated, and leave nothing behind.
func TestFailedWorkersAreNotWaitedFor_long(t *testing.T) {
	e := needSwarm(t)
	e.fanOut(t, 0, "--env", "OUTREACH_SCENARIO=no-such-scenario")
}

// Whoever interrupts the script stops the load.
func TestInterruptedFanOutStopsTheWorkers_long(t *testing.T) {
	e := needSwarm(t)
	e.endsEarly(t, func(c *exec.Cmd) {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil { // SIGINT is ignored where a shell started this in the background
			t.Fatal(err)
		}
	})
}

// Whoever removes the service ends the script, too.
func TestFanOutWithoutItsServiceEnds_long(t *testing.T) {
	e := needSwarm(t)
	said := e.endsEarly(t, func(*exec.Cmd) {
		docker(t, append([]string{"service", "rm"}, e.labelled(t, e.label)["service"]...)...)
	})
	if want := "no longer shows the tasks of the service"; !strings.Contains(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
}

// endsEarly starts the script and stops it once all workers run. It must end with an
// error and leave nothing behind. endsEarly returns what it says.
func (e engine) endsEarly(t *testing.T, stop func(script *exec.Cmd)) string {
	t.Helper()
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
	stop(c)
	select {
	case err := <-ended:
		if err == nil {
			t.Errorf("fan-out ends as if it was done:\n%s", output)
		}
	case <-late:
		t.Fatal("fan-out does not end")
	}
	e.nothingLeft(t)
	return output.String()
}
