package suites

import (
	"testing"

	"outreach.example/conformance/internal/paging"
)

// Walks with small pages take few requests one after another, and their last page holds one row.
func TestWalksTakeFewPages(t *testing.T) {
	for n := 2; n <= 500; n++ {
		for name, sizes := range map[string]paging.Sizes{"leaving one": leavingOne(n), "single rows at both ends": singlesAtBothEnds(n)} {
			pages, last := 0, 0
			for left := n; left > 0; left -= last {
				last = min(left, sizes(pages))
				pages++
			}
			if pages > fewPages+3 || last != 1 {
				t.Errorf("%s of %d rows: %d pages, %d rows on the last", name, n, pages, last)
			}
		}
	}
}
