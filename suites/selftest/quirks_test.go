package selftest

import (
	"context"
	"errors"
	"flag"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/reports"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
	"outreach.example/conformance/suites/tree"
)

var (
	quirkPrefix = flag.String("quirk", "", "try only the quirks whose id begins with this; \"all\" tries all")
	together    = flag.Int("together", 1, "how many quirks a target has at the same time")
	groupSeed   = flag.Uint64("group-seed", 1, "draws the groups of quirks")
)

// TestQuirksAreTolerated tries the quirks whose id begins with -quirk.
func TestQuirksAreTolerated(t *testing.T) {
	quirks := slices.DeleteFunc(faults.Quirks(), func(q faults.Quirk) bool {
		return *quirkPrefix == "" || *quirkPrefix != "all" && !strings.HasPrefix(q.ID, *quirkPrefix)
	})
	var cases []legalCase
	for _, group := range faults.Groups(*groupSeed, quirks, *together) {
		cases = append(cases, caseOf(group...))
	}
	if len(cases) == 0 {
		t.Skip("-quirk names none")
	}
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	work := make(chan legalCase)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for l := range work {
				checkTolerated(t, rules, l)
			}
		})
	}
	for _, l := range cases {
		work <- l
	}
	close(work)
	wait.Wait()
}

// TestHonestTargetPasses_long: without any quirk, everything is assessed and passes.
func TestHonestTargetPasses_long(t *testing.T) {
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	for name, onWire := range map[string]bool{"in this process": false, "over a connection": true} {
		t.Run(name, func(t *testing.T) {
			l := honestCase
			l.OnWire = onWire
			checkTolerated(t, rules, l)
		})
	}
}

// A target that finds created tests late, and has other reasons for 404 or 401, serves
// them all the same. Only such a combination leaves no other sign of that.
func TestLateTestsAreServed(t *testing.T) {
	g := NewWithT(t)
	rules, err := judge.NewRules()
	g.Expect(err).NotTo(HaveOccurred())
	for operation, ids := range map[string][]string{
		spec.GetPlacementTest:    {"late/found-now-and-then", "precedence/existence-first"},
		spec.DeletePlacementTest: {"late/deletable", "errors/permission-401-html"},
	} {
		var quirks []faults.Quirk
		for _, id := range ids {
			quirks = append(quirks, quirkNamed(t, id))
		}
		pair := spec.Served.On(operation)
		result, err := examine(t.Context(), Embedded(ShortLists), rules, 1, tree.Judging(pair), faults.Combine(quirks...).Apply)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(result.checks[pair].Outcome).To(Equal(reports.Pass), "%s with %q: %+v", operation, ids, result.checks[pair])
	}
}

func quirkNamed(t *testing.T, id string) faults.Quirk {
	t.Helper()
	all := faults.Quirks()
	i := slices.IndexFunc(all, func(q faults.Quirk) bool { return q.ID == id })
	if i < 0 {
		t.Fatalf("there is no quirk %s", id)
	}
	return all[i]
}

func checkTolerated(t *testing.T, rules *judge.Rules, l legalCase) {
	got, err := l.try(context.Background(), Embedded(WholeLists), rules, 1, runner.Selection{})
	if err != nil {
		t.Error(err)
		return
	}
	for _, p := range got.failed {
		t.Errorf("%s: failed: %s", l.ID, got.why(p))
	}
	for _, p := range got.errored {
		t.Errorf("%s: error: %s", l.ID, pairName(p))
	}
	for _, trouble := range got.troubles {
		t.Errorf("%s: trouble: %s: %s", l.ID, trouble.Where, trouble.What)
	}
	for _, p := range got.unassessed {
		if !l.excuses(p) {
			t.Errorf("%s: not assessed: %s, for want of %s", l.ID, pairName(p), strings.Join(got.checks[p].Missing, "; "))
		}
	}
}

// The honest target has whole lists, and so has every fourth group of quirks. The others have
// short ones. A vendor's server is tried with the lists that it has.
func TestQuirksAreTriedOnListsOfBothLengths(t *testing.T) {
	source := func(name string) Source {
		return func(context.Context) (subject, error) { return subject{}, errors.New(name) }
	}
	for _, tc := range []struct {
		short Source
		want  []string
	}{
		{source("short"), []string{"whole", "short", "short", "short", "whole"}},
		{nil, []string{"whole", "whole", "whole", "whole"}},
	} {
		o := Options{Source: source("whole"), Short: tc.short}
		for i, want := range tc.want {
			if _, got := o.sourceOf(i)(t.Context()); got.Error() != want {
				t.Errorf("case %d has %v lists, want %s", i, got, want)
			}
		}
	}
}
