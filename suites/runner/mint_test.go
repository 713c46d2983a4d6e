package runner

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
)

// A mint command that takes too long says nothing of the target: the run is inconclusive, and
// the command is the reason. One that makes no such key leaves a check unassessed.
func TestMintCommandsThatTakeTooLong(t *testing.T) {
	for command, verdict := range map[string]reports.Verdict{"exec sleep 600": reports.Inconclusive, "exit 1": reports.Passed} {
		g := NewWithT(t)
		server := embedded(t)
		described := *server.Profile
		described.Keys = slices.DeleteFunc(slices.Clone(described.Keys), func(k profile.Key) bool { return slices.Contains(k.Scopes, "lead-labels:read") })
		described.Mint = &profile.Mint{Command: []string{"sh", "-c", command, "mint"}, Timeout: 20 * time.Millisecond} // scopes follow
		if verdict == reports.Passed {
			described.Mint.Timeout = time.Minute
		}
		path := filepath.Join(t.TempDir(), "profile.yaml")
		g.Expect(described.Write(path, "")).To(Succeed())
		var err error
		server.Profile, err = profile.Load(path)
		g.Expect(err).NotTo(HaveOccurred())
		server.Profile.Keys = described.Keys // the file names variables
		results := judged(t, t.Context(), Config{Target: server, Selection: Selection{Requirements: []string{"SCOPE-EXACT", "STATUS-200"}, Operations: []string{spec.ListLeadLabels}}})
		g.Expect(results.Verdict).To(Equal(verdict), "%s: %v", command, results.Reasons)
		if verdict == reports.Inconclusive {
			g.Expect(results.Reasons[0]).To(And(HavePrefix("the mint command failed for key minted-main-"), ContainSubstring("it took longer than 20ms")))
		}
	}
}
