package outputdir

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outreach.example/conformance/reports"
)

func TestLinksMustStayWithin(t *testing.T) {
	for name, tc := range map[string]struct {
		to      string // of the link results.json
		allowed bool
	}{
		"to a file beside it":       {"other.json", true},
		"to nothing beside it":      {"absent.json", true},
		"to a file in a directory":  {"sub/file.json", true},
		"to a file outside":         {"../precious", false},
		"to nothing outside":        {"../absent", false},
		"to a file by another way":  {"sub/../../precious", false},
		"to itself":                 {"results.json", false},
		"to a directory outside":    {"..", false},
		"to a device":               {"/dev/null", false},
		"through a link that leads": {"way/precious", false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "out")
			if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"precious", "out/other.json", "out/sub/file.json"} {
				if err := os.WriteFile(filepath.Join(root, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for link, to := range map[string]string{"way": "..", "results.json": tc.to} {
				if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			err := Prepare(dir, "results.json", "junit.xml")
			if tc.allowed && err != nil || !tc.allowed && (err == nil || !strings.Contains(err.Error(), "leads out")) {
				t.Errorf("allowed %t: %v", tc.allowed, err)
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(dir, "results.json"); err != nil {
		t.Errorf("the directory itself may be a link: %v", err)
	}
}

// Only files with the name of this program in them are its own.
func FuzzRecognise(f *testing.F) {
	for _, seed := range []string{`{"tool":{"name":"outreach-conformance"}}`, `{"tool":[]}`, `<testsuite name="outreach-conformance">`, `<!DOCTYPE x [<!ENTITY a "b">]><testsuites><testsuite name="&a;">`, "\x00", "<", `<meta name="generator" content="outreach-conformance">`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		named := bytes.Contains(text, []byte(reports.ToolName)) || bytes.ContainsAny(text, "\\&")
		if (isResults(bytes.NewReader(text)) || isJUnit(bytes.NewReader(text)) || isPage(bytes.NewReader(text))) && !named {
			t.Errorf("%q counts as a file of this program", text)
		}
	})
}
