package suites

import (
	"strings"
	"testing"
)

// Ginkgo prints the name and the labels of a spec above each of its failures.
func TestHeadersAreShort(t *testing.T) {
	for _, s := range Tree.Specs() {
		if header := s.Name() + " [" + strings.Join(s.Labels(), ", ") + "]"; len(header) > 200 {
			t.Errorf("%d characters: %s", len(header), header)
		}
	}
}
