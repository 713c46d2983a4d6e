package testbed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

// NeedDocker skips the test, visibly, where no engine answers. With
// OUTREACH_REQUIRE_DOCKER=1 it fails instead.
func NeedDocker(t testing.TB, ask func(context.Context) error) {
	t.Helper()
	err := ask(t.Context())
	switch {
	case err == nil:
	case os.Getenv("OUTREACH_REQUIRE_DOCKER") == "1":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

// RunLabel is the label of everything that a run starts: its id and its owner.
const RunLabel = "outreach.example.run"

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
