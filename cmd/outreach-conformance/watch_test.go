package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/refserver"
	"outreach.example/conformance/fixtures/target"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/jsonfile"
	"outreach.example/conformance/spec"
)

// onLine is an output that calls a function for each line.
type onLine struct {
	mu   sync.Mutex
	text bytes.Buffer
	call func(line string)
}

func (o *onLine) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for line := range strings.Lines(string(b)) {
		o.call(line)
	}
	return o.text.Write(b)
}

// --watch repeats what failed, shows what changed, and ends with a full run. Trouble
// that only a full run finds starts it again.
func TestWatchLastsUntilTheServerIsFixed_long(t *testing.T) {
	g := NewWithT(t)
	// The server loses its lists of labels, then those of lists, then neither.
	var broken atomic.Value
	broken.Store(spec.ListLeadLabels)
	breaking := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if op, _, ok := spec.MatchOperation(r.Method, r.URL.Path); ok && op.ID == broken.Load() {
				http.Error(w, "out of order", http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	server, err := target.Embedded(t.Context(), dataset.DefaultOptions(), refserver.Options{Middleware: []func(http.Handler) http.Handler{breaking}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = server.Close(t.Context()) })
	stdout := &onLine{call: func(line string) {
		switch {
		case strings.HasPrefix(line, "round 2  ") && broken.Load() == spec.ListLeadLabels:
			broken.Store(spec.ListLeadLists)
		case strings.HasPrefix(line, "round 1  ") && broken.Load() == spec.ListLeadLists:
			broken.Store("")
		}
	}}
	var stderr bytes.Buffer
	output := filepath.Join(t.TempDir(), "watched")
	code := execute(t.Context(), []string{runCommand, "--watch", "--target", server.BaseURL, "--output", output,
		"--requirement", "STATUS-200", "--operation", spec.ListLeadLabels + "," + spec.ListLeadLists}, stdout, &stderr)
	text := stdout.text.String()
	g.Expect(code).To(BeZero(), "%s%s", text, &stderr)
	g.Expect(strings.Count(text, "watching 1 failed check: a round each second until they pass (Ctrl-C ends)\n")).To(Equal(2), text)
	g.Expect(text).To(ContainSubstring("round 2  still failing: 1 of 1\nround 3  still failing: 0 of 1\n  STATUS-200 on lead-labels.list: pass\n\nnone of them fails: a full run decides\n"))
	g.Expect(text).To(ContainSubstring("round 2  still failing: 0 of 1\n  STATUS-200 on lead-lists.list: pass\n"))
	g.Expect(text).To(HaveSuffix("checks passed, 0 not assessed\n"))
	results, err := jsonfile.Run.Read(filepath.Join(output, resultsFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results.Verdict).To(Equal(reports.Passed))
	g.Expect(results.Run.Selection).NotTo(ContainSubstring("only-failed"))
}
