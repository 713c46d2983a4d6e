package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

// The page of a server with every defect of one operation at once stays readable: few
// causes, the most specific first, and all details behind them.
func TestThePageOfEveryDefectOfAnOperation_long(t *testing.T) {
	g := NewWithT(t)
	_, address := begun(t, command(t, nil, "serve", "--addr", "127.0.0.1:0"), `^API +(http://127\.0\.0\.1:[0-9]+)`)
	base, err := url.Parse(address)
	g.Expect(err).NotTo(HaveOccurred())
	handler, defects := faults.Forwarding(base, http.DefaultTransport), 0
	for _, d := range faults.Defects() {
		if d.Breaks.Operation == spec.ListPhoneNumbers {
			handler = d.Apply(&faults.Target{Profile: profile.Embedded(), Seed: 1})(handler)
			defects++
		}
	}
	g.Expect(defects).To(BeNumerically(">", 100))
	faulty := httptest.NewServer(faults.Listening(handler))
	defer faulty.Close()

	dir := t.TempDir()
	exitsWith(t, 1, nil, "run", "--target", faulty.URL, "--operation", spec.ListPhoneNumbers, "--profile", "shape,scopes,read", "-o", dir)
	body, err := os.ReadFile(filepath.Join(dir, reportFile))
	g.Expect(err).NotTo(HaveOccurred())
	page := string(body)

	var parts []string
	for _, m := range regexp.MustCompile(`<h2 id="([a-z]+)"`).FindAllStringSubmatch(page, -1) {
		parts = append(parts, m[1])
	}
	g.Expect(parts).To(Equal([]string{"levels", "matrix", "causes", "missing", "accepted", "fingerprint", "traffic", "checks"}))
	causes := strings.Count(page, `<article class="cause"`)
	g.Expect(causes).To(And(BeNumerically(">", 2), BeNumerically("<", 40)), "causes, not %d defects", defects)
	g.Expect(strings.Count(page, "<details open><summary>The exchange")).To(Equal(causes), "each cause shows its exchange")
	g.Expect(len(page)).To(BeNumerically("<", 500_000))
	first := strings.Index(page, `id="cause-1"`)
	g.Expect(slices.IsSorted([]int{strings.Index(page, `id="causes"`), first, strings.Index(page, `class="cell`)})).To(BeTrue())
}
