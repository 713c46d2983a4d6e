package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
)

// The profile's thresholds are for every load run: those on figures that a run
// does not have are none of its business, and those that its flags say again
// hold once.
func TestThresholdsOfTheProfileAreForAllRuns_long(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	base, _ := servingBuilt(t)
	p := profile.Embedded()
	p.BaseURL, p.Load = base, &profile.LoadUse{Thresholds: []string{
		"p50<20s", "quick: errors<1%", "soak: p50<1us", "sustained>=100000/s", "depth<1.1x",
	}}
	profile := written(t, "server.yaml", string(must[[]byte](t)(p.YAML(""))))
	e, r := loaded(t, 0, "--target-profile", profile, "--threshold", "p50<20s", "--threshold", "max<20s")
	g.Expect(r.Verdict).To(Equal(reports.Passed), "%s", e)
	var held []string
	for _, one := range r.Scenarios[0].Thresholds {
		held = append(held, one.Text)
	}
	g.Expect(held).To(ConsistOf("p50<20s", "quick: errors<1%", "max<20s"))
}
