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

// What a document can name, and what it names it by. The tests of the command
// know the flags and the environment variables.
var (
	link       = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	unslugged  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	makeTarget = regexp.MustCompile("(?m)(?:`|^)make ([a-z-]+)")
	makeRule   = regexp.MustCompile(`(?m)^([a-z-]+):`)
	idPattern  = regexp.MustCompile("(?:--requirement |explain |requirement:)'?([A-Z][A-Z0-9_*.-]+)|`([A-Z][A-Z0-9_]*(?:-[A-Z0-9_.]+)+)`")
	goPackage  = regexp.MustCompile("(?:go (?:test|run|build|vet)|ginkgo)[^\n`]* (\\./[\\w./-]+)")
	codePath   = regexp.MustCompile("`((?:cmd|spec|suites|schemas|loadtest|fixtures|reports|internal|docs|tools)/[\\w./-]*)`")
)

// matches returns the first groups of all matches, without doubles.
func matches(pattern *regexp.Regexp, text string) []string {
	var found []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.Join(m[1:], ""))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// anchors returns the fragments under which the headings of a document are linked.
func anchors(text string) []string {
	var all []string
	for _, h := range matches(heading, withoutCode(text)) {
		h = unslugged.ReplaceAllString(strings.ToLower(h), "")
		all = append(all, "#"+strings.ReplaceAll(h, " ", "-"))
	}
	return all
}

// links verifies that each link of a document leads to a file, and to a heading
// of it if the link names one.
func links(d document) []string {
	var problems []string
	for _, m := range link.FindAllStringSubmatch(withoutOutput(d.text), -1) {
		file, anchor := m[1], m[2]
		if strings.Contains(file, "://") {
			continue
		}
		text := d.text
		if file != "" {
			path := filepath.Join(root, filepath.Dir(d.path), file)
			info, err := os.Stat(path)
			if err != nil {
				problems = append(problems, fmt.Sprintf("the link to %s: %v", file, err))
				continue
			}
			if anchor != "" && !info.IsDir() {
				read, err := os.ReadFile(path)
				if err != nil {
					problems = append(problems, err.Error())
				}
				text = string(read)
			}
		}
		if anchor != "" && !slices.Contains(anchors(text), anchor) {
			problems = append(problems, fmt.Sprintf("the link to %s%s: there is no such heading", file, anchor))
		}
	}
	return problems
}

func TestLinksLeadSomewhere(t *testing.T) {
	everywhere(t, links)
	damaged(t, links, "docs/x.md", "# A `b` c\n[x](load.md) [x](../README.md#exit-codes) [x](#a-b-c) [x](https://example.com/x#y)\n", map[string]string{
		"[x](no-such-file.md)":                        "no-such-file.md",
		"[x](../docs/load.md#no-heading)":             "no such heading",
		"[x](#nowhere)":                               "no such heading",
		"[x](load.md) [y](README.md)":                 "the link to README.md",
		"# A\n```sh\n# nowhere\n```\n[x](#nowhere)\n": "no such heading",
	})
}

// makeTargets verifies that the Makefile has each target that a document names.
func makeTargets(known []string) check {
	return func(d document) []string {
		var problems []string
		for _, target := range matches(makeTarget, d.text) {
			if !slices.Contains(known, target) {
				problems = append(problems, fmt.Sprintf("there is no make %s; the targets are %q", target, known))
			}
		}
		return problems
	}
}

func TestMakeTargetsExist(t *testing.T) {
	known := makeTargets(matches(makeRule, read(t, "Makefile")))
	everywhere(t, known)
	damaged(t, known, "README.md", "Run `make test`.\n```sh\nmake build\n```\n", map[string]string{
		"Run `make tset`.":           "make tset",
		"```sh\nmake biuld # x\n```": "make biuld",
	})
}

// ids verifies that the catalogue has each id or pattern that a document names.
func ids(d document) []string {
	var problems []string
	for _, id := range matches(idPattern, withoutOutput(d.text)) {
		if _, ok := spec.FindOpenPoint(id); ok {
			continue
		}
		if _, err := (runner.Selection{Requirements: []string{id}}).Pairs(); err != nil {
			problems = append(problems, fmt.Sprintf("the id %s: %v", id, err))
		}
	}
	return problems
}

func TestIDsExist(t *testing.T) {
	everywhere(t, ids)
	damaged(t, ids, "README.md", "`STATUS-200`, `SILENT-DEFAULT-LIMIT`, --requirement 'PAGE-*', explain PAGE-WALK-ONCE", map[string]string{
		"`STATUS-2000`":          "STATUS-2000",
		"`SILENT-NOTHING`":       "SILENT-NOTHING",
		"--requirement 'PAEG-*'": "PAEG-*",
		"explain PAGE-WALK-TWO":  "PAGE-WALK-TWO",
	})
}

// paths verifies that each package of a command line and each path in code exists.
func paths(d document) []string {
	text := withoutOutput(d.text)
	var problems []string
	for _, path := range append(matches(goPackage, text), matches(codePath, text)...) {
		if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(path, "..."))); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

func TestPathsExist(t *testing.T) {
	everywhere(t, paths)
	damaged(t, paths, "README.md", "`spec/doc.go` `suites/` `go test ./suites -run X`\n```sh\nginkgo -v ./suites\n```\n", map[string]string{
		"`spec/no-such-file.go`":            "no-such-file.go",
		"`go test -v ./walk`":               "walk",
		"```sh\nginkgo -v ./harness\n```\n": "harness",
	})
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
