package doctest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"outreach.example/conformance/internal/testbed"
)

var update = flag.Bool("update", false, "rewrite the stale generated parts of README.md")

const readme = "../../README.md"

// parts are what stands between <!-- generated: NAME --> and <!-- end --> in
// README.md.
var parts = map[string]func(*testing.T) string{
	"figures":  figures,
	"profiles": profiles,
	"layout":   layout,
	"passed":   passedRun,
	"failed":   failedRun,
	"load":     loadRun,
	"selftest": selftestFigures,
}

var generated = regexp.MustCompile(`(?s)(<!-- generated: ([a-z]+) -->\n)(.*?)(<!-- end -->)`)

func TestReadmeIsFresh(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	fresh := generated.ReplaceAllFunc(text, func(part []byte) []byte {
		match := generated.FindSubmatch(part)
		name, is := string(match[2]), string(match[3])
		write := parts[name]
		if write == nil {
			t.Fatalf("README.md has a generated part %q that nothing generates", name)
		}
		found[name] = true
		if testbed.RaceDetector && (name == "passed" || name == "load") {
			return part
		}
		should := write(t)
		if timeless(is) == timeless(should) || name == "load" && figureless(timeless(is)) == figureless(timeless(should)) {
			return part
		}
		if !*update {
			t.Errorf("the part %q is stale: run make generate; it should be\n%s", name, should)
		}
		return fmt.Appendf(nil, "%s%s%s", match[1], should, match[4])
	})
	for name := range parts {
		if !found[name] {
			t.Errorf("README.md has lost its generated part %q", name)
		}
	}
	if *update && !bytes.Equal(fresh, text) {
		if err := os.WriteFile(readme, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// part returns what stands in README.md as the generated part of that name.
func part(t *testing.T, name string) string {
	t.Helper()
	for _, match := range generated.FindAllStringSubmatch(read(t, readme), -1) {
		if match[2] == name {
			return match[3]
		}
	}
	t.Fatalf("README.md has no generated part %q", name)
	return ""
}

// volatile is what differs from run to run, and what stands in its place when
// two outputs are compared.
var volatile = []struct {
	pattern *regexp.Regexp
	stands  string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`(?m)^run  .*$`), "run  ID, TIME"},
	{regexp.MustCompile(`(?m)^harness  .*$`), "harness  VERSION"},
	{regexp.MustCompile(`[\d,]+ requests in [\d.]+ m?s`), "N requests in T"},
}

func timeless(s string) string {
	for _, v := range volatile {
		s = v.pattern.ReplaceAllString(s, v.stands)
	}
	return s
}

// figure is one with the mark of a sample that is too small.
var figure = regexp.MustCompile(`\d[\d,.]*\??`)

// figureless is the output of a load run without its figures, which no two runs
// share, and so without the columns that follow from their widths.
func figureless(s string) string {
	return strings.Join(strings.Fields(figure.ReplaceAllString(s, " N ")), " ")
}
