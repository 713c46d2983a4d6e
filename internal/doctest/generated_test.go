package doctest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the stale generated parts of the documents")

// parts write what stands between <!-- generated: NAME --> and <!-- end --> in
// the documents. A part is empty if this machine is too busy to make it.
var parts = map[string]func(*testing.T) string{
	"figures":  figures,
	"profiles": profiles,
	"passed":   passedRun,
	"failed":   failedRun,
	"load":     loadRun,
}

var generated = regexp.MustCompile(`(?s)(<!-- generated: ([a-z]+) -->\n)(.*?)(<!-- end -->)`)

func TestGeneratedPartsAreFresh(t *testing.T) {
	found := map[string]bool{}
	for _, d := range documents(t) {
		fresh := generated.ReplaceAllStringFunc(d.text, func(part string) string {
			match := generated.FindStringSubmatch(part)
			name, is := match[2], match[3]
			write := parts[name]
			if write == nil || found[name] {
				t.Fatalf("%s has a generated part %q that nothing generates or that stands twice", d.path, name)
			}
			found[name] = true
			should := write(t)
			if should == "" || is == should || strings.HasPrefix(should, "```text") && words(is) == words(should) {
				return part
			}
			if !*update {
				t.Errorf("%s: the part %q is stale: run make generate; it should be\n%s", d.path, name, should)
			}
			return match[1] + should + match[4]
		})
		if *update && fresh != d.text {
			if err := os.WriteFile(filepath.Join(root, d.path), []byte(fresh), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name := range parts {
		if !found[name] {
			t.Errorf("the documents have lost the generated part %q", name)
		}
	}
}

// volatile is what differs from run to run: lines about the run and where its time went, and the
// figures. No two runs share these, nor the widths of columns, which follow from them.
var volatile = regexp.MustCompile(`(?m)^(?:run|harness|time:|2–5) .*$|127\.0\.0\.1:\d+|≥?\d[\d,.]*(?:–\d[\d,.]*)?(?: (?:µs|ms|s|cores?)\b)?|\B–\B`)

// words returns the output of a run without what differs from run to run.
func words(s string) string {
	return strings.Join(strings.Fields(volatile.ReplaceAllString(s, " ")), " ")
}
