package testbed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// NeedDocker skips the test, visibly, where there is no engine to sweep. With
// OUTREACH_REQUIRE_DOCKER=1 it fails instead.
func NeedDocker(t testing.TB, sweep func(context.Context) error) {
	t.Helper()
	err := sweep(t.Context())
	switch {
	case err == nil:
	case os.Getenv("OUTREACH_REQUIRE_DOCKER") == "1":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

// Docker runs the docker command line, a witness apart from the code under test,
// and returns what it prints.
func Docker(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// names is the lock of the names by which containers find each other. An engine that leaves
// a swarm forgets them all, whatever the network.
func names() *flock.Flock {
	return flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("outreach-names-%d.lock", os.Getuid())))
}

// KeepNames lets the containers of the test find each other until it ends.
func KeepNames(t testing.TB) {
	t.Helper()
	lock := names()
	if err := lock.RLock(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
}

// ForgetNames runs what makes the engine forget names, while no test relies on them.
func ForgetNames(t testing.TB, run func()) {
	t.Helper()
	lock := names()
	if err := lock.Lock(); err != nil {
		t.Error(err) // it must be run nevertheless
	}
	defer func() { _ = lock.Close() }()
	run()
}

// RunLabel is the label of everything that a run starts: its id and its owner.
const RunLabel = "outreach.example.run"

// Labelled is something on the engine that a run has started.
type Labelled struct {
	Kind  string // container, network or image
	ID    string
	Label string
}

// AllLabelled returns what the engine has of all runs.
func AllLabelled(t testing.TB) (all []Labelled) {
	t.Helper()
	filter, format := "label="+RunLabel, fmt.Sprintf("{{.ID}} {{.Label %q}}", RunLabel)
	lists := map[string]string{
		"container": Docker(t, "ps", "--all", "--filter", filter, "--format", format),
		"network":   Docker(t, "network", "ls", "--filter", filter, "--format", format),
	}
	for id := range strings.FieldsSeq(Docker(t, "images", "--all", "--quiet", "--filter", filter)) {
		// Another test may remove its image meanwhile: that is none of the run.
		label, _ := exec.CommandContext(context.WithoutCancel(t.Context()), "docker", "image", "inspect", "--format", fmt.Sprintf("{{index .Config.Labels %q}}", RunLabel), id).Output()
		lists["image"] += id + " " + string(label)
	}
	for kind, lines := range lists {
		for line := range strings.Lines(lines) {
			id, label, _ := strings.Cut(strings.TrimSpace(line), " ")
			all = append(all, Labelled{kind, id, label})
		}
	}
	return all
}
