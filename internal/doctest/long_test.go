package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var long = regexp.MustCompile(`(?m)^LONG = \^\((\S+)\)\$\$\nLONG_PACKAGES = (.+)$`)

// TestLongTestsRun verifies that make long runs each test that make test and make race
// leave out: the packages that it names, and no others, have these tests.
func TestLongTestsRun(t *testing.T) {
	lists := long.FindStringSubmatch(read(t, "Makefile"))
	if lists == nil {
		t.Fatal("the Makefile lists no long tests")
	}
	places := map[string][]string{} // name of a test → packages
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		inRoot, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, test := range testFunction.FindAllStringSubmatch(read(t, inRoot), -1) {
			places[test[1]] = append(places[test[1]], "./"+filepath.ToSlash(filepath.Dir(inRoot)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(lists[2])
	for name := range strings.SplitSeq(lists[1], "|") {
		if len(places[name]) == 0 {
			t.Errorf("the Makefile names %s, which no package has", name)
		}
		for _, place := range places[name] {
			if !slices.Contains(packages, place) {
				t.Errorf("make test leaves %s of %s out, and make long does not run it", name, place)
			}
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
