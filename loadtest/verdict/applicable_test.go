package verdict

import (
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/loadtest/threshold"
)

// chosen returns what a run of these built-in scenarios can be judged by.
func chosen(t *testing.T, names ...string) Applicable {
	t.Helper()
	picked, err := scenario.Select(scenario.Builtin(), names)
	if err != nil {
		t.Fatal(err)
	}
	return Applicable{Chosen: picked, Known: scenario.Builtin()}
}

// A threshold that the run can never evaluate, or that every run meets, is an error.
// It names what there is instead.
func TestThresholdsThatNeverDecide(t *testing.T) {
	for text, says := range map[string]string{
		"p99<1s":                   "",
		"soak: p99<1s":             "",
		"p99<1s@300/s":             "no phase runs at 300/s: ",
		"mixed: p99<1s":            "scenario mixed is not selected (selected: page-depth, soak)",
		"soaks: p99<1s":            "unknown scenario soaks",
		"sustained>=10/s":          "no selected scenario has this figure (page-depth, soak)",
		"depth<2x":                 "",
		"[lead-list.list]: p99<1s": `no request is labelled "lead-list.list"`,
		"worse<10%":                "no baseline (name the load.json of an earlier run",
		"worse<10% vs a.json":      "",
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			given, err := threshold.ParseAll([]string{text})
			g.Expect(err).NotTo(HaveOccurred())
			err = chosen(t, "soak", "page-depth").Check(given)
			if says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(HavePrefix("--threshold "), ContainSubstring(says))))
		})
	}
	g := NewWithT(t)
	given, err := threshold.ParseAll([]string{"worse<100% vs a.json"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(chosen(t, "sustained-rate").Check(given)).To(MatchError(ContainSubstring(scenario.EveryRunMeets)))
}

// The profile's thresholds serve every run. Those for other runs are skipped. Those
// for no run are errors.
func TestThresholdsOfTheProfile(t *testing.T) {
	g := NewWithT(t)
	given, err := threshold.ParseAll([]string{"max<20s"})
	g.Expect(err).NotTo(HaveOccurred())
	a := chosen(t, "mixed")
	merged, skipped, err := a.Merge([]string{"p50<20s", "soak: p50<1us", "sustained>=100000/s", "worse<10%"}, given)
	g.Expect(err).To(MatchError(ContainSubstring(`load.thresholds[3] in the profile: "worse<10%": no baseline`)))
	g.Expect(skipped).To(Equal([]string{"soak: p50<1us", "sustained>=100000/s"}))
	g.Expect(merged).To(HaveExactElements(HaveField("Text", "p50<20s"), HaveField("Text", "max<20s")))

	_, _, err = a.Merge([]string{"p50<", "lists: p50<1s"}, nil)
	g.Expect(err).To(MatchError(And(ContainSubstring("load.thresholds[0] in the profile: "), ContainSubstring("load.thresholds[1] in the profile: \"lists: p50<1s\": unknown scenario lists"))))

	a.Baseline = true
	_, _, err = a.Merge([]string{"p50<20s"}, given)
	g.Expect(err).To(MatchError(HavePrefix("--baseline: no threshold uses it")))
	_, _, err = a.Merge([]string{"worse<10%"}, given)
	g.Expect(err).NotTo(HaveOccurred())
}
