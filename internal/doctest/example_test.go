package doctest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"outreach.example/conformance/internal/testbed"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestGoExampleRuns_long compiles the Go code of docs/go-and-ginkgo.md as a package of
// its own and runs some of its specs, that of the example included.
func TestGoExampleRuns_long(t *testing.T) {
	block := goBlock.FindStringSubmatch(read(t, "docs/go-and-ginkgo.md"))
	if block == nil {
		t.Fatal("docs/go-and-ginkgo.md shows no Go code")
	}
	dir := t.TempDir()
	code, overlay, binary := filepath.Join(dir, "code.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "example")
	place, err := filepath.Abs(filepath.Join("testdata", "example", "conformance_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {place: code}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{code: block[1], overlay: string(replaced)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// go vet does not know overlays of directories that do not exist.
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-c", "-o", binary, "-overlay", overlay, "./testdata/example").CombinedOutput(); err != nil {
		t.Fatalf("the example does not compile: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "-ginkgo.label-filter=operation:phone-numbers.list && (observation || group:shape)", "-ginkgo.no-color", "-ginkgo.v")
	run.Dir = dir
	run.Env = testbed.Environment()
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "does not name its software") || !strings.Contains(string(out), "answers in the documented shape") {
		t.Errorf("the example fails: %v\n%s", err, out)
	}
}
