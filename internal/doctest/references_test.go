package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
)

// What a document can name, and what it names it by.
var (
	fencedOutput = regexp.MustCompile("(?s)```text\n.*?```")
	linkTarget   = regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	flagName     = regexp.MustCompile(`(?:^|[\s'"\x60(\[])--([a-z][a-z-]*)`)
	makeTarget   = regexp.MustCompile("(?m)(?:`|^)make ([a-z-]+)")
	idPattern    = regexp.MustCompile("(?:--requirement|explain) '?([A-Z][A-Z0-9_*.-]+)|`([A-Z][A-Z0-9_]*(?:-[A-Z0-9_.]+)+)`")

	// dockerCall is a command line of another program; one of docker's up to where
	// the image's own arguments begin.
	dockerCall     = regexp.MustCompile(`(?m)^(?:docker|kubectl|loadtest/swarm/fan-out) .*?(?: outreach-conformance\b|$)`)
	flagDefinition = regexp.MustCompile(`flags\.[A-Za-z0-9]+\(&[\w.]+, "([a-z-]+)"`)
	makeRule       = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

// documents returns the text of each document, by its path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"../../*.md", "../../docs/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			all[path] = fencedOutput.ReplaceAllString(read(t, path), "")
		}
	}
	if len(all) < 4 {
		t.Fatalf("%d documents: the tests look in the wrong place", len(all))
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// matches returns the first groups of all matches, without doubles.
func matches(pattern *regexp.Regexp, text string) []string {
	var found []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.Join(m[1:], ""))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestLinksLeadSomewhere(t *testing.T) {
	for path, text := range documents(t) {
		for _, link := range matches(linkTarget, text) {
			if strings.Contains(link, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), link)); err != nil {
				t.Errorf("%s links to %s: %v", path, link, err)
			}
		}
	}
}

// flags returns the names of the flags of all commands.
func flags(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob("../../cmd/outreach-conformance/*.go")
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"help", "version"}
	for _, source := range sources {
		known = append(known, matches(flagDefinition, read(t, source))...)
	}
	slices.Sort(known)
	return slices.Compact(known)
}

func TestFlagsExist(t *testing.T) {
	known := flags(t)
	for path, text := range documents(t) {
		for _, flag := range matches(flagName, dockerCall.ReplaceAllString(text, "")) {
			if !slices.Contains(known, flag) {
				t.Errorf("%s names --%s; the flags are %q", path, flag, known)
			}
		}
	}
}

func TestMakeTargetsExist(t *testing.T) {
	known := matches(makeRule, read(t, "../../Makefile"))
	for path, text := range documents(t) {
		for _, target := range matches(makeTarget, text) {
			if !slices.Contains(known, target) {
				t.Errorf("%s names make %s; the targets are %q", path, target, known)
			}
		}
	}
}

func TestIDsExist(t *testing.T) {
	for path, text := range documents(t) {
		for _, id := range matches(idPattern, text) {
			if _, ok := spec.FindSilence(id); ok {
				continue
			}
			if _, err := (runner.Selection{Requirements: []string{id}}).Pairs(); err != nil {
				t.Errorf("%s names %s: %v", path, id, err)
			}
		}
	}
}

func TestSampleProfileIsValid(t *testing.T) {
	const path = "../../docs/target-profile.yaml"
	p, err := profile.Parse(path, []byte(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Keys) == 0 || len(p.Workspaces) == 0 || len(p.Parameters) == 0 || p.RateLimit == nil {
		t.Errorf("%s shows too little: %+v", path, p)
	}
}

func TestParametersAreListed(t *testing.T) {
	text, embedded := read(t, "../../docs/target-profile.md"), profile.Embedded()
	for _, op := range spec.Operations() {
		for _, meaning := range profile.Meanings(op.ID) {
			name, _ := embedded.Parameter(op.ID, meaning)
			if row := fmt.Sprintf("| `%s` | `%s` | `%s` |", op.ID, meaning, name); !strings.Contains(text, row) {
				t.Errorf("target-profile.md lacks the row %s", row)
			}
		}
	}
}
