package swarm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"outreach.example/conformance/internal/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Tidying{Tests: m}.Run()) }

// command returns the built program without OUTREACH_ variables in its
// environment.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(testbed.Built(t), "bin", testbed.Program), args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "OUTREACH_") {
			c.Env = append(c.Env, variable)
		}
	}
	return c
}
