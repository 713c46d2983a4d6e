package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/suites/runner"
)

// The files in the output directory that hold a verdict.
const (
	resultsFile = "results.json"
	junitFile   = "junit.xml"
)

// forget removes the verdict that an earlier run left in the directory: a run
// that ends before it has judged must not leave an old pass for CI to read.
// Files that no run wrote stay.
func forget(dir string) error {
	var failed []error
	for name, isOurs := range map[string]func(io.Reader) bool{resultsFile: isResults, junitFile: isJUnit} {
		path := filepath.Join(dir, name)
		if ours(path, isOurs) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = append(failed, fmt.Errorf("remove the results of an earlier run: %w", err))
			}
		}
	}
	return errors.Join(failed...)
}

// ours reports whether path is a regular file that is recognised.
func ours(path string, isOurs func(io.Reader) bool) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // it was only read
	return isOurs(io.LimitReader(file, reports.MaxSize))
}

// isResults recognises results of whatever version by the tool that they name.
func isResults(r io.Reader) bool {
	var results struct {
		Tool struct {
			Name string `json:"name"`
		} `json:"tool"`
	}
	return json.NewDecoder(r).Decode(&results) == nil && results.Tool.Name == runner.Name
}

// isJUnit recognises a JUnit report by the name of its first suite.
func isJUnit(r io.Reader) bool {
	for decoder := xml.NewDecoder(r); ; {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		if element, ok := token.(xml.StartElement); ok && element.Name.Local == "testsuite" {
			for _, a := range element.Attr {
				if a.Name.Local == "name" {
					return a.Value == runner.Name
				}
			}
			return false
		}
	}
}

// forgetUnread forgets for a run whose command line could not be read, so that
// nothing was judged: it looks for the output directory, which has a default, as
// far as that can be made out.
func forgetUnread(args []string, getenv func(string) string, standard string, forget func(dir string) error) error {
	dir := getenv(variable("output"))
	for i, arg := range args {
		for _, flag := range []string{"--output", "-o"} {
			value, given := strings.CutPrefix(arg, flag)
			switch {
			case !given:
			case value == "" && i+1 < len(args):
				dir = args[i+1]
			case strings.HasPrefix(value, "="):
				dir = value[1:]
			case flag == "-o":
				dir = value
			}
		}
	}
	if dir == "" {
		dir = standard
	}
	named := func(arg string) bool { return strings.Contains(arg, filepath.Join(dir, loadFile)) }
	if slices.ContainsFunc(args, named) || named(getenv(variable("baseline"))) || named(getenv(variable("threshold"))) {
		return nil // it may be the baseline
	}
	return forget(dir)
}
