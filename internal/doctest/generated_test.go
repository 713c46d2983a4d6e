package doctest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"outreach.example/conformance/internal/testbed"
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
			if testbed.RaceDetector && (name == "passed" || name == "load") {
				return part
			}
			should := write(t)
			if should == "" || same(name, is, should) {
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

// same reports whether two outputs differ only in what differs from run to run.
func same(name, is, should string) bool {
	is, should = timeless(is), timeless(should)
	return is == should || name == "load" && figureless(is) == figureless(should)
}

func TestStalePartsAreSeen(t *testing.T) {
	for _, c := range []struct {
		name, is, should string
		same             bool
	}{
		{"passed", "at 127.0.0.1:80, 12 requests in 1.2 s", "at 127.0.0.1:8025, 13 requests in 40 ms", true},
		{"passed", "run   a", "run   b", true},
		{"passed", "1,782 passed", "1,783 passed", false},
		{"passed", "pass", "fail", false},
		{"load", "p99  1.2–1.5  met", "p99 12.25 met", true},
		{"load", "p99  ≥1.5  met\n\n2–5 is a percentile between 2 and 5\n", "p99  –  met", true},
		{"load", "lag p99 820 µs, 5 late", "lag p99 1.2 s, 17 late", true},
		{"load", "p99  1.5  met", "p99  1.5  missed", false},
		{"load", "per request on 1 core", "per request on 16 cores", true},
		{"load", "steady  150  0.5–0.7  1.0–1.9  3.4\n\n2–5 is a percentile between 2 and 5\n\nreport", "steady  150  2.7    –  –\n\nreport", true},
		{"load", "steady  150  0.547  1.09", "steady  150  0.547", false},
		{"load", "steady  150  –", "steady  150  none", false},
	} {
		if same(c.name, c.is, c.should) != c.same {
			t.Errorf("%s: %q and %q: want same %t", c.name, c.is, c.should, c.same)
		}
	}
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
	// A walk may show a test that the spec creates meanwhile.
	{regexp.MustCompile(`seen [\d,]+ times in [\d,]+ assessments`), "seen N times in N assessments"},
	{regexp.MustCompile(`… and [\d,]+ more in`), "… and N more in"},
	{regexp.MustCompile(`(?m)^time: .*\n`), ""}, // only a long run says where its time went
}

func timeless(s string) string {
	for _, v := range volatile {
		s = v.pattern.ReplaceAllString(s, v.stands)
	}
	return s
}

// figure is a number or an interval with its unit, if that is a time or cores, or the dash of
// a figure that too few requests measured.
var figure = regexp.MustCompile(`≥?\d[\d,.]*(?:–\d[\d,.]*)?(?: (?:µs|ms|s|cores?)\b)?|\B–\B`)

// legend explains intervals, if there is one.
var legend = regexp.MustCompile(`(?m)^2–5 .*\n`)

// figureless is the output of a load run without its figures, which no two runs
// share, and without the widths of columns, which follow from them.
func figureless(s string) string {
	s = figure.ReplaceAllString(legend.ReplaceAllString(s, ""), " N ")
	return strings.Join(strings.Fields(s), " ")
}

// unshowable ends the test if the documents must be written. Otherwise it returns no
// part: other tests judge the outcome, which here depends on how busy the machine is.
func unshowable(t *testing.T, format string, args ...any) string {
	t.Helper()
	if *update {
		t.Fatalf(format, args...)
	}
	t.Logf(format, args...)
	return ""
}
