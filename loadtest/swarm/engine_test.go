//go:build unix

package swarm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"outreach.example/conformance/fixtures/target/container"
	"outreach.example/conformance/internal/testbed"
)

// swarmMark is a config that marks a swarm made by a test.
const swarmMark = "outreach-swarm-test"

// engine is the Docker engine of this machine, in a swarm that it manages.
type engine struct {
	label string // of what this test makes, as key=value
}

// needSwarm returns the engine in its swarm, or in a new one that is left when
// the test ends. Without Docker it skips the test; with
// OUTREACH_REQUIRE_DOCKER=1 it fails.
func needSwarm(t *testing.T) engine {
	t.Helper()
	testbed.NeedDocker(t, container.Sweep)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	e := engine{label: fmt.Sprintf("%s=%s %d@%s %s", testbed.RunLabel, uuid.NewString(), os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))}
	e.sweep(t)
	if docker(t, "info", "--format", "{{.Swarm.LocalNodeState}}") == "inactive" {
		e.join(t)
	} else if docker(t, "info", "--format", "{{.Swarm.ControlAvailable}}") != "true" {
		t.Skip("this machine is in a swarm that it does not manage")
	}
	t.Cleanup(func() {
		for kind, ids := range e.labelled(t, e.label) {
			docker(t, append([]string{kind, "rm"}, ids...)...)
		}
	})
	return e
}

// bridge is a network that an engine creates when it joins a swarm, and keeps.
const bridge = "docker_gwbridge"

// join creates a swarm of this machine only, closed to the network, and marks
// it as the test's.
func (e engine) join(t *testing.T) {
	t.Helper()
	before := docker(t, "network", "ls", "--quiet", "--filter", "name="+bridge)
	docker(t, "swarm", "init", "--advertise-addr", "127.0.0.1", "--listen-addr", "127.0.0.1:2377")
	t.Cleanup(func() {
		leave(t)
		if before == "" {
			removeBridge(t)
		}
	})
	e.store(t, "config", swarmMark, "")
}

// removeBridge removes the bridge. The engine takes the endpoints of a swarm away only some time
// after it has left the swarm.
func removeBridge(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		out, err := exec.Command("docker", "network", "rm", bridge).CombinedOutput()
		switch {
		case err == nil:
			return
		case time.Now().After(deadline) || !strings.Contains(string(out), "active endpoints"):
			t.Errorf("docker network rm: %v\n%s", err, out)
			return
		}
	}
}

func leave(t *testing.T) {
	t.Helper()
	testbed.ForgetNames(t, func() { docker(t, "swarm", "leave", "--force") })
}

// managed reports whether this machine manages a swarm.
func managed(t *testing.T) bool {
	t.Helper()
	return docker(t, "info", "--format", "{{.Swarm.ControlAvailable}}") == "true"
}

// maker returns the label of the test that made the swarm, or "".
func maker(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("docker", "config", "ls", "--filter", "name="+swarmMark, "--format", `{{.Label "`+testbed.RunLabel+`"}}`).Output()
	if err != nil && managed(t) {
		t.Fatalf("docker config ls: %v", err)
	}
	return strings.TrimSpace(string(out)) // without a swarm, which its maker may have left meanwhile, nobody
}

// otherRunTakes is how long to wait for another run of this test, in another checkout.
const otherRunTakes = 10 * time.Minute

// sweep removes what a killed test left, including the swarm. It waits for another run
// of this test that uses its swarm.
func (e engine) sweep(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(otherRunTakes); managed(t) && alive(maker(t)); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("another run of this test uses the swarm that it made (%s)", maker(t))
		}
	}
	if !managed(t) {
		return
	}
	if maker(t) != "" {
		leave(t)
		return
	}
	for kind, ids := range e.labelled(t, testbed.RunLabel) {
		for _, id := range ids {
			if label := docker(t, kind, "inspect", "--format", `{{index .Spec.Labels "`+testbed.RunLabel+`"}}`, id); !alive(label) {
				docker(t, kind, "rm", id)
			}
		}
	}
}

// labelled returns the resources with the label, by kind.
func (e engine) labelled(t *testing.T, label string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, kind := range []string{"service", "config", "secret"} {
		if ids := strings.Fields(docker(t, kind, "ls", "--quiet", "--filter", "label="+label)); len(ids) > 0 {
			found[kind] = ids
		}
	}
	return found
}

// alive reports whether the process named by a label runs on this machine.
func alive(label string) bool {
	_, owner, _ := strings.Cut(label, " ")
	number, _, _ := strings.Cut(owner, "@")
	pid, err := strconv.Atoi(number)
	return err == nil && pid > 0 && syscall.Kill(pid, 0) == nil
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
