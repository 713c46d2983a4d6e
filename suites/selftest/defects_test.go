package selftest

import (
	"context"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"outreach.example/conformance/internal/judge"
	"outreach.example/conformance/spec"
	"outreach.example/conformance/suites/selftest/faults"
)

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
