package loadtest_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"text/tabwriter"

	"outreach.example/conformance/internal/testbed"
	"outreach.example/conformance/loadtest"
	"outreach.example/conformance/loadtest/scenario"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

var capacitiesTried = flag.Int("capacities", 0, "of how many known capacities the sustained rate is searched; 0: of none")

// knownCapacities are rates that a server serves, in requests per second.
var knownCapacities = []int{90, 378, 150, 240, 450, 520, 120, 300, 650, 800}

// TestSearchOfKnownCapacities searches the sustained rate of servers that serve a known
// number of requests a second, and prints what it found. make nightly runs it.
func TestSearchOfKnownCapacities(t *testing.T) {
	if *capacitiesTried == 0 {
		t.Skip("it takes most of a minute for each capacity: make nightly runs it")
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer func() { _ = table.Flush() }()
	_, _ = fmt.Fprintln(table, "capacity/s\tfound/s\tshare\tnot at/s\trates tried\tseconds\t")
	for _, capacity := range knownCapacities[:min(*capacitiesTried, len(knownCapacities))] {
		server := served(t, "", fmt.Sprintf("capacity=%d/1s", capacity))
		chosen, err := scenario.Select(scenario.Builtin(), []string{"sustained-rate"})
		if err != nil {
			t.Fatal(err)
		}
		chosen[0].Mix, chosen[0].Limits = map[string]int{spec.ListLeadLists: 1}, []int{1}
		o, err := loadtest.Run(t.Context(), loadtest.Config{Target: server, Scenarios: chosen, ByName: true, Seed: 1, Calibrator: testbed.Again(t, nullServer)})
		if err != nil {
			t.Fatal(err)
		}
		s := o.Results.Scenarios[0]
		found := s.Sustained
		share := found.RatePerSecond / float64(capacity)
		_, _ = fmt.Fprintf(table, "%d\t%.0f\t%.0f %%\t%.0f\t%d\t%.0f\t\n", capacity, found.RatePerSecond, 100*share, found.HighPerSecond, len(found.Knee), s.Seconds)
		if s.Verdict != reports.Passed || share < 0.95 || share > 1.03 {
			t.Errorf("capacity %d/s: %s, %.0f/s found, want at least 95 %%: %q %q", capacity, s.Verdict, found.RatePerSecond, s.Reasons, s.Notes)
		}
	}
}
