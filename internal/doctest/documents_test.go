// Package doctest keeps the documents true. Its tests generate figures and
// sample output, verify links and names, and bound the length of pages and
// sentences. It has no code of its own, and nothing imports it.
package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// A document is a file with its text.
type document struct {
	path string // from the root of the repository
	text string
}

// documents returns the README, the other documents beside it, and the pages in docs.
func documents(t *testing.T) []document {
	t.Helper()
	var all []document
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) < 3 {
			t.Fatalf("%d documents match %s: the tests look in the wrong place: %v", len(paths), pattern, err)
		}
		for _, path := range paths {
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, document{name, read(t, name)})
		}
	}
	return all
}

// sources returns the Go files of the module, without tests.
func sources(t *testing.T) []document {
	t.Helper()
	var all []document
	err := filepath.WalkDir(root, func(path string, file fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case file.IsDir() && (name == "tools" || name == ".ci" || name == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			all = append(all, document{name, read(t, name)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
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

// A check returns what is wrong with a document.
type check func(document) []string

// everywhere runs a check on all documents.
func everywhere(t *testing.T, wrong check) {
	t.Helper()
	for _, d := range documents(t) {
		for _, problem := range wrong(d) {
			t.Errorf("%s: %s", d.path, problem)
		}
	}
}

// damaged runs a check on documents in which something is wrong: it must say so,
// in words that match. It must accept the sound text.
func damaged(t *testing.T, wrong check, path, sound string, broken map[string]string) {
	t.Helper()
	if problems := wrong(document{path, sound}); len(problems) > 0 {
		t.Errorf("the check refuses a sound document: %q", problems)
	}
	for text, words := range broken {
		problems := wrong(document{path, text})
		if len(problems) != 1 || !strings.Contains(problems[0], words) {
			t.Errorf("the check says %q about the damaged document %.200q, want one problem with %q", problems, text, words)
		}
	}
}

var fencedBlock = regexp.MustCompile("(?ms)^```(\\w*)\n.*?^```$\n?")

// withoutOutput removes what only shows the output of a program.
func withoutOutput(text string) string {
	return fencedBlock.ReplaceAllStringFunc(text, func(block string) string {
		if strings.HasPrefix(block, "```text\n") {
			return ""
		}
		return block
	})
}

// withoutCode removes all fenced blocks.
func withoutCode(text string) string { return fencedBlock.ReplaceAllString(text, "") }
