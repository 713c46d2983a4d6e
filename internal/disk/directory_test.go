package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

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
		g, root := NewWithT(t), t.TempDir()
		dir := filepath.Join(root, "out")
		g.Expect(os.MkdirAll(filepath.Join(dir, "sub"), 0o700)).To(Succeed())
		for _, file := range []string{"precious", "out/other.json", "out/sub/file.json"} {
			g.Expect(os.WriteFile(filepath.Join(root, file), nil, 0o600)).To(Succeed())
		}
		g.Expect(os.Symlink("..", filepath.Join(dir, "way"))).To(Succeed())
		g.Expect(os.Symlink(tc.to, filepath.Join(dir, "results.json"))).To(Succeed())
		err := Prepare(dir, "results.json", "junit.xml")
		if tc.allowed {
			g.Expect(err).NotTo(HaveOccurred(), name)
		} else {
			g.Expect(err).To(MatchError(ContainSubstring("leads out")), name)
		}
	}
	dir := filepath.Join(t.TempDir(), "linked")
	NewWithT(t).Expect(os.Symlink(t.TempDir(), dir)).To(Succeed())
	NewWithT(t).Expect(Prepare(dir, "results.json")).To(Succeed(), "the directory itself may be a link")
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
