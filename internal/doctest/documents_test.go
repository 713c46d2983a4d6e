// Package doctest keeps the documents true. Its tests generate figures and
// sample output, verify links and names, and bound the length of pages and
// sentences. It has no code of its own, and nothing imports it.
package doctest

import (
	"fmt"
	"io/fs"
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

const root = "../.."

// A document is a file with its text.
type document struct {
	path string // from the root of the repository
	text string
}

// files returns the files of the repository that choose accepts. Other modules are left out.
func files(t *testing.T, choose func(path string) bool) []document {
	t.Helper()
	var all []document
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, file fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file.IsDir() && (path == "tools" || path == ".ci" || path == ".git" || path == "bin"):
			return fs.SkipDir
		case !file.IsDir() && choose(path):
			all = append(all, document{path, read(t, path)})
		}
		return nil
	})
	if err != nil || len(all) < 10 {
		t.Fatalf("%d files: the tests look in the wrong place: %v", len(all), err)
	}
	return all
}

// documents returns the README, the other documents beside it, and the pages in docs.
func documents(t *testing.T) []document {
	t.Helper()
	return files(t, func(path string) bool {
		return filepath.Ext(path) == ".md" && (filepath.Dir(path) == "." || filepath.Dir(path) == "docs")
	})
}

// read returns the text of a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What a document can name, and what it names it by. The tests of the command
// know the flags and the environment variables.
var (
	output     = regexp.MustCompile("(?ms)^```text\n.*?^```$\n?")
	code       = regexp.MustCompile("(?ms)^```(\\w*)\n.*?^```$\n?")
	link       = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	unslugged  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	makeTarget = regexp.MustCompile("(?m)(?:`|^)make ([a-z-]+)")
	idPattern  = regexp.MustCompile("(?:--requirement |explain |requirement:)'?([A-Z][A-Z0-9_*.-]+)|`([A-Z][A-Z0-9_]*(?:-[A-Z0-9_.]+)+)`")
	goPackage  = regexp.MustCompile("(?:go (?:test|run|build|vet)|ginkgo)[^\n`]* (\\./[\\w./-]+)")
	codePath   = regexp.MustCompile("`((?:cmd|spec|suites|schemas|loadtest|fixtures|reports|internal|docs|tools)/[\\w./-]*)`")
)

// named returns the first groups of all matches outside of shown output.
func (d document) named(pattern *regexp.Regexp) []string {
	var found []string
	for _, m := range pattern.FindAllStringSubmatch(output.ReplaceAllString(d.text, ""), -1) {
		found = append(found, strings.Join(m[1:], ""))
	}
	return found
}

