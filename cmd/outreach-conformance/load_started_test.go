package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/xeipuuv/gojsonschema"

	"outreach.example/conformance/reports"
	"outreach.example/conformance/reports/load"
)

// quick is a scenario of a second, with as many requests as say something of a
// 99th percentile. Its name is the file's.
const quick = `scenarios:
  - name: quick
    about: The smallest page of one list, at one rate.
    kind: steady
    mix: {lead-lists.list: 1}
    page_sizes: [1]
    rate: 400
    duration: 1s
`

// loadResults are those that a load run has written into the directory. They
// are held against the committed JSON Schema, which others read them by.
func loadResults(t *testing.T, dir string) load.Results {
	t.Helper()
	file := filepath.Join(dir, defaultLoadOutput, loadFile)
	body := contents(t, file)
	judged, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(load.Schema()), gojsonschema.NewStringLoader(body))
	if err != nil {
		t.Fatal(err)
	}
	if !judged.Valid() {
		t.Errorf("%s is not valid against the schema: %v", file, judged.Errors())
	}
	return must[load.Results](t)(load.Read(file))
}

// An interrupted run leaves whole files of what it has measured.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	limits := strings.Replace(quick, "page_sizes: [1]", "page_sizes: [1, 10, 20, 50]", 1)
	c := spawn(t, nil, loadCommand, "--scenario-file", written(t, "limits.yaml", limits), "--lag-limit", "1h", "--raw", "--duration", "2s")
	// The line of a phase is written when the next one has begun.
	p, _ := begun(t, c, `^\[1/1\] (quick) limit=1 `)
	g.Expect(p.end(t, syscall.SIGINT)).To(Equal(exitInterrupted), "%s", p.output.bytes())
	g.Expect(string(p.output.bytes())).To(MatchRegexp(`\? INCONCLUSIVE \(interrupted\)  exit 130`))

	r := loadResults(t, c.Dir)
	g.Expect(r.Run.Interrupted).To(BeTrue())
	g.Expect(r.Verdict).To(Equal(reports.Inconclusive))
	g.Expect(r.Scenarios[0].Phases[0].Sent).To(BeEquivalentTo(800), "of the phase that was over")
}
