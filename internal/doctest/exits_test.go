package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// exit is what lets text leave the process.
var exit = regexp.MustCompile(`\bos\.(WriteFile|Create|OpenFile|Stdout|Stderr)\b`)

// exits are the files that use one without redact.Process on the same line, with the
// reason why no key leaves there.
var exits = map[string]string{
	"cmd/outreach-conformance/main.go":     "execute redacts both outputs",
	"cmd/outreach-conformance/start.go":    "the containers' log gets a redacting writer",
	"cmd/outreach-conformance/github.go":   "the job summary gets a redacting writer",
	"cmd/outreach-conformance/load_raw.go": "the raw results get a redacting writer",
	"fixtures/profile/parse.go":            "the schema of profiles is a constant",
	"internal/atomicfile/atomicfile.go":    "Replace redacts the file before it renames it",
	"internal/redact/writer.go":            "it is the gate",
	"internal/sandbox/journal/journal.go":  "each entry is redacted before it is written",
	"loadtest/generate/calibrate.go":       "the child is this program, which redacts its output",
}

// Whatever leaves the process passes the gate of internal/redact.
func TestEverythingThatLeavesIsRedacted(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, file fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if file.IsDir() {
			if name == "tools" || name == ".ci" || name == "internal/testbed" || file.Name() == "generate" && !strings.HasPrefix(name, "loadtest") || file.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(source)) {
			if !exit.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "redact.Process") {
				continue
			}
			if strings.Contains(line, "(temporary") { // what atomicfile.Replace redacts
				continue
			}
			if used[name] = true; exits[name] == "" {
				t.Errorf("%s lets text leave without redaction: %s", name, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range exits {
		if !used[name] {
			t.Errorf("%s is no exit any more: remove it from the list", name)
		}
	}
}
