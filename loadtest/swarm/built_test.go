package swarm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

const program = "outreach-conformance"

// built is the directory with the static program below bin and the Dockerfile of
// the repository, made once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "outreach-swarm-")
	if err != nil {
		return "", err
	}
	leftToTidy = append(leftToTidy, func() { _ = os.RemoveAll(dir) })
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "bin", program), "../../cmd/"+program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		return dir, err
	}
	return dir, os.WriteFile(filepath.Join(dir, "Dockerfile"), dockerfile, 0o600)
})

// builtImage is the image of the program, made once.
var builtImage = sync.OnceValues(func() (string, error) {
	dir, err := built()
	if err != nil {
		return "", err
	}
	tag := "outreach-conformance-test:" + uuid.NewString()
	if out, err := exec.Command("docker", "build", "--quiet", "--tag", tag, dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	leftToTidy = append(leftToTidy, func() { _ = exec.Command("docker", "rmi", "--force", tag).Run() })
	return tag, nil
})

// leftToTidy removes what was built, when all tests have ended.
var leftToTidy []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, remove := range leftToTidy {
		remove()
	}
	os.Exit(code)
}

func image(t *testing.T) string {
	t.Helper()
	tag, err := builtImage()
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

// command is the built program with no variables of ours in its environment.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(dir, "bin", program), args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "OUTREACH_") {
			c.Env = append(c.Env, variable)
		}
	}
	return c
}
