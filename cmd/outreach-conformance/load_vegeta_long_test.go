package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// The released vegeta program, of the version in tools/go.mod, reads both encodings back
// and counts the same.
func TestTheReleasedVegetaReadsRawResults_long(t *testing.T) {
	g := NewWithT(t)
	vegeta := filepath.Join(t.TempDir(), "vegeta")
	build := exec.Command("go", "build", "-o", vegeta, "github.com/tsenart/vegeta/v12")
	build.Dir = filepath.Join(repository, "tools")
	said, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", said)
	e, _ := loaded(t, 0, "--raw=vegeta,jsonl", "--threshold", "p99<20s")
	var reports []any
	for _, name := range []string{rawFile, rawLinesFile} {
		var report struct {
			Requests    int
			StatusCodes map[string]int `json:"status_codes"`
			Latencies   map[string]float64
		}
		body, err := exec.Command(vegeta, "report", "-type", "json", filepath.Join(e.dir, defaultLoadOutput, name)).Output()
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(json.Unmarshal(body, &report)).To(Succeed())
		g.Expect(report.Requests).To(Equal(400), name)
		g.Expect(report.StatusCodes).To(Equal(map[string]int{"200": 400}), name)
		reports = append(reports, report)
	}
	g.Expect(reports[0]).To(Equal(reports[1]))
}
