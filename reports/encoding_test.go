package reports_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/reports/internal/sample"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/reports/outputdir"
)

// Editors and redirects of Windows write a byte order mark.
func TestResultsWithAByteOrderMark(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "results.json")
	g.Expect(jsonfile.Run.Write(path, sample.Passed())).To(Succeed())
	plain, err := jsonfile.Run.Read(path)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(path, append([]byte("\ufeff"), text...), 0o600)).To(Succeed())
	g.Expect(jsonfile.Run.Read(path)).To(Equal(plain))
	g.Expect(outputdir.Forget(filepath.Dir(path), filepath.Base(path))).To(Succeed())
	g.Expect(path).NotTo(BeAnExistingFile())
}
