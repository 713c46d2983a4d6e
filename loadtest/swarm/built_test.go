//go:build unix

package swarm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"outreach.example/conformance/internal/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Tidying{Tests: m}.Run()) }

// command returns the built program without OUTREACH_ variables in its
// environment.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(testbed.Built(t), "bin", testbed.Program), args...)
	c.Env = testbed.Environment()
	return c
}
