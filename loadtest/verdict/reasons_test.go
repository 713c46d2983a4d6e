package verdict

import (
	"fmt"
	"strings"
	"testing"

	"outreach.example/conformance/loadtest/measure"
)

// The same problem in many phases is one reason, with the count and the phases.
func TestReasonsOfOneCauseAreMerged(t *testing.T) {
	phases := func(n int) Share {
		var all []measure.Recording
		for i := range n {
			rec := made(1000, map[int]int{200: 900 - i, 500: 100 + i})
			rec.Name = fmt.Sprintf("limit=%d", i+1)
			all = append(all, rec)
		}
		return shareOf(all...)
	}
	for n, want := range map[int]string{
		1:  ", not below 1 %",
		2:  ", not below 1 %; and 1 more: limit=2 (10.1 %)",
		3:  ", not below 1 %; and 2 more: limit=2 (10.1 %), limit=3 (10.2 %)",
		12: "; and 11 more: limit=2 (10.1 %), limit=3 (10.2 %), limit=4 (10.3 %), limit=5 (10.4 %), limit=6 (10.5 %), limit=7 (10.6 %), limit=8 (10.7 %), limit=9 (10.8 %), …",
	} {
		o := judgedOf(t, []string{"errors<1%"}, phases(n))
		if len(o.Reasons) != 1 || !strings.HasSuffix(o.Reasons[0], want) || strings.HasPrefix(o.Reasons[0], "limit=1: errors<1% missed: ") != (n > 1) {
			t.Errorf("%d phases: %q, want one that ends with %q", n, o.Reasons, want)
		}
		if len(o.Thresholds) != n {
			t.Errorf("%d thresholds are listed, want one for each of %d phases", len(o.Thresholds), n)
		}
	}
	o := judgedOf(t, []string{"errors<1%"}, shareOf(made(1000, map[int]int{200: 10}), made(1000, map[int]int{500: 1000})))
	if got := strings.Join(o.Reasons, "\n"); len(o.Reasons) != 4 || strings.Contains(got, "more: ") {
		t.Errorf("unlike reasons were joined: %s", got)
	}
}
