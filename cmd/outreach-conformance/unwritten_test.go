package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

// A file that cannot be written during the run is an error, and the summary names only
// files that exist.
func TestTheSummaryNamesNoFileThatIsNotThere_long(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args          []string
		lost, written string
	}{
		"results of a run": {[]string{runCommand, "--operation", "phone-numbers.list", "--requirement", "STATUS-200"}, resultsFile, junitFile},
		"results of load":  {[]string{loadCommand, "--scenario", "list-throughput", "--duration", "200ms", "--page-size", "1"}, loadFile, pageFile},
		"page of load":     {[]string{loadCommand, "--scenario", "list-throughput", "--duration", "200ms", "--page-size", "1"}, pageFile, loadFile},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			lost, once := filepath.Join(dir, tc.lost), sync.Once{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				once.Do(func() { g.Expect(os.MkdirAll(filepath.Join(lost, "in-the-way"), 0o755)).To(Succeed()) })
				w.WriteHeader(http.StatusInternalServerError)
			}))
			t.Cleanup(server.Close)
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), append(tc.args, "--target", server.URL, "-o", dir), &stdout, &stderr)
			g.Expect(code).To(BeElementOf(1, exitCannotTell), stderr.String())
			g.Expect(stderr.String()).To(ContainSubstring(lost))
			g.Expect(stdout.String()).NotTo(ContainSubstring(lost))
			g.Expect(filepath.Join(dir, tc.written)).To(BeARegularFile())
		})
	}
}

// If one file of a pass cannot be written, the others say that the run is not a pass.
func TestAPassThatCannotBeWrittenIsNone_long(t *testing.T) {
	t.Parallel()
	ofRun := map[string]string{resultsFile: `"verdict": "inconclusive"`, junitFile: "write the results: ", reportFile: "INCONCLUSIVE"}
	ofLoad := map[string]string{loadFile: `"verdict": "inconclusive"`, pageFile: "INCONCLUSIVE", loadJUnitFile: "after the load: "}
	for _, lost := range []string{resultsFile, reportFile, loadFile, pageFile, loadJUnitFile} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			says, args := ofLoad, []string{loadCommand, "--scenario", "list-throughput", "--rate", "400", "--duration", "1s", "--page-size", "1", "--lag-limit", "1h"}
			if ofRun[lost] != "" {
				says, args = ofRun, []string{runCommand, "--operation", "phone-numbers.list", "--requirement", "STATUS-200"}
			}
			g, dir, once := NewWithT(t), t.TempDir(), sync.Once{}
			base := servingBehind(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				once.Do(func() { g.Expect(os.MkdirAll(filepath.Join(dir, lost, "in-the-way"), 0o755)).To(Succeed()) })
				next.ServeHTTP(w, r)
			})
			e := exitsWith(t, exitCannotTell, nil, append(args, "--target", base, "--output", dir)...)
			g.Expect(e.stdout).To(ContainSubstring("? INCONCLUSIVE  exit 3 "))
			for file, text := range says {
				if file != lost {
					g.Expect(contents(t, filepath.Join(dir, file))).To(ContainSubstring(text), file)
				}
			}
		})
	}
}
