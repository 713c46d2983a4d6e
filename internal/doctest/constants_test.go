package doctest

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// stated are figures that documents state and that constants of the program
// decide: the words, and where the constant is and how it is written there.
var stated = []struct{ document, words, directory, constant, value string }{
	{"docs/load.md", "fewer than 99.5 % of", "loadtest/verdict", "leastSent", "0.995"},
	{"docs/load.md", "above 0.8 of what", "loadtest/measure", "NearCeiling", "0.8"},
	{"docs/load.md", "and to 10 requests in a row", "loadtest/generate", "leastUnanswered", "10"},
	{"docs/load.md", "more than 5 % of the requests", "loadtest/measure", "mostDisplaced", "0.05"},
	{"docs/load.md", "create them first, at most 1,000", "loadtest/prepare", "maxStock", "1000"},
	{"docs/load.md", "was idle for 100 ms", "loadtest/generate", "leastIdle", "100 * time.Millisecond"},
	{"docs/load.md", "bodies above 8 MiB", "internal/client", "DefaultMaxBody", "8 << 20"},
	{"docs/fan-out.md", "at most 24 hours", "cmd/outreach-conformance", "mostAhead", "24 * time.Hour"},
	{"docs/load.md", "is at most 0.01;", "loadtest/compare", "Level", "0.01"},
	{"docs/rate-limits.md", "more than 8,000 requests", "loadtest/infer", "mostBurst", "8000"},
	{"docs/rate-limits.md", "volleys of 50 requests", "internal/client", "volley", `"#[1-50]"`},
	{"docs/judge-a-server.md", "on which 5 requests in a row", "suites/runner", "maxUnanswered", "5"},
	{"docs/judge-a-server.md", "`pace.patience` (1 minute)", "fixtures/profile", "DefaultPatience", "time.Minute"},
	{"docs/safety.md", "has 5 s to", "internal/client", "settleTime", "5 * time.Second"},
	{"docs/safety.md", "its rollback 30 s", "internal/sandbox", "rollbackTimeout", "30 * time.Second"},
	{"docs/judge-a-server.md", "waits of 10 s and longer", "cmd/outreach-conformance", "longWait", "10 * time.Second"},
	{"docs/judge-a-server.md", "After 20 repeats without another response", "suites", "maxVain", "20"},
	{"docs/judge-a-server.md", "up to 2 kB of each response", "reports", "MaxBody", "2048"},
	{"docs/safety.md", "waits for at most 150 s", "internal/sandbox", "DefaultTimeout", "150 * time.Second"},
	{"docs/safety.md", "renewed for 2 minutes", "internal/sandbox", "MaxAge", "2 * time.Minute"},
	{"docs/safety.md", "renew it every 30 s", "internal/sandbox", "renewEvery", "MaxAge / 4"},
	{"docs/safety.md", "at most 10 pages", "internal/sandbox", "pagesBefore", "10"},
	{"docs/safety.md", "at most 2 s for a test", "fixtures/profile", "DefaultVisibility", "2 * time.Second"},
	{"docs/safety.md", "rollback may take 30 s", "internal/sandbox", "rollbackTimeout", "30 * time.Second"},
	{"docs/safety.md", "memory limit of Go to 160 MiB", "cmd/outreach-conformance", "softMemory", "160 << 20"},
	{"docs/safety.md", "share 96 MiB", "suites", "maxKept", "96 << 20"},
	{"docs/judge-a-server.md", "longer than 4 s", "internal/client", "IdleTimeout", "4 * time.Second"},
	{"docs/gate-a-pull-request.md", "90 days from now", "cmd/outreach-conformance", "expectedDays", "90"},
	{"docs/target-profile.md", "requests in flight, default 16", "fixtures/profile", "DefaultConcurrency", "16"},
	{"docs/target-profile.md", "of a request (default `30s`)", "fixtures/profile", "DefaultTimeout", "30 * time.Second"},
	{"docs/target-profile.md", "`timeout` (default `1m`)", "fixtures/profile", "DefaultWaitTimeout", "time.Minute"},
}

// constants returns the values of the constants in a directory and below, as
// they are written, by name.
func constants(t *testing.T, directory string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, pattern := range []string{"*.go", "*/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, directory, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.CONST {
					written(t, set, group, all)
				}
			}
		}
	}
	return all
}

// written adds the values of a group of constants.
func written(t *testing.T, set *token.FileSet, group *ast.GenDecl, all map[string][]string) {
	t.Helper()
	for _, s := range group.Specs {
		values := s.(*ast.ValueSpec)
		for i, name := range values.Names {
			if i >= len(values.Values) {
				continue // a further iota
			}
			var text bytes.Buffer
			if err := format.Node(&text, set, values.Values[i]); err != nil {
				t.Fatal(err)
			}
			all[name.Name] = append(all[name.Name], text.String())
		}
	}
}

// disagrees returns why a stated figure is not that of the program; "" if it is.
func disagrees(text, words, constant, value string, constants map[string][]string) string {
	if !strings.Contains(strings.Join(strings.Fields(text), " "), words) {
		return "the document does not say this any more: adapt the table of this test"
	}
	for _, written := range constants[constant] {
		if written == value {
			return ""
		}
	}
	return "the constant " + constant + " is " + strings.Join(constants[constant], ", ") + ", not " + value + ": adapt the document and the table of this test"
}

func TestFiguresAreThoseOfTheProgram(t *testing.T) {
	for _, s := range stated {
		if problem := disagrees(read(t, s.document), s.words, s.constant, s.value, constants(t, s.directory)); problem != "" {
			t.Errorf("%s, %q (%s): %s", s.document, s.words, s.directory, problem)
		}
	}
	known := map[string][]string{"most": {"7", "8"}}
	for _, c := range []struct {
		text, constant, value string
		agrees                bool
	}{
		{"It sends at\nmost 8 of them.", "most", "8", true},
		{"It sends at most 9 of them.", "most", "8", false},
		{"It sends at most 8 of them.", "most", "9", false},
		{"It sends at most 8 of them.", "least", "8", false},
	} {
		if got := disagrees(c.text, "at most 8", c.constant, c.value, known); (got == "") != c.agrees {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}
