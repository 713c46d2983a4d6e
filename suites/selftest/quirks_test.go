package selftest

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/suites/runner"
	"outreach.example/conformance/suites/selftest/faults"
)

var (
	quirkPrefix  = flag.String("quirk", "", "try only the quirks whose id begins with this; \"all\" tries all")
	combinations = flag.Int("combinations", 0, "try this many combinations of quirks")
	comboSeed    = flag.Uint64("combination-seed", 1, "draws the combinations")
)

// TestQuirksAreTolerated tries the quirks whose id begins with -quirk, and
// -combinations of all.
func TestQuirksAreTolerated(t *testing.T) {
	var cases []legalCase
	for _, q := range faults.Quirks() {
		if *quirkPrefix == "all" || *quirkPrefix != "" && strings.HasPrefix(q.ID, *quirkPrefix) {
			cases = append(cases, caseOf(q))
		}
	}
	rng := rand.New(rand.NewPCG(*comboSeed, 0))
	for range *combinations {
		cases = append(cases, combinationOf(rng, faults.Quirks()))
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

// TestHonestTargetPasses: without any quirk, everything is assessed and passes.
func TestHonestTargetPasses(t *testing.T) {
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	for name, onWire := range map[string]bool{"in this process": false, "over a connection": true} {
		t.Run(name, func(t *testing.T) { checkTolerated(t, rules, legalCase{id: honest, onWire: onWire}) })
	}
}

func checkTolerated(t *testing.T, rules *judge.Rules, l legalCase) {
	got, err := l.try(context.Background(), Embedded(), rules, 1, runner.Selection{})
	if err != nil {
		t.Error(err)
		return
	}
	for _, p := range got.failed {
		t.Errorf("%s: failed: %s", l.id, got.why(p))
	}
	for _, p := range got.errored {
		t.Errorf("%s: error: %s", l.id, pairName(p))
	}
	for _, trouble := range got.troubles {
		t.Errorf("%s: trouble: %s: %s", l.id, trouble.Where, trouble.What)
	}
	for _, p := range got.unassessed {
		if !l.excuses(p) {
			t.Errorf("%s: not assessed: %s, for want of %s", l.id, pairName(p), strings.Join(got.checks[p].Missing, "; "))
		}
	}
}
