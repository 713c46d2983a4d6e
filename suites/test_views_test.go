package suites

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"
)

// A field that few tests have is in the sample, and a null is no value.
func TestSampleHasEachField(t *testing.T) {
	g := gomega.NewWithT(t)
	rows := map[string]map[string]any{}
	for i := range 40 {
		rows[fmt.Sprintf("%02d", i)] = map[string]any{"name": "x", "description": nil, "undocumented": i}
	}
	rows["01"]["description"], rows["02"]["description"] = "x", "y"
	g.Expect(sampleOf("InboxPlacementTest", rows, 4)).To(gomega.Equal([]string{"00", "10", "20", "30", "01"}))
	g.Expect(sampleOf("InboxPlacementTest", rows, 40)).To(gomega.HaveLen(40))
}
