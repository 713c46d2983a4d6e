package selftest

import (
	"context"
	"flag"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
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
	options := Options{Source: Embedded(WholeLists), Short: Embedded(ShortLists), Seed: 1}
	work := make(chan faults.Defect)
	var wait sync.WaitGroup
	var mu sync.Mutex
	count := map[Fate]int{}
	sharp := 0
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for d := range work {
				kill, err := options.try(context.Background(), rules, d)
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

// A defect whose check could not be assessed is tried again.
func TestDefectIsTriedAgain(t *testing.T) {
	g := NewWithT(t)
	rules, err := judge.NewRules()
	g.Expect(err).NotTo(HaveOccurred())
	all := faults.Defects()
	d := all[slices.IndexFunc(all, func(d faults.Defect) bool { return d.Breaks.Requirement == string(spec.Rate429) })]
	for lacking, want := range map[int]Fate{attempts - 1: Killed, attempts: Survived} {
		embedded, tried := Embedded(ShortLists), 0
		source := func(ctx context.Context) (subject, error) {
			s, err := embedded(ctx)
			if tried++; err == nil && tried <= lacking {
				without := *s.profile
				without.RateLimit = nil
				s.profile = &without
			}
			return s, err
		}
		kill, err := Options{Source: source, Seed: 1}.try(t.Context(), rules, d)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(kill.Fate).To(Equal(want), "%d attempts lack the limit: %s", lacking, kill.Detail)
		g.Expect(kill.fate().Tries).To(Equal(attempts))
	}
}

// What short lists do not show is tried on whole ones, and nothing else is.
func TestDefectIsTriedOnShortListsFirst(t *testing.T) {
	g := NewWithT(t)
	rules, err := judge.NewRules()
	g.Expect(err).NotTo(HaveOccurred())
	all := faults.Defects()
	for id, wholeToo := range map[string]bool{
		spec.ListSubsequences + "/uses-urns-of-uuids-as-cursors":              false,
		spec.ListSubsequences + "/uses-positions-as-cursors-late-in-the-list": true,
	} {
		d := all[slices.IndexFunc(all, func(d faults.Defect) bool { return d.ID == id })]
		tried := 0
		o := Options{Seed: 1, Short: Embedded(ShortLists), Source: func(ctx context.Context) (subject, error) {
			tried++
			return Embedded(WholeLists)(ctx)
		}}
		kill, err := o.try(t.Context(), rules, d)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(kill.Fate).To(Equal(Killed), id)
		g.Expect(tried > 0).To(Equal(wholeToo), "%s: tried on whole lists", id)
	}
}
