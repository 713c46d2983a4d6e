package sequence

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"outreach.example/conformance/fixtures/dataset"
	"outreach.example/conformance/fixtures/profile"
	"outreach.example/conformance/suites"
)

// scope returns what sequences may do on the reference server.
func scope(t *testing.T, change func(*profile.Profile)) Scope {
	t.Helper()
	data, err := dataset.New(dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	described := profile.FromDataset(data)
	if change != nil {
		change(described)
	}
	return Scope{Profile: described, Selects: func(string) bool { return true }}
}

// actionsOf returns the actions of the sequences with which an exploration begins.
func actionsOf(s Scope) map[string]bool {
	used := map[string]bool{}
	for _, steps := range append(s.Telling(), s.Spending()) {
		for _, step := range steps {
			used[step.Do] = true
		}
	}
	return used
}

// Every action occurs where the profile allows it, and only there.
func TestActionsThatTheProfileAllows(t *testing.T) {
	g := NewWithT(t)
	g.Expect(actionsOf(scope(t, nil))).To(HaveLen(len(onTests) + len(onListed) + len(spending)))

	own := scope(t, func(p *profile.Profile) { p.Writes = profile.WritesOwn })
	used := actionsOf(own)
	g.Expect(used).To(HaveKey(Create))
	for _, do := range slices.Concat(onListed, spending) {
		g.Expect(used).NotTo(HaveKey(do))
	}
	g.Expect(own.Generators()).To(HaveLen(1))

	none := scope(t, func(p *profile.Profile) { p.Writes = profile.WritesNone })
	g.Expect(none.Telling()).To(BeEmpty())
	g.Expect(none.Spending()).To(BeNil())
	g.Expect(none.Generators()).To(BeEmpty())

	without := func(change func(*profile.Workspace)) map[string]bool {
		return actionsOf(scope(t, func(p *profile.Profile) {
			w := p.Workspaces[dataset.Main]
			change(&w)
			p.Workspaces[dataset.Main] = w
		}))
	}
	g.Expect(without(func(w *profile.Workspace) { w.ExpendableSubsequences = nil })).NotTo(HaveKey(DeleteSubsequence))
	g.Expect(without(func(w *profile.Workspace) { w.Campaigns = nil })).NotTo(HaveKey(AddVariables))
	noLeads := without(func(w *profile.Workspace) { w.Leads = nil })
	g.Expect(noLeads).NotTo(Or(HaveKey(MoveLead), HaveKey(MoveToDeleted)))
	g.Expect(noLeads).To(HaveKey(DeleteSubsequence))
}

// The opening creates a test with each value that the document has for a field.
func TestEachValueIsCreated(t *testing.T) {
	g := NewWithT(t)
	values := map[string]int{}
	for _, steps := range scope(t, nil).EachValue() {
		g.Expect(Check(steps)).To(Succeed())
		values[steps[0].Create.Field]++
	}
	for _, field := range suites.KeptFields() {
		g.Expect(values[field]).To(Equal(suites.DocumentedValues(field)), field)
	}
	g.Expect(scope(t, func(p *profile.Profile) { p.Writes = profile.WritesNone }).EachValue()).To(BeEmpty())
	g.Expect(Check([]Step{{Do: Create, Create: suites.NewTestFields{Field: "colour"}}})).To(MatchError(ContainSubstring("steps[0].create.field")))
}

// What a walk deletes or creates may show the violation without the walk.
func TestWalksBecomeSingleChanges(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Simpler([]Step{{Do: Create}, {Do: Remove}})).To(ContainElement([]Step{{Do: Create}, {Do: Delete}}))
	g.Expect(Simpler([]Step{{Do: Create}, {Do: Insert}})).To(ContainElement([]Step{{Do: Create}, {Do: Create}}))
}

// Only the opening spends what nothing can make again, and only once starts a test.
func TestWhatHappensOnce(t *testing.T) {
	s := scope(t, nil)
	now := 0
	for _, steps := range s.Telling() {
		NewWithT(t).Expect(Spends(steps)).To(BeFalse())
		for _, step := range steps {
			if step.Create.RunNow {
				now++
			}
		}
	}
	NewWithT(t).Expect(now).To(Equal(1))
	NewWithT(t).Expect(Spends(s.Spending())).To(BeTrue())
	rapid.Check(t, func(t *rapid.T) {
		for _, generator := range s.Generators() {
			steps := generator.Draw(t, "steps")
			if Spends(steps) || slices.ContainsFunc(steps, func(s Step) bool { return s.Create.RunNow }) {
				t.Fatalf("a random sequence has effects beyond the run: %v", steps)
			}
		}
	})
}

// What is generated can be played, and becomes simpler until nothing is left to remove.
func TestSimplerSequencesEnd(t *testing.T) {
	s := scope(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.OneOf(s.Generators()...).Draw(t, "steps")
		const enough = 2000
		for range enough {
			if err := Check(steps); err != nil {
				t.Fatalf("%v: %v", steps, err)
			}
			simpler := Simpler(steps)
			if len(simpler) == 0 {
				return
			}
			steps = rapid.SampledFrom(simpler).Draw(t, "simpler")
		}
		t.Fatalf("never as simple as it gets: %v", steps)
	})
}
