package selftest

import (
	"context"
	"flag"
	"runtime"
	"strings"
	"sync"
	"testing"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/suites/selftest/faults"
)

var prefix = flag.String("defect", "", "try only the defects whose requirement or id begins with this")

// TestDefectsAreKilled tries the defects whose requirement begins with -defect.
func TestDefectsAreKilled(t *testing.T) {
	if *prefix == "" {
		t.Skip("-defect names none")
	}
	rules, err := judge.NewRules()
	if err != nil {
		t.Fatal(err)
	}
	source := Embedded()
	work := make(chan faults.Defect)
	var wait sync.WaitGroup
	var mu sync.Mutex
	count := map[Fate]int{}
	sharp := 0
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for d := range work {
				kill, err := try(context.Background(), source, rules, 1, d)
				mu.Lock()
				if err != nil {
					t.Error(err)
				}
				count[kill.Fate]++
				if kill.Sharp() {
					sharp++
				} else {
					t.Logf("%s (%s on %s): %s, also %v", d.ID, d.Breaks.Requirement, d.Breaks.Operation, kill.Fate, kill.Also)
				}
				if kill.Fate != Killed {
					t.Errorf("%s (%s on %s): %s; its own outcome is %s %s", d.ID, d.Breaks.Requirement, d.Breaks.Operation, kill.Fate, kill.Outcome, kill.Detail)
				}
				mu.Unlock()
			}
		})
	}
	for _, d := range faults.Defects() {
		if strings.HasPrefix(d.Breaks.Requirement, *prefix) || strings.HasPrefix(d.ID, *prefix) {
			work <- d
		}
	}
	close(work)
	wait.Wait()
	t.Logf("%v, %d sharp", count, sharp)
}
