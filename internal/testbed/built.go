package testbed

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// Program is the name of what Built makes below bin.
const Program = "outreach-conformance"

// Built is the directory with what is built once for all tests of a package: the
// program below bin, and the Dockerfile of the repository. TestMain must run its
// tests by Tidying.
func Built(t testing.TB) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Image is the tag of the Dockerfile's image, built once for all tests of a
// package. TestMain must run its tests by Tidying.
func Image(t testing.TB) string {
	t.Helper()
	tag, err := image()
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

var built = sync.OnceValues(func() (string, error) {
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	repository := filepath.Dir(strings.TrimSpace(string(module)))
	dir, err := os.MkdirTemp("", "outreach-built-")
	if err != nil {
		return "", err
	}
	leftToTidy = append(leftToTidy, func() { _ = os.RemoveAll(dir) })
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "bin", Program), "./cmd/"+Program)
	build.Dir, build.Env = repository, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	dockerfile, err := os.ReadFile(filepath.Join(repository, "Dockerfile"))
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "Dockerfile"), dockerfile, 0o600)
})

var image = sync.OnceValues(func() (string, error) {
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

// leftToTidy removes what was built.
var leftToTidy []func()

// Tidying are the tests of a package, and then the removal of what was built for
// them.
type Tidying struct{ Tests *testing.M }

// Run isolates the tests from the calling process and returns their exit code. Such
// tests mostly wait for programs that wait themselves, so two run on each core.
func (t Tidying) Run() int {
	isolate()
	// Ginkgo refuses to run if the flag was given, so only its value is set.
	if err := flag.Lookup("test.parallel").Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	defer func() {
		for _, remove := range slices.Backward(leftToTidy) {
			remove()
		}
	}()
	return t.Tests.Run()
}