// links returns what is wrong with the links of a document: to a file that is absent, or to a
// heading that it does not have.
func (d document) links() (problems []string) {
	for _, m := range link.FindAllStringSubmatch(output.ReplaceAllString(d.text, ""), -1) {
		file, anchor := m[1], m[2]
		if strings.Contains(file, "://") {
			continue
		}
		text := []byte(d.text)
		if file != "" {
			path := filepath.Join(root, filepath.Dir(d.path), file)
			info, err := os.Stat(path)
			if err == nil && !info.IsDir() {
				text, err = os.ReadFile(path)
			}
			if err != nil {
				problems = append(problems, fmt.Sprintf("the link to %s: %v", file, err))
				continue
			}
		}
		var anchors []string
		for _, h := range heading.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			anchors = append(anchors, "#"+strings.ReplaceAll(unslugged.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
		}
		if anchor != "" && !slices.Contains(anchors, anchor) {
			problems = append(problems, fmt.Sprintf("the link to %s%s: there is no such heading", file, anchor))
		}
	}
	return problems
}

// names returns what a document names that does not exist: targets of make, ids of the
// catalogue, packages and files.
func (d document) names(makefile string) (problems []string) {
	for _, target := range d.named(makeTarget) {
		if !strings.Contains(makefile, "\n"+target+":") {
			problems = append(problems, "there is no make "+target)
		}
	}
	for _, id := range d.named(idPattern) {
		if _, open := spec.FindOpenPoint(id); open {
			continue
		}
		if _, err := (runner.Selection{Requirements: []string{id}}).Pairs(); err != nil {
			problems = append(problems, fmt.Sprintf("the id %s: %v", id, err))
		}
	}
	for _, path := range slices.Concat(d.named(goPackage), d.named(codePath)) {
		if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(path, "..."))); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

func TestDocumentsNameWhatExists(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, d := range documents(t) {
		for _, problem := range slices.Concat(d.links(), d.names(makefile)) {
			t.Errorf("%s: %s", d.path, problem)
		}
	}
	sound := document{"docs/x.md", "# A `b` c\n[x](load.md) [x](../README.md#exit-codes) [x](#a-b-c) [x](https://example.com/x#y)\n" +
		"`make test`, `STATUS-200`, --requirement 'PAGE-*', explain PAGE-WALK-ONCE, `spec/doc.go`, `go test ./suites -run X`\n"}
	if problems := slices.Concat(sound.links(), sound.names(makefile)); len(problems) > 0 {
		t.Errorf("a sound document: %q", problems)
	}
	for _, text := range []string{"[x](no-such-file.md)", "[x](../docs/load.md#no-heading)", "# A\n```sh\n# nowhere\n```\n[x](#nowhere)\n", "Run `make tset`.", "```sh\nmake biuld # x\n```",
		"`STATUS-2000`", "--requirement 'PAEG-*'", "explain PAGE-WALK-TWO", "`spec/no-such-file.go`", "```sh\nginkgo -v ./harness\n```\n"} {
		if d := (document{"docs/x.md", text}); len(d.links())+len(d.names(makefile)) != 1 {
			t.Errorf("nothing is wrong with %q", text)
		}
	}
}

func TestSampleProfileIsValid(t *testing.T) {
	const path = "docs/target-profile.yaml"
	p, err := profile.Parse(path, []byte(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Keys) == 0 || len(p.Workspaces) == 0 || len(p.Parameters) == 0 || p.RateLimit == nil {
		t.Errorf("%s shows too little: %+v", path, p)
	}
}

func TestParametersAreListed(t *testing.T) {
	text, embedded := read(t, "docs/target-profile.md"), profile.Embedded()
	for _, op := range spec.Operations() {
		for _, param := range profile.Params(op.ID) {
			name, _ := embedded.Parameter(op.ID, param)
			if row := fmt.Sprintf("| `%s` | `%s` | `%s` |", op.ID, param, name); !strings.Contains(text, row) {
				t.Errorf("target-profile.md lacks the row %s", row)
			}
		}
	}
}

// exit is what lets text leave the process.
var exit = regexp.MustCompile(`\b(os\.(WriteFile|Create|OpenFile|Stdout|Stderr)|disk\.OpenFile)\b`)

// outside are no part of the program: generators of Go files and schemas, and test helpers.
var outside = regexp.MustCompile(`^(schemas|spec|fixtures/profile)/generate\.go$|^internal/testbed/|_test\.go$`)

// exits are the files that use one without redact.Process on the same line, with the
// reason why no key leaves there.
var exits = map[string]string{
	"cmd/outreach-conformance/main.go":        "execute redacts both outputs",
	"cmd/outreach-conformance/target_open.go": "the containers' log gets a redacting writer",
	"cmd/outreach-conformance/run.go":         "the recorder redacts each entry",
	"reports/publish/publish.go":              "the job summary gets a redacting writer",
	"loadtest/raw.go":                         "the raw results get a redacting writer",
	"fixtures/profile/parse.go":               "the schema of profiles is a constant",
	"internal/disk/replace.go":                "Replace redacts the file before it renames it",
	"internal/disk/open.go":                   "its callers are in this list",
	"internal/redact/writer.go":               "it is the gate",
	"internal/sandbox/journal.go":             "each entry is redacted before it is written",
	"loadtest/generate/calibrate.go":          "the child is this program, which redacts its output",
}

// Whatever leaves the process passes the gate of internal/redact.
func TestEverythingThatLeavesIsRedacted(t *testing.T) {
	used := map[string]bool{}
	for _, source := range files(t, func(path string) bool { return filepath.Ext(path) == ".go" && !outside.MatchString(path) }) {
		for line := range strings.Lines(source.text) {
			if !exit.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "redact.Process") {
				continue
			}
			if used[source.path] = true; exits[source.path] == "" {
				t.Errorf("%s lets text leave without redaction: %s", source.path, strings.TrimSpace(line))
			}
		}
	}
	for name := range exits {
		if !used[name] {
			t.Errorf("%s is no exit any more: remove it from the list", name)
		}
	}
}
