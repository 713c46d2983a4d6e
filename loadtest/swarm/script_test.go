//go:build unix

package swarm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"outreach.example/conformance/internal/testbed"
)

// script returns fan-out for workers that start after this delay.
func (e engine) script(t *testing.T, ahead time.Duration, options ...string) (c *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	c = exec.CommandContext(t.Context(), "./fan-out", append([]string{fmt.Sprint(workers), testbed.Image(t), "--label", e.label, "--container-label", e.label, "--no-resolve-image", "--network", "host"}, options...)...)
	c.Env = append(os.Environ(), "OUTREACH_START_AT="+time.Now().Add(ahead).UTC().Format(time.RFC3339))
	stderr = &bytes.Buffer{}
	c.Stderr = stderr
	return c, stderr
}

// fanOut runs the script to its end and returns the printed parts, which must be so many.
func (e engine) fanOut(t *testing.T, want int, options ...string) []string {
	t.Helper()
	c, stderr := e.script(t, ahead, options...)
	stdout, err := c.Output()
	if err != nil {
		t.Fatalf("fan-out: %v\n%s", err, stderr)
	}
	e.nothingLeft(t)
	parts := lines(string(stdout))
	if len(parts) != want {
		t.Fatalf("%d parts instead of %d: %.200q\nthe workers say:\n%s", len(parts), want, parts, stderr)
	}
	return parts
}

// containers returns the containers of the service on this machine. Other tests run
// containers of the same image.
func (e engine) containers(t *testing.T, filter ...string) []string {
	t.Helper()
	return lines(docker(t, append([]string{"ps", "--all", "--quiet", "--filter", "label=" + e.label}, filter...)...))
}

// removalTakes is how long a busy engine may take to remove a container.
const removalTakes = 2 * time.Minute

// nothingLeft checks that the service and its containers are gone.
func (e engine) nothingLeft(t *testing.T) {
	t.Helper()
	if left := docker(t, "service", "ls", "--quiet", "--filter", "label="+e.label); left != "" {
		t.Errorf("fan-out leaves a service behind: %s", left)
	}
	// The engine may still be removing them.
	left := e.containers(t)
	for deadline := time.Now().Add(removalTakes); len(left) > 0 && time.Now().Before(deadline); left = e.containers(t) {
		docker(t, "version") // a round trip to the engine, which has other things to do
	}
	if len(left) > 0 {
		t.Errorf("fan-out leaves containers behind: %q", left)
		docker(t, append([]string{"rm", "--force"}, left...)...)
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
