package suites

import "testing"

// A walk in pages of many sizes takes few of them, and the last one holds one row.
func TestWalksOfManySizesTakeFewPages(t *testing.T) {
	for n := 2; n <= 500; n++ {
		sizes, pages, last := singlesAround(n, 8, 2, 7, 50, 10, 20, 25, 99), 0, 0
		for left := n; left > 0; left -= last {
			last = min(left, sizes(pages))
			pages++
		}
		if pages > 26 || last != 1 {
			t.Errorf("%d rows: %d pages, %d rows on the last", n, pages, last)
		}
	}
}
